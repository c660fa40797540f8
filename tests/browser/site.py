"""Opens every page of the documentation's site in Debian's Chromium, from files and without a network.

Each page fits a phone and a screen in light and dark colours, writes nothing to the console, and asks only for files of the site. The search
finds a page. COAX_PICTURES=FOLDER keeps pictures.
"""
import os
import sys
import time
from pathlib import Path

from browser import chrome

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "target" / "packages" / "site"
PHONE, SCREEN = (390, 844), (1280, 900)
PICTURED = ["index.html", "start.html", "guides/index.html", "guides/windows-9x.html", "smb-conf.html", "commands.html", "explain.html",
            "evidence/performance.html"]
# Elements that stick out of the page, although they are in no box that scrolls.
OUTSIDE = """const wide = document.documentElement.clientWidth, found = [];
    const scrolls = (it) => it && (getComputedStyle(it).overflowX !== 'visible' || scrolls(it.parentElement));
    for (const it of document.querySelectorAll('main *')) {
        const box = it.getBoundingClientRect();
        if (box.width > 0 && box.right > wide + 1 && !scrolls(it.parentElement)) found.push(it.tagName + ': ' + it.textContent.slice(0, 60));
    }
    return found;"""


def wait(driver, script, *arguments):
    """What the script returns, once it is something, within five seconds."""
    for _ in range(100):
        if found := driver.execute_script(script, *arguments):
            return found
        time.sleep(0.05)
    raise AssertionError(f"never: {script}")


def fits(driver, page):
    wide = driver.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    outside = driver.execute_script(OUTSIDE)
    if wide > 0 or outside:
        yield f"{page} is {wide} pixels too wide; outside: {outside[:3]}"


def is_quiet(driver, page):
    if complaints := chrome.complaints(driver):
        yield f"{page} complains: {complaints}"
    # the worker of the web page is a blob that the page made itself
    asked = [url for url in chrome.requests(driver) if not url.startswith((SITE.as_uri(), "data:", "blob:null/"))]
    if asked:
        yield f"{page} asks for {asked}"


def luminance(driver):
    """Of the page's background, from 0 (black) to 255."""
    return driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor.match(/\\d+/g).slice(0, 3)"
                                 ".reduce((sum, it) => sum + Number(it) / 3, 0)")


def colours(driver):
    """The page has the colours that the system prefers."""
    for name, right in (("light", lambda value: value > 200), ("dark", lambda value: value < 80)):
        driver.execute_script("localStorage.clear()")
        chrome.scheme(driver, name)
        driver.get((SITE / "index.html").as_uri())
        if not right(luminance(driver)):
            yield f"index.html is not {name}: background {luminance(driver):.0f}"


def search(driver):
    """A word of one page leads to that page."""
    driver.get((SITE / "index.html").as_uri())
    driver.execute_script("document.getElementById('mdbook-search-toggle').click()")
    script = """const it = document.getElementById('mdbook-searchbar');
        it.value = arguments[0]; it.dispatchEvent(new Event('input', { bubbles: true })); it.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
        return [...document.querySelectorAll('#mdbook-searchresults a')].map((it) => it.getAttribute('href')).join(' ')"""
    found = wait(driver, script, "LMHOSTS")
    if "netbios.html" not in found:
        yield f"the search for LMHOSTS finds {found}"


def pages():
    return [path.relative_to(SITE) for path in sorted(SITE.rglob("*.html")) if path.name not in ("404.html", "toc.html")]


def looked_at(driver, pictures):
    for phone in (True, False):
        chrome.size(driver, *(PHONE if phone else SCREEN), phone=phone)
        # colours change no sizes: both are visited for their pictures alone
        for scheme in ("light", "dark") if pictures else ("light",):
            chrome.scheme(driver, scheme)
            for page in pages():
                if page.name == "print.html":
                    continue
                driver.get((SITE / page).as_uri())
                yield from fits(driver, f"{page} ({'phone' if phone else 'screen'})")
                yield from is_quiet(driver, page)
                if pictures and str(page) in PICTURED:
                    name = f"{page.with_suffix('')}-{scheme}-{'phone' if phone else 'screen'}.png".replace("/", "-")
                    chrome.picture(driver, Path(pictures) / name, whole=False)


def main():
    if not (SITE / "index.html").exists():
        print("the site is not built: run scripts/test --only site")
        return 1
    driver = chrome.start()
    try:
        wrong = [*looked_at(driver, os.environ.get("COAX_PICTURES")), *colours(driver), *search(driver)]
    finally:
        driver.quit()
    for sentence in wrong:
        print(sentence)
    print(f"{len(pages())} pages, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
