"""The web page: the same results as the program, in node and in Chromium from a file, and nothing leaves the page."""
import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import chrome
from peers import subject
from web import equal

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "target" / "packages" / "web" / "index.html"
ENGINE = ROOT / "target" / "packages" / "web-engine"
LIMIT_S = 60


class Page:
    def __init__(self, driver, fragment="", address=None):
        self.driver = driver
        driver.get("about:blank")
        driver.get((address or PAGE.as_uri()) + fragment)
        self.until("return document.body.dataset.ready === 'yes'")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def until(self, script, *arguments):
        end = time.monotonic() + LIMIT_S
        while not self.run(script, *arguments):
            assert time.monotonic() < end, f"never: {script}"
            time.sleep(0.05)

    def text(self, name):
        return self.run("return document.getElementById(arguments[0]).textContent", name)

    def choose_files(self, *paths):
        self.driver.find_element("id", "files").send_keys("\n".join(map(str, paths)))
        self.until("return document.getElementById('working').hidden && (!document.getElementById('result').hidden || document.getElementById('problems').textContent !== '')")

    def open_lab(self):
        self.driver.find_element("id", "tab-lab").click()
        self.settled()

    def settled(self):
        """Waits until the newest run is shown."""
        self.until("return document.getElementById('time').textContent !== '…' && document.querySelector('#picture svg') !== null")

    def slide(self, key, step):
        self.run("""const it = document.getElementById('slider-' + arguments[0]);
            document.querySelector('#picture').replaceChildren();
            it.value = arguments[1]; it.dispatchEvent(new Event('change'))""", key, step)
        self.settled()


def captured(folder):
    """A capture of a slow copy, by the lab."""
    path = folder / "slow.pcapng"
    words = ["lab", "run", "dos-386sx", "--set", "size=300000", "--pcap", path]
    subprocess.run([subject.coax_binary(), *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=120)
    return path


def a_capture_is_explained_as_by_the_program(driver, folder):
    page, path = Page(driver), captured(folder)
    page.choose_files(path)
    html = folder / "page.html"
    subprocess.run([subject.coax_binary(), "explain", "--html", html, path.name], cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=120)
    assert page.run("return document.getElementById('report').srcdoc") == html.read_text()
    driver.switch_to.frame("report")
    verdict = driver.execute_script("return document.querySelector('#verdict, h1').textContent")
    driver.switch_to.default_content()
    assert verdict, "the report is empty"


# asks the page's own engine, as the page does, without showing the result
ASK = """const [requests, done] = arguments;
    (async () => {
      const engine = new Engine(await compiled(), $('engine-script').textContent);
      const answers = [];
      for (const [kind, data] of requests) {
        const files = kind === 'explain' ? [$('files').files[data]] : [];
        const asked = kind === 'explain' ? { files } : { request: data };
        await engine.ask(kind, asked).then((value) => answers.push({ value }), (error) => answers.push({ error: error.message, defect: true }));
      }
      done(answers.map(({ value, ...rest }) => (value?.problems?.length && !value.page ? { error: value.problems[0], defect: false } : { value, ...rest })));
    })();"""


def results_in_chromium_are_those_of_the_program(driver, folder):
    page, paths = Page(driver), equal.captures(folder)
    page.choose_files(*paths)
    driver.set_script_timeout(300)
    told = driver.execute_async_script(ASK, [["explain", at] for at in range(len(paths))])
    told = [{**it, "error": it["error"].partition(": ")[2]} if "error" in it else it for it in told]
    faults = [*equal.captures_are_equal(paths, told),
              *equal.scenarios_are_equal(driver.execute_async_script(ASK, [["run", request] for request in equal.requests()])),
              *equal.messages_are_equal(driver.execute_async_script(ASK, [["decode", {"digits": it.hex()}] for it in equal.messages()]))]
    assert not faults, "\n".join(faults)


def broken_files_are_named_and_cost_the_others_nothing(driver, folder):
    page, good = Page(driver), captured(folder)
    (folder / "empty.pcap").write_bytes(b"")
    (folder / "text<b>.pcap").write_text("no capture at all\n" * 20)
    (folder / "cut.pcapng").write_bytes(good.read_bytes()[:1000])
    page.choose_files(folder / "empty.pcap", folder / "text<b>.pcap", good)
    problems = page.text("problems")
    assert "empty.pcap: " in problems and "text<b>.pcap: " in problems, problems
    assert not page.run("return document.getElementById('result').hidden")
    assert page.run("return document.querySelectorAll('#problems b').length") == 0
    page.choose_files(folder / "cut.pcapng")


def a_slider_changes_the_time_and_a_run_can_be_kept(driver, _folder):
    page = Page(driver)
    page.open_lab()
    slow = page.text("time")
    assert slow.startswith("43 min"), slow
    page.driver.find_element("id", "pin").click()
    # the window of the server: from 65,535 bytes down to the smallest
    page.slide("server.stack.receive_window", 0)
    fast = page.text("time")
    assert fast.endswith(" s") and "min" not in fast, fast
    assert "1,460" in page.text("value-server.stack.receive_window")
    assert page.run("return document.querySelectorAll('#pinned tbody tr').length") == 1
    page.driver.find_element("id", "reset").click()
    page.until("return document.getElementById('time').textContent.startsWith('43 min')")


def the_address_keeps_the_state(driver, _folder):
    page = Page(driver)
    page.open_lab()
    page.slide("server.stack.receive_window", 0)
    address, told = driver.current_url, page.text("time")
    page = Page(driver, address.partition("#")[2] and "#" + address.partition("#")[2])
    page.settled()
    assert page.text("time") == told
    page = Page(driver, "#lab=%7Brubbish")
    page.until("return document.getElementById('time').textContent !== '…'")


def a_cell_of_the_tour_shows_its_published_figure(driver, _folder):
    page = Page(driver)
    page.open_lab()
    page.run("document.querySelector('#picture').replaceChildren(); document.querySelector('#tables button').click()")
    page.settled()
    assert "published: " in page.text("published"), page.text("published")


def a_message_is_shown_field_by_field(driver, _folder):
    page = Page(driver)
    driver.find_element("id", "tab-decode").click()
    page.until("return document.getElementById('kind').options.length === 9")
    driver.find_element("id", "example").click()
    page.until("return !document.getElementById('decoded').hidden")
    assert "NEGOTIATE" in page.text("decoded-title"), page.text("decoded-title")
    assert "nothing invalid" in page.text("decoded-title"), page.text("decoded-title")
    # the byte of the command belongs to the field Command, and choosing the field marks that byte
    page.run("document.querySelector('#decoded-bytes b[data-at=\"8\"]').click()")
    assert page.run("return document.querySelector('#decoded-fields .chosen button').textContent") == "Command"
    assert page.run("return [...document.querySelectorAll('#decoded-bytes .chosen')].map((it) => it.dataset.at).join()") == "8"
    # the address keeps the message
    fragment = "#" + driver.current_url.partition("#")[2]
    title = page.text("decoded-title")
    page = Page(driver, fragment)
    page.until("return document.getElementById('decoded-title').textContent === arguments[0]", title)
    # what is no message is named; markup in a message stays text
    driver.find_element("id", "digits").send_keys("zz")
    page.until("return document.getElementById('decode-error').textContent.includes(\"'z' is no digit\")")
    assert page.run("return document.getElementById('decoded').hidden")
    packed = b"\xffSMB\x72".hex() + "00" * 27 + "00" + "0600" + b"\x02<b>\0".hex() + "00"
    page.run("const it = document.getElementById('digits'); it.value = arguments[0]; it.dispatchEvent(new Event('input'))", packed)
    page.until("return document.getElementById('decoded-fields').textContent.includes('<b>')")
    assert page.run("return document.querySelectorAll('#decoded-fields b').length") == 0


def impossible_values_are_named(driver, _folder):
    state = json.dumps({"scenario": "wfw-486", "changes": [["client.stack.mss", "-1"]]})
    page = Page(driver, "#lab=" + state.replace('"', "%22").replace("[", "%5B").replace("]", "%5D"))
    page.until("return document.getElementById('error').textContent.includes('client.stack.mss')")


def keys_suffice_and_everything_has_a_name(driver, _folder):
    page = Page(driver)
    page.open_lab()
    unnamed = page.run("""return [...document.querySelectorAll('button, input, select, textarea, progress, iframe, summary')].filter((it) =>
        !(it.labels?.length || it.textContent.trim() || it.title || it.getAttribute('aria-label'))).map((it) => it.outerHTML)""")
    assert not unnamed, unnamed
    page.run("""document.getElementById('tab-lab').focus();
        document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', bubbles: true }))""")
    assert page.run("return document.activeElement.id") == "tab-explain"
    assert page.run("return document.getElementById('lab').hidden")


def fits_a_phone_in_both_colours(driver, _folder):
    chrome.size(driver, 360, 740, phone=True)
    page = Page(driver)
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")):
        chrome.scheme(driver, scheme)
        for part in ("tab-explain", "tab-lab", "tab-decode"):
            page.driver.find_element("id", part).click()
            wide = page.run("return document.documentElement.scrollWidth")
            assert wide == 360, f"{part}: {wide} pixels wide"
        assert page.run("return getComputedStyle(document.body).backgroundColor") == paper
    chrome.scheme(driver, "light")
    chrome.size(driver, 1200, 900)


@contextlib.contextmanager
def hosted(*words):
    """coax web; its address."""
    process = subprocess.Popen([subject.coax_binary(), "web", *words], stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address), address
        yield address
    finally:
        process.kill()
        process.wait()


def coax_web_serves_the_page(driver, folder):
    with hosted("--folder", PAGE.parent) as address:
        page = Page(driver, "", address)
        page.choose_files(captured(folder))
        assert page.run("return document.getElementById('report').srcdoc").startswith("<!DOCTYPE html>")
        page.open_lab()
        told = [it for it in chrome.requests(driver) if not it.startswith(("about:", "blob:", "data:"))]
        assert {it.partition("#")[0] for it in told} == {address}, told
        page.run("fetch(location.href).then(() => { document.title = 'sent' }, () => { document.title = 'refused' })")
        page.until("return document.title === 'refused'")
        complaints = chrome.complaints(driver)
        assert complaints and all("Content Security Policy" in it for it in map(str, complaints)), complaints
        chrome.requests(driver)


def coax_web_refuses_other_names_and_other_files(_driver, folder):
    with hosted("--folder", PAGE.parent) as address:
        ask = lambda *words: subprocess.run(["curl", "-s", "-o", folder / "got", "-w", "%{http_code}", *words], capture_output=True, text=True, timeout=30).stdout
        assert ask(address) == "200" and (folder / "got").read_bytes() == PAGE.read_bytes()
        assert ask(address.replace("127.0.0.1", "localhost")) == "200"
        assert ask("-I", address) == "200" and ask("-d", "x=1", address) == "405"
        assert ask("--path-as-is", address + "../../../etc/passwd") == "404"
        assert ask("-H", "Host: attacker.example", address) == "421"
        assert "frame-ancestors 'none'" in subprocess.run(["curl", "-sI", address], capture_output=True, text=True, timeout=30).stdout
        port = address.rpartition(":")[2].strip("/")
        taken = subprocess.run([subject.coax_binary(), "web", "--folder", PAGE.parent, "--port", port], capture_output=True, text=True, timeout=30)
        assert taken.returncode == 1 and f"cannot listen at 127.0.0.1:{port}: " in taken.stderr, taken
    missing = subprocess.run([subject.coax_binary(), "web", "--folder", folder], capture_output=True, text=True, timeout=30)
    assert missing.returncode == 1 and f"there is no {folder}/index.html" in missing.stderr and "scripts/package web" in missing.stderr, missing
    (folder / "index.html").write_text("<title>other</title>")
    other = subprocess.run([subject.coax_binary(), "web", "--folder", folder], capture_output=True, text=True, timeout=30)
    assert other.returncode == 1 and "is not the web page of coax" in other.stderr, other


CHECKS = [coax_web_serves_the_page, coax_web_refuses_other_names_and_other_files, results_in_chromium_are_those_of_the_program, a_capture_is_explained_as_by_the_program, broken_files_are_named_and_cost_the_others_nothing, a_slider_changes_the_time_and_a_run_can_be_kept,
          the_address_keeps_the_state, a_cell_of_the_tour_shows_its_published_figure, a_message_is_shown_field_by_field, impossible_values_are_named,
          keys_suffice_and_everything_has_a_name, fits_a_phone_in_both_colours]


def in_chromium():
    driver = chrome.start("127.0.0.1")
    try:
        chrome.size(driver, 1200, 900)
        for check in CHECKS:
            with tempfile.TemporaryDirectory() as folder:
                check(driver, Path(folder))
            complaints = chrome.complaints(driver)
            assert not complaints, complaints
            asked = {address.partition("#")[0] for address in chrome.requests(driver)}
            foreign = [address for address in asked if not address.startswith(("about:", "blob:")) and address != PAGE.as_uri()]
            assert not foreign, foreign
            print(check.__name__.replace("_", " "), flush=True)
    finally:
        driver.quit()


def main():
    if not PAGE.exists():
        print("SKIPPED: the page could not be built here (scripts/package web says why)")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        paths = equal.captures(Path(folder))
        faults = list(equal.node_is_equal(ENGINE, paths))
    print("\n".join(faults) or f"{len(paths)} captures, {len(equal.requests())} scenarios and {len(list(equal.messages()))} messages: node gives what coax gives")
    in_chromium()
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
