"""What the page refuses, and what must not disturb clients."""
import contextlib
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from page.server import running, smbclient
from peers import subject

TOKEN = "correct-horse-battery"


def a_browser_needs_the_token(driver, _folder):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "token"
        file.write_text(TOKEN + "\n")
        # at such an address browsers send no Sec-Fetch-Site
        with running(folder, address=f"{own_address()}:0", config=f"coax:web token file = {file}") as server:
            driver.get(server.url)
            fill = "const it = document.querySelector('#token'); it.value = arguments[0]; it.form.requestSubmit()"
            driver.execute_script(fill, "wrong-horse-battery")
            wait_for(driver, "document.querySelector('.wrong')")
            driver.execute_script(fill, TOKEN)
            wait_for(driver, "document.querySelector('#state') && document.querySelector('#state').textContent.startsWith('live')")
            assert TOKEN not in driver.execute_script("return document.cookie + location.href + document.documentElement.outerHTML")
            server.notice("wrong token")
    driver.get("about:blank")
    refused = [entry for entry in driver.get_log("browser") if "401" not in entry["message"] and entry["level"] == "SEVERE"]
    assert not refused, refused


def own_address():
    """An address of this machine that is not loopback, if it has one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, contextlib.suppress(OSError):
        asking.connect(("192.0.2.1", 9))  # sends nothing
        return asking.getsockname()[0]
    return "127.0.0.1"


def wait_for(driver, script):
    until = time.monotonic() + 20
    while not driver.execute_script("return " + script):
        assert time.monotonic() < until, (script, driver.execute_script("return document.body.innerText"))
        time.sleep(0.1)


def started(folder, *options, prefix=()):
    """A start that must fail: its exit code and its words."""
    command = [*prefix, subject.coax_binary(), "serve", folder, "--direct", "127.0.0.1:0", *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30)
    return done.returncode, done.stderr


def an_address_that_cannot_be_used_is_an_error_at_start(folder):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        for check in ((), ("--check",)):
            code, words = started(folder, "--web", f"127.0.0.1:{port}", *check)
            assert code == 1 and f"127.0.0.1:{port}" in words and "holds this port" in words, (code, words)
    code, words = started(folder, "--web", "192.0.2.1:8139")
    assert code == 1 and "no such address" in words, (code, words)
    code, words = started(folder, "--web", "here")
    assert code == 2 and "ADDR:PORT" in words, (code, words)
    code, words = started(folder, "--web", "0", "--option", f"coax:web token file = {folder}/none")
    assert code == 1 and "token file" in words and "write a token" in words, (code, words)
    if os.geteuid() == 0:
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all")
        limit = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
        if limit > 81:
            os.chmod(folder, 0o755)
            code, words = started(folder, "--web", "127.0.0.1:81", prefix=nobody)
            assert code == 1 and "permission" in words, (code, words)


def other_addresses_than_loopback_need_a_token(folder):
    with running(folder, address="0.0.0.0:0") as server:
        assert server.token and len(server.token) == 32, server.token
        assert server.ask("GET", "/snapshot")[0] == 401
        status, _, text = server.ask("GET", "/snapshot", Authorization=f"Bearer {server.token}")
        assert status == 200 and "clients" in text
        status, _, _ = server.ask("GET", "/snapshot", Authorization=f"Bearer {server.token[:-1]}0", Host="127.0.0.1")
        assert status == 401 or server.token.endswith("0")


def other_sites_are_refused(folder):
    with running(folder) as server:
        assert server.ask("GET", "/snapshot", Host="evil.example")[0] == 421
        assert server.ask("POST", "/recording", "{}", Origin="http://evil.example")[0] == 403
        assert server.ask("POST", "/recording", "{}")[0] == 403
        status, _, text = server.ask("POST", "/recording", '{"seconds": 1}', Origin=f"http://{server.place}")
        assert status == 202, text


def idle_and_slow_readers_delay_no_client(folder):
    """As many connections as there may be, of readers that never read, and a copy through it all."""
    (folder / "data").mkdir()
    (folder / "data" / "BIG.BIN").write_bytes(os.urandom(20_000_000))
    with running(folder) as server, contextlib.ExitStack() as open_:
        def copied():
            began = time.monotonic()
            assert smbclient(server.port, "get BIG.BIN /dev/null").wait(60) == 0
            return time.monotonic() - began
        alone = min(copied() for _ in range(3))
        request = f"GET /events HTTP/1.1\r\nHost: {server.place}\r\n\r\n".encode()
        for number in range(80):
            stream = open_.enter_context(socket.create_connection(("127.0.0.1", server.web_port)))
            with contextlib.suppress(OSError):
                stream.sendall(request if number < 40 else b"GET / HT")
        beside = min(copied() for _ in range(3))
        print(f"20 MB alone {alone:.2f} s, beside 80 connections of the page {beside:.2f} s")
        assert beside < alone * 3 + 1, (alone, beside)


def a_new_process_takes_the_page_over(folder):
    control = folder / "takeover"
    option = f"coax:takeover socket = {control}"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running(folder, "--option", option, address=f"127.0.0.1:{port}") as old:
        first = old.now()["server"]["seconds"]
        time.sleep(2)
        with running(folder, "--option", option, "--takeover", address=f"127.0.0.1:{port}") as new:
            assert new.web_port == port and new.now()["server"]["seconds"] <= first + 1
            assert old.process.wait(30) == 0


CHECKS = (an_address_that_cannot_be_used_is_an_error_at_start, other_addresses_than_loopback_need_a_token, other_sites_are_refused,
          idle_and_slow_readers_delay_no_client, a_new_process_takes_the_page_over)
