"""Opens pages that `coax explain --html` wrote in Debian's Chromium and looks at what stands there.

Captures: labelled ones, some from the wild, one of the lab with losses, one whose names are hostile; and the page of a tour. Each
page must say its verdict, show every cause with a sum that is the wall clock, react to zooming and choosing, be readable at 360 pixels and in
the dark, write nothing to the console and ask the network for nothing.
"""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from browser import chrome, gestures, hostile, tour
from peers import subject

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "tests" / "captures"
LABELLED = [f"labelled/{name}-{end}.pcapng.gz" for name, end in
            [("andx4k", "client"), ("base", "server"), ("nagle_lan", "client"), ("raw60k", "server"), ("rwnd", "client"), ("shallow", "server")]]
WILD = ["tcp/tcptrace-hardware-dups.pcap.gz", "arkime-smbclient.pcap", "suricata-xp-filecontainer.pcap", "zeek-cifs_negotiate_lanman.pcap"]
LAB = ["lab", "copy", "--client", "windows-2000", "--link", "ethernet-10", "--size", "2MB", "--set", "link.loss_to_server={ rule = { kind = \"periodic\", every = 150 } }"]


def write(folder, name, captures):
    page = folder / f"{name}.html"
    subprocess.run([subject.coax_binary(), "explain", "--html", page, *captures], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=120)
    done = subprocess.run([subject.coax_binary(), "explain", "--json", *captures], cwd=ROOT, check=True, capture_output=True, timeout=120)
    return page, json.loads(done.stdout)


class Page:
    def __init__(self, driver, path, report):
        self.driver, self.path, self.report = driver, path, report
        driver.get_log("browser")
        chrome.requests(driver)
        driver.get(path.as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def choose(self, select, value):
        self.run("const it = document.getElementById(arguments[0]); it.value = arguments[1]; it.dispatchEvent(new Event('change'))", select, value)

    def maybe(self, selector):
        """The text of what may not be there."""
        return self.run("const it = document.querySelector(arguments[0]); return it && it.textContent", selector)

    def wait(self, script, *arguments):
        """Until it is so, for two seconds at most."""
        for _ in range(40):
            if self.run(script, *arguments):
                return
            time.sleep(0.05)
        raise AssertionError(f"never: {script} {arguments}")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)


def longest(capture):
    copies = capture["copies"]
    return max(range(len(copies)), key=lambda place: (copies[place]["wall_s"], -place), default=None)


def same(text):
    """Text as the page shows it."""
    return "".join("?" if hostile.is_unseen(c) else c for c in text)


def shows_the_verdict(page, capture, copy):
    tree = capture["tree"]
    belongs_to_tree = tree and tree["connection"] == copy["connection"]
    stands_first = not belongs_to_tree and copy.get("headline") or copy["verdict"]
    assert page.text("#verdict") == same(stands_first), page.text("#verdict")
    assert page.maybe("#remedy") == (copy["remedy"] and same(copy["remedy"])), page.maybe("#remedy")
    rows = page.run("return [...document.querySelectorAll('.cause-row')].map((it) => it.dataset.cause)")
    assert rows == [row["cause"] for row in copy["causes"]], rows
    if rows:
        total = float(page.run("return document.getElementById('cause-sum').dataset.seconds"))
        assert abs(total - copy["wall_s"]) < 1e-8, (total, copy["wall_s"])
        wall = copy["wall_s"]
        assert page.text("#cause-sum") == (f"{wall * 1e3:.3f} ms" if wall < 1 else f"{wall:.3f} s")
    ladders = page.run("return document.querySelectorAll('#stalls details').length")
    assert ladders == len(copy["stalls"]), ladders


def shows_the_notes_beside_the_copy(page, capture, copy):
    tree = capture["tree"]
    assert page.maybe("#tree") == (tree and same(tree["verdict"])), page.maybe("#tree")
    around = capture["connections"][copy["connection"]]["around"]
    assert page.maybe("#between p") == (around and around["words"] and same(around["words"]) + "."), page.maybe("#between p")
    if around and around["words"]:
        rows = page.run("return [...document.querySelectorAll('#between tbody th')].map((it) => it.textContent)")
        assert rows == [row["command"] for row in around["requests"]], rows


def a_tree_comes_first(page):
    (place,) = [place for place, capture in enumerate(page.report["captures"]) if capture["tree"]]
    page.choose("choose-capture", place)
    assert page.text("h1") == same(page.report["captures"][place]["tree"]["verdict"]), page.text("h1")
    assert "files" in page.text("#tree-facts"), page.text("#tree-facts")
    words = page.text("#tree-facts ~ .legend")
    assert "metadata" in words and "no request outstanding 74 %" in words, words
    # what is amiss beside the copies took nothing of a copy's time
    assert "Against" not in page.text("#remarks"), page.text("#remarks")


def transfers_are_named_by_their_ends(page):
    (place,) = [place for place, capture in enumerate(page.report["captures"]) if capture["file"].endswith("hardware-dups.pcap.gz")]
    page.choose("choose-capture", place)
    connection = page.report["captures"][place]["connections"][0]
    assert page.text("#facts .badge") == f"{connection['client']} → {connection['server']}", page.text("#facts .badge")


def every_capture(page):
    for place, capture in enumerate(page.report["captures"]):
        if len(page.report["captures"]) > 1:
            page.choose("choose-capture", place)
        chosen = longest(capture)
        if chosen is None:
            assert page.text("#verdict") == same(capture["verdict"])
            assert capture["operations"] or page.text("#verdict").startswith("No copy")
        else:
            shows_the_verdict(page, capture, capture["copies"][chosen])
            shows_the_notes_beside_the_copy(page, capture, capture["copies"][chosen])


def copies_can_be_chosen(page):
    for place, capture in enumerate(page.report["captures"]):
        if len(capture["copies"]) < 2:
            continue
        page.choose("choose-capture", place)
        rows = page.run("return [...document.querySelectorAll('#copy-table [data-copy]')].map((it) => Number(it.dataset.copy))")
        for copy in rows[:4]:
            page.run("document.querySelector(`[data-copy=\"${arguments[0]}\"] button`).click()", copy)
            shows_the_verdict(page, capture, capture["copies"][copy])
        page.run("document.querySelector('#copy-table th button').click()")
        names = page.run("return [...document.querySelectorAll('#copy-table [data-copy] .name')].map((it) => it.textContent.toLowerCase())")
        assert names == sorted(names), names
        return
    raise AssertionError("no capture with several copies")


def zooming_changes_the_axis(page):
    page.run("document.querySelector('.graph canvas').scrollIntoView({ block: 'center' })")
    whole = gestures.axis(page)
    page.run("document.querySelector('[aria-label=\"Zoom in\"]').click()")
    near = gestures.axis(page)
    assert near[1] - near[0] < (whole[1] - whole[0]) * 0.6, (whole, near)
    page.run("document.querySelector('[aria-label=Later]').click()")
    assert gestures.axis(page)[0] > near[0]
    page.run("document.querySelector('[aria-label=\"Show all\"]').click()")
    assert gestures.axis(page) == whole
    wheel = """const it = document.querySelector('.graph canvas'), box = it.getBoundingClientRect();
        it.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: box.left + box.width / 2, clientY: box.top + 50, cancelable: true }))"""
    page.run(wheel)
    assert gestures.axis(page)[1] - gestures.axis(page)[0] < whole[1] - whole[0]
    move = """const it = document.querySelector('.graph canvas'), box = it.getBoundingClientRect();
        it.dispatchEvent(new PointerEvent('pointermove', { pointerId: 1, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }))"""
    page.run(move)
    assert page.text(".readout").startswith("Frame "), page.text(".readout")


LANES = "const it = document.querySelector('canvas.lanes')"


def lanes_follow_the_graph(page):
    """The lanes are drawn, zoom with the graph and mark the same packet."""
    drawn = LANES + """, pen = it.getContext('2d'), all = pen.getImageData(0, 0, it.width, it.height).data, colours = new Set();
        for (let at = 0; at < all.length; at += 4) colours.add(all[at] << 16 | all[at + 1] << 8 | all[at + 2]);
        return [it.width * it.height, colours.size, it.toDataURL()]"""
    page.run("document.querySelector('canvas.lanes').scrollIntoView({ block: 'center' })")
    size, colours, whole = page.run(drawn)
    assert size > 10_000 and colours > 4, (size, colours)
    axis = gestures.axis(page)
    page.run(LANES + """, box = it.getBoundingClientRect();
        it.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, clientX: box.left + box.width / 2, clientY: box.top + 50, cancelable: true }))""")
    near = gestures.axis(page)
    assert near[1] - near[0] < axis[1] - axis[0], (axis, near)
    assert page.run(LANES + "; return it.toDataURL()") != whole
    page.run(LANES + """, box = it.getBoundingClientRect();
        it.dispatchEvent(new PointerEvent('pointermove', { pointerId: 1, clientX: box.left + box.width / 2, clientY: box.top + 30 }))""")
    assert page.text(".readout").startswith("Frame "), page.text(".readout")
    page.run("document.querySelector('[aria-label=\"Show all\"]').click()")


def frames_are_display_filters(page):
    filters = page.run("return [...document.querySelectorAll('[data-filter]')].map((it) => [it.textContent, it.dataset.filter])")
    assert len(filters) > 3, filters
    for text, display in filters:
        numbers = text.replace(",", "").replace(" to ", " ").split()
        assert display.startswith("frame.number "), display
        assert all(number in display for number in numbers), (text, display)


def several_captures_have_an_overview(page):
    page.choose("choose-capture", 0)
    rows = page.run("return [...document.querySelectorAll('#capture-table tbody tr')].map((it) => it.textContent)")
    assert len(rows) == len(page.report["captures"]), rows
    for row, capture in zip(rows, page.report["captures"]):
        assert capture["file"] in row, (capture["file"], row)
    page.run("document.querySelectorAll('#capture-table tbody button')[1].click()")
    assert page.run("return document.getElementById('choose-capture').value") == "1"


def files_of_a_tree_follow_each_other(page):
    place = next(place for place, capture in enumerate(page.report["captures"]) if capture["tree"])
    page.choose("choose-capture", place)
    capture = page.report["captures"][place]
    copies = [copy for copy in capture["copies"] if copy["connection"] == capture["tree"]["connection"]]
    rows = page.run("return [...document.querySelectorAll('#files li button')].map((it) => it.textContent)")
    assert len(rows) == min(40, len(copies)), (len(rows), len(copies))
    before = page.text("#verdict")
    page.run("document.querySelectorAll('#files li button')[0].click()")
    assert page.text("#verdict") != before or len(copies) == 1


def advice_is_on_the_first_screen_of_a_phone(page):
    chrome.size(page.driver, 390, 844, phone=True)
    page.driver.get(page.path.as_uri())
    for place, capture in enumerate(page.report["captures"]):
        page.choose("choose-capture", place)
        chosen = longest(capture)
        if chosen is None or capture["tree"] or not capture["copies"][chosen]["remedy"]:
            continue
        page.run("window.scrollTo(0, 0)")
        top = page.run("return document.getElementById('remedy').getBoundingClientRect().top")
        assert top < 700, f"{capture['file']}: what to change begins {top} pixels down"
    chrome.size(page.driver, 1200, 900)


def slow_operations_are_shown(page):
    for place, capture in enumerate(page.report["captures"]):
        page.choose("choose-capture", place)
        shown = page.run("return [...document.querySelectorAll('.operation')].map((it) => [it.dataset.kind, it.dataset.reason])")
        expected = sorted(capture["operations"], key=lambda it: -it["wall_s"])[:20]
        assert shown == [[it["kind"], it["reason"]] for it in expected], (capture["file"], shown)
        for one in expected:
            for advice in one["advice"]:
                assert same(advice["title"]) in same(page.text("#operations")), advice["title"]


def colours_follow(page):
    paper = "return getComputedStyle(document.body).backgroundColor"
    chrome.scheme(page.driver, "light")
    assert page.run(paper) == "rgb(255, 255, 255)"
    chrome.scheme(page.driver, "dark")
    assert page.run(paper) == "rgb(13, 17, 23)"
    page.run("document.querySelector('[data-theme-choice=light]').click()")
    assert page.run(paper) == "rgb(255, 255, 255)"
    page.run("document.querySelector('[data-theme-choice=auto]').click()")
    chrome.scheme(page.driver, "light")


def fits_a_phone(page):
    chrome.size(page.driver, 360, 740, phone=True)
    page.driver.get(page.path.as_uri())
    for place in range(len(page.report["captures"])):
        if len(page.report["captures"]) > 1:
            page.choose("choose-capture", place)
        page.run("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
        wide = page.run("return document.documentElement.scrollWidth")
        assert wide == 360, f"{wide} pixels wide"
        gestures.tables_can_be_moved_on_a_phone(page)
    chrome.size(page.driver, 1200, 900)


def says_nothing_to_anybody(page):
    complaints = chrome.complaints(page.driver)
    assert not complaints, complaints
    asked = set(chrome.requests(page.driver))
    assert asked == {page.path.as_uri()}, asked


def hostile_names_stay_names(page):
    assert page.run("return window.stolen") is None
    assert page.run("return document.querySelectorAll('main img, main script, main iframe').length") == 0
    names = " ".join(copy["name"] or "" for copy in page.report["captures"][0]["copies"])
    assert "<script>" in names, names
    assert "<script>" in page.text("#verdict")


CHECKS = {
    "labelled": [every_capture, zooming_changes_the_axis, lanes_follow_the_graph, frames_are_display_filters, several_captures_have_an_overview,
                 advice_is_on_the_first_screen_of_a_phone, colours_follow, fits_a_phone],
    "wild": [every_capture, a_tree_comes_first, files_of_a_tree_follow_each_other, transfers_are_named_by_their_ends, copies_can_be_chosen, fits_a_phone],
    "slow": [every_capture, slow_operations_are_shown, fits_a_phone],
    "lab": [every_capture, zooming_changes_the_axis, gestures.keys_do_all_that_a_pointer_does, gestures.controls_have_accessible_names, gestures.phone, fits_a_phone],
    "hostile": [every_capture, hostile_names_stay_names, fits_a_phone],
    "tour": [tour.every_part_is_there, tour.verdicts_are_the_labs, every_capture, zooming_changes_the_axis, fits_a_phone],
}


def pages(folder):
    lab = folder / "lab.pcapng"
    subprocess.run([subject.coax_binary(), *LAB, "--pcap", lab], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=120)
    odd = folder / "a'\"<script>window.stolen=1<script>&.pcap"
    hostile.write(odd)
    return {"labelled": [CAPTURES / it for it in LABELLED], "wild": [CAPTURES / it for it in WILD], "lab": [lab], "hostile": [odd],
            "slow": sorted((CAPTURES / "slow").glob("*.pcap"))}


def main():
    pictures = os.environ.get("COAX_PICTURES")
    driver = chrome.start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            chrome.size(driver, 1200, 900)
            written = {name: write(Path(folder), name, captures) for name, captures in pages(Path(folder)).items()}
            written["tour"] = tour.taken(Path(folder))
            for name, (path, report) in written.items():
                page = Page(driver, path, report)
                for check in [*CHECKS[name], says_nothing_to_anybody]:
                    check(page)
                    print(f"{name}: {check.__name__.replace('_', ' ')}", flush=True)
                if pictures:
                    chrome.picture(driver, Path(pictures) / f"{name}.png")
    finally:
        driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
