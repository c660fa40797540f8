"""The web page of `coax serve --web`, in Debian's Chromium, while smbclient copies.

The page must show the machine with its rate and what it waits for, follow the copy, be readable in the dark and at 390 pixels, do
everything by keyboard, write nothing to the console, and ask no other host for anything. A recording is explained and read by tshark.
prometheus_client's parser of OpenMetrics reads the metrics, and the dashboard asks for metrics that exist.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from browser import chrome
from page import refusals
from page.server import running, smbclient

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "packaging" / "grafana" / "coax.json"
FILE_BYTES = 30_000_000
PICTURES = os.environ.get("COAX_PICTURES")


class Page:
    def __init__(self, driver, server):
        self.driver, self.server = driver, server

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def text(self, selector):
        return self.run("const it = document.querySelector(arguments[0]); return it && it.textContent", selector)

    def wait(self, script, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := self.run("return " + script):
                return found
            time.sleep(0.1)
        raise AssertionError(f"never: {script}; {self.run('return document.body.innerText')}")


def picture(page, name):
    if PICTURES:
        chrome.picture(page.driver, Path(PICTURES) / f"page-{name}.png")


INK = """(() => { const it = document.querySelector('.card canvas'), all = it.getContext('2d').getImageData(0, 0, it.width, it.height).data;
    const seen = new Set(); for (let at = 0; at < all.length; at += 4) seen.add(all[at] << 16 | all[at + 1] << 8 | all[at + 2]); return seen.size; })()"""


def shows_the_machine(page):
    page.wait("document.querySelector('.card')")
    page.wait("/sent [1-9][\\d.]* [kMG]B.s/.test(document.querySelector('.card .out').textContent)")
    card = page.text(".card")
    assert "127.0.0.1:" in card and "smbclient" in card and "NT LM 0.12" in card, card
    page.wait("document.querySelectorAll('.card table tbody tr').length > 0")
    assert page.run("return document.querySelectorAll('.card .stack span').length") > 0
    page.wait("/DATA.BIG.BIN in /.test(document.querySelector('.card').textContent)")
    page.wait("/BIG.BIN . read by client/.test(document.querySelector('#shares').textContent)")
    page.wait("/1 open file/.test(document.querySelector('.card').textContent)")
    assert page.wait(INK + " > 3"), "the graph is empty"
    assert "highest" in page.run("return document.querySelector('.card canvas').getAttribute('aria-label')")
    assert page.text("#state").startswith("live"), page.text("#state")


def follows_the_copy(page):
    first = page.run("return document.body.dataset.at")
    page.wait(f"document.body.dataset.at > {int(first) + 2000}")
    # the same element, so that focus and screen readers stay where they are
    page.run("document.querySelector('.card button').focus(); window.kept = document.activeElement")
    again = int(page.run("return document.body.dataset.at")) + 2000
    page.wait(f"document.body.dataset.at > {again}")
    assert page.run("return document.activeElement === window.kept && window.kept.isConnected")


def is_readable_in_the_dark_and_on_a_phone(page):
    paper = "return getComputedStyle(document.body).backgroundColor"
    chrome.scheme(page.driver, "light")
    assert page.run(paper) == "rgb(255, 255, 255)"
    picture(page, "light")
    chrome.scheme(page.driver, "dark")
    assert page.run(paper) == "rgb(13, 17, 23)"
    picture(page, "dark")
    page.run("document.querySelector('[data-theme-choice=light]').click()")
    assert page.run(paper) == "rgb(255, 255, 255)"
    page.run("document.querySelector('[data-theme-choice=auto]').click()")
    page.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    for width in (390, 360):
        chrome.size(page.driver, width, 844, phone=True)
        time.sleep(0.3)
        wide = page.run("return document.documentElement.scrollWidth")
        assert wide == width, f"{wide} pixels wide instead of {width}"
        outside = page.run("""return [...document.querySelectorAll('main *')].filter((it) => !it.closest('.scroll, .hidden') && it.checkVisibility()
            && it.getBoundingClientRect().right > innerWidth + 1).map((it) => it.outerHTML.slice(0, 80))""")
        assert not outside, outside
        picture(page, f"phone-{width}")
    chrome.scheme(page.driver, "light")
    chrome.size(page.driver, 1200, 900)


def controls_can_be_reached_by_keyboard(page):
    page.driver.get(page.server.url)
    page.wait("/1 open file/.test((document.querySelector('.card') || document.body).textContent) && document.querySelector('#day select')")
    order = []
    for _ in range(40):
        page.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
        page.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyUp", "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9})
        found = page.run("""const it = document.activeElement, box = it.getBoundingClientRect(), style = getComputedStyle(it);
            return [it.tagName, it.getAttribute('aria-label') || it.getAttribute('aria-labelledby') || it.textContent.trim().slice(0, 40),
            box.width > 0 && box.right > 0 && box.bottom > 0 && box.top < innerHeight, style.outlineStyle !== 'none']""")
        if found[0] == "BODY":
            break
        order.append(found)
    names = [name for _, name, _, _ in order]
    expected = ["Skip to the machines", "Auto", "Light", "Dark", "Record all clients for 60 s", f"Record {page.text('.card h3')} for 60 seconds", "1 open file",
                "shares-title", "day-share", "Table by hour", "names-title", "limits-title", "Parameters that differ from the default", "/metrics", "/snapshot"]
    places = [next((place for place, name in enumerate(names) if name == wanted or (wanted == "day-share" and order[place][0] == "SELECT")), None) for wanted in expected]
    assert None not in places and places == sorted(places), (names, places)
    assert all(seen and marked for _, _, seen, marked in order), order


def has_names_and_headings(page):
    levels = page.run("return [...document.querySelectorAll('h1, h2, h3')].filter((it) => it.checkVisibility()).map((it) => Number(it.tagName[1]))")
    assert levels[0] == 1 and levels.count(1) == 1 and all(after - before <= 1 for before, after in zip(levels, levels[1:])), levels
    unnamed = page.run("""return [...document.querySelectorAll('button, a, select, canvas, meter, summary')].filter((it) => it.checkVisibility()
        && !(it.getAttribute('aria-label') || it.textContent.trim() || (it.labels && it.labels.length))).map((it) => it.outerHTML.slice(0, 90))""")
    assert not unnamed, unnamed
    bare = page.run("return [...document.querySelectorAll('table')].filter((it) => it.rows.length && !it.querySelector('th[scope=col]')).length")
    assert bare == 0, "tables without headers"
    # announced are the connection and what the reader asked for, not each figure
    assert page.run("return document.querySelectorAll('[aria-live], [role=status], [role=alert]').length") == 2


def shows_the_configuration_without_secrets(page):
    page.run("document.querySelector('#configuration').open = true")
    page.wait("document.querySelectorAll('#settings tbody tr').length > 3")
    text = page.text("#settings")
    assert "coax:password" in text and "(set)" in text and "map to guest" in text, text
    assert "hush-hush" not in page.run("return document.documentElement.outerHTML")
    assert "hush-hush" not in page.server.get("/configuration") + page.server.get("/snapshot")


def records_and_explains(page, folder):
    script = """const done = arguments[arguments.length - 1]; fetch('/recording', { method: 'POST', body: JSON.stringify({ client: arguments[0], seconds: 4 }) })
        .then(async (it) => done([it.status, await it.text()]))"""
    number = int(page.run("return document.querySelector('.card').dataset.client"))
    status, text = page.driver.execute_async_script(script, number)
    assert status == 202, (status, text)
    page.wait("document.querySelector('#recording').textContent.includes('Records 127.0.0.1')")
    status, text = page.driver.execute_async_script(script, number)
    assert status == 409 and "under way" in text, (status, text)
    page.wait("[...document.querySelectorAll('#recording a')].some((it) => it.textContent === 'Explanation')", 60)
    assert page.text("#said") == "The recording is finished."
    picture(page, "recorded")
    link = page.run("return document.querySelector('#recording a').href")
    capture = folder / "recorded.pcapng"
    with socket.create_connection(("127.0.0.1", page.server.web_port)) as stream:
        stream.sendall(f"GET {link[link.index('/recording'):].replace('html', 'pcapng')} HTTP/1.0\r\nHost: {page.server.place}\r\n\r\n".encode())
        capture.write_bytes(b"".join(iter(lambda: stream.recv(1 << 16), b"")).split(b"\r\n\r\n", 1)[1])
    read_by_tshark(capture, page.server.port)
    ours = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.driver.get(link)
    page.wait("document.querySelector('#verdict')")
    verdict = page.text("#verdict")
    # on a busy machine the file is open before the recording begins, and has no name in it
    assert " to the client" in verdict or "BIG.BIN" in verdict, verdict
    picture(page, "explained")
    # the page of a capture cannot use the page's own address
    assert page.run("return window.origin") == "null"
    page.driver.close()
    page.driver.switch_to.window(ours)


def read_by_tshark(capture, port):
    read = ["tshark", "-r", capture, "-d", f"tcp.port=={port},nbss"]
    assert capture.stat().st_size > 100_000, capture.stat().st_size
    done = subprocess.run([*read, "-Y", "smb", "-T", "fields", "-e", "smb.cmd"], capture_output=True, text=True, timeout=120)
    commands = done.stdout.replace(",", "\n").split()
    assert commands.count("0x2e") > 10, done.stderr + str(set(commands))
    done = subprocess.run([*read, "-Y", "_ws.malformed"], capture_output=True, text=True, timeout=120)
    assert not done.stdout, done.stdout[:500]


def metrics_are_read_by_another_parser(server):
    assert server.ask("GET", "/metrics", Host="evil.example")[0] == 421
    text = server.get("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(text)}
    values = {name: sum(sample.value for sample in family.samples) for name, family in families.items()}
    assert values["coax_share_sent_bytes"] > FILE_BYTES, values
    assert values["coax_system_sent_bytes"] >= values["coax_share_sent_bytes"], values
    assert values["coax_requests"] >= values["coax_share_requests"] > 100, values
    commands = {sample.labels["command"]: sample.value for sample in families["coax_requests"].samples}
    assert commands["READ_ANDX"] > 100, commands
    waits = families["coax_wait_seconds"].samples
    assert waits and all(sample.labels.keys() == {"system", "cause"} for sample in waits)
    assert 0 < values["coax_wait_seconds"] < 600, values
    assert {sample.labels["system"] for sample in families["coax_clients"].samples} == {"Samba's smbclient or libsmbclient"}
    kinds = {name: family.type for name, family in families.items()}
    assert kinds["coax_requests"] == "counter" and kinds["coax_build"] == "info" and kinds["coax_clients"] == "gauge", kinds
    return families


def the_dashboard_asks_for_metrics_that_exist(families):
    expressions = re.findall(r'"expr": "((?:[^"\\]|\\.)*)"', DASHBOARD.read_text())
    assert len(expressions) > 8, expressions
    suffix = {"counter": "_total", "info": "_info"}
    names = {name + suffix.get(family.type, "") for name, family in families.items()}
    asked = {name for expression in expressions for name in re.findall(r"coax_\w+", expression)}
    assert asked <= names, asked - names
    labels = {sample_label for family in families.values() for sample in family.samples for sample_label in sample.labels}
    by = {label for expression in expressions for group in re.findall(r"by \(([\w, ]+)\)", expression) for label in group.split(", ")}
    assert by <= labels, by - labels


def counts_what_it_costs(server, page):
    """A figure for the report, with a wide bound: one reader costs little."""
    page.driver.get("about:blank")
    time.sleep(1)
    spans = []
    for reads in (False, True):
        if reads:
            page.driver.get(server.url)
        before = server.processor_s()
        time.sleep(4)
        spans.append((server.processor_s() - before) / 4)
    without, with_one = spans
    print(f"processor of the server without a reader {without * 100:.1f} %, with one {with_one * 100:.1f} %")
    assert with_one - without < 0.25, spans


def says_nothing_to_anybody(page):
    # the second recording was refused on purpose
    complaints = [text for text in chrome.complaints(page.driver) if "/recording - " not in text or "409" not in text]
    assert not complaints, complaints
    asked = [url for url in chrome.requests(page.driver) if not url.startswith((page.server.url, "about:"))]
    assert not asked, asked


def in_a_browser(folder):
    (folder / "data").mkdir()
    (folder / "data" / "BIG.BIN").write_bytes(os.urandom(1_000_000) * (FILE_BYTES // 1_000_000))
    driver = chrome.start("127.0.0.1", refusals.own_address())
    # so slow that a recording does not reach its limit
    with running(folder, "--fault", "READ_ANDX=delay 100ms") as server:
        copying = smbclient(server.port, "; ".join(["get BIG.BIN /dev/null"] * 2000))
        try:
            chrome.size(driver, 1200, 900)
            driver.get(server.url)
            page = Page(driver, server)
            for check in (shows_the_machine, follows_the_copy, is_readable_in_the_dark_and_on_a_phone, controls_can_be_reached_by_keyboard,
                          has_names_and_headings, shows_the_configuration_without_secrets):
                check(page)
                print(f"browser: {check.__name__.replace('_', ' ')}", flush=True)
            records_and_explains(page, folder)
            print("browser: records and explains", flush=True)
            the_dashboard_asks_for_metrics_that_exist(metrics_are_read_by_another_parser(server))
            print("metrics: read by prometheus_client, used by the dashboard", flush=True)
            says_nothing_to_anybody(page)
            refusals.a_browser_needs_the_token(driver, folder)
            driver.get(server.url)
            driver.get_log("browser")
            copying.kill()
            copying.wait()
            page.wait("!document.querySelector('.card') && !document.querySelector('#machines-none').hidden")
            counts_what_it_costs(server, page)
        finally:
            copying.kill()
            driver.quit()


def main():
    missing = [program for program in ("smbclient", "tshark") if not shutil.which(program)]
    assert not missing, missing
    for check in (in_a_browser, *refusals.CHECKS):
        with tempfile.TemporaryDirectory() as folder:
            check(Path(folder))
            print(check.__name__.replace("_", " "), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
