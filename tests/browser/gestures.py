"""The graph under fingers and keys, and its accessible names for screen readers."""

STEPS = 8


class Fingers:
    """Fingers on the graph, in pixels from its middle."""

    def __init__(self, page):
        self.page = page
        page.run("document.querySelector('.graph canvas').scrollIntoView({ block: 'center' })")
        self.x, self.y = page.run("const it = document.querySelector('.graph canvas').getBoundingClientRect(); return [it.left + it.width / 2, it.top + it.height / 2]")

    def event(self, kind, points):
        touches = [{"x": self.x + x, "y": self.y + y, "id": finger} for finger, (x, y) in enumerate(points)]
        self.page.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def move(self, begin, end):
        """Puts fingers down at `begin`, moves them to `end` and takes them away."""
        self.event("touchStart", begin)
        for step in range(1, STEPS + 1):
            self.event("touchMove", [tuple(a + (b - a) * step / STEPS for a, b in zip(one, other)) for one, other in zip(begin, end)])
        self.event("touchEnd", [])


def axis(page):
    return page.run("const it = document.querySelector('.graph').dataset; return [Number(it.from), Number(it.to)]")


def width(page):
    begin, end = axis(page)
    return end - begin


def show_all(page):
    page.run("document.querySelector('[aria-label=\"Show all\"]').click()")


def scale(page):
    return page.run("return window.visualViewport.scale")


def pinching_zooms(page):
    """Two fingers apart by twice as much show half the time, whichever way they lie; closer, more of it."""
    whole = width(page)
    for begin, end in [([(-40, 0), (40, 0)], [(-80, 0), (80, 0)]), ([(0, -40), (0, 40)], [(0, -80), (0, 80)]), ([(-30, -30), (30, 30)], [(-60, -60), (60, 60)])]:
        fingers = Fingers(page)
        scrolled = page.run("return window.scrollY")
        fingers.move(begin, end)
        assert abs(width(page) / whole - 0.5) < 0.02, (begin, axis(page), whole)
        fingers.move(end, begin)
        assert abs(width(page) / whole - 1) < 0.04, (end, axis(page), whole)
        assert page.run("return window.scrollY") == scrolled, "the page went along"
        assert scale(page) == 1, "the page was zoomed"
        show_all(page)


def fingers_move_the_graph_and_the_page(page):
    fingers = Fingers(page)
    whole = width(page)
    fingers.move([(-40, 0), (40, 0)], [(-160, 0), (160, 0)])
    near = axis(page)
    fingers.move([(60, 0)], [(-60, 4)])
    moved = axis(page)
    assert moved[0] > near[0] and abs(width(page) - (near[1] - near[0])) < 1, (near, moved)
    fingers.move([(-40, 0), (40, 0)], [(10, 0), (90, 0)])
    assert axis(page)[0] < moved[0], "two fingers that go together move it too"
    assert width(page) < whole * 0.5
    # up and down is the page's
    before, scrolled = axis(page), page.run("return window.scrollY")
    Fingers(page).move([(0, 60)], [(0, -120)])
    page.wait("return window.scrollY > arguments[0]", scrolled)
    assert axis(page) == before, (before, axis(page))
    show_all(page)


def touch(page):
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})
    try:
        pinching_zooms(page)
        fingers_move_the_graph_and_the_page(page)
    finally:
        page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})


def press(page, key):
    page.run("document.querySelector('.graph canvas').dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], cancelable: true, bubbles: true }))", key)


def keys_do_all_that_a_pointer_does(page):
    assert page.run("const it = document.querySelector('.graph canvas'); it.focus(); return document.activeElement === it")
    show_all(page)
    whole = axis(page)
    press(page, "+")
    near = axis(page)
    assert near[1] - near[0] < (whole[1] - whole[0]) * 0.6
    press(page, "ArrowRight")
    assert axis(page)[0] > near[0]
    press(page, "0")
    assert axis(page) == whole
    frames = []
    for key in ["Home", "n", "n", "p", "End"]:
        press(page, key)
        frames.append(int(page.text(".readout strong").removeprefix("Frame ").replace(",", "")))
    first, second, third, again, last = frames
    assert first < second < third and again == second and last > third, frames
    press(page, "Home")
    for key in "++++":
        press(page, key)
    press(page, "End")
    assert abs(axis(page)[1] - whole[1]) < 1, "the packet that is marked is seen"
    press(page, "0")


def controls_have_accessible_names(page):
    """What stands in Chromium's accessibility tree of the graph, its buttons and of tables that can be scrolled."""
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    accessible = {(node["role"]["value"], node.get("name", {}).get("value", "")): node for node in nodes if not node["ignored"]}
    (graph,) = [node for (role, name), node in accessible.items() if name.startswith("Bytes over time of ")]
    assert "packets with data" in graph["name"]["value"] and "Plus and minus zoom" in graph["description"]["value"], graph
    for name in ["Zoom in", "Zoom out", "Earlier", "Later", "Show all"]:
        assert ("button", name) in accessible, name
    for role in ("button", "combobox", "checkbox"):
        nameless = [node for (kind, name), node in accessible.items() if kind == role and not name.strip()]
        assert not nameless, nameless
    assert any(name == "Where the time went, table" for _, name in accessible)


def tables_can_be_moved_on_a_phone(page):
    """What is wider than the screen is in a box that can be scrolled and can have the focus."""
    boxes = page.run("return [...document.querySelectorAll('.scroll')].map((it) => [it.scrollWidth - it.clientWidth, it.tabIndex, it.getAttribute('aria-label')])")
    assert all(tab == 0 and label for _, tab, label in boxes), boxes
    outside = page.run("return [...document.querySelectorAll('main table')].filter((it) => !it.closest('.scroll') && it.getBoundingClientRect().right > innerWidth + 1).map((it) => it.className)")
    assert not outside, outside
    stuck = page.run("""return [...document.querySelectorAll('.scroll')].filter((it) => it.scrollWidth > it.clientWidth)
        .filter((it) => { it.scrollLeft = 5; return it.scrollLeft < 1; }).map((it) => it.getAttribute('aria-label'))""")
    assert not stuck, stuck


def phone(page):
    from browser import chrome
    chrome.size(page.driver, 360, 740, phone=True)
    page.driver.get(page.path.as_uri())
    try:
        touch(page)
    finally:
        chrome.size(page.driver, 1200, 900)
        page.driver.get(page.path.as_uri())
