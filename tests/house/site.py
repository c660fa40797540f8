"""Builds the documentation's site and checks what a reader would meet.

- Every page of docs is in the site, and the site's order is docs/SUMMARY.md.
- Every link and every anchor of the rendered pages leads somewhere, also those of the page to print.
- No page loads a script, a style, a font or an image from another host.
- The search index is part of the site and knows each page.
"""
import re
import subprocess
import sys
from pathlib import Path

from house import links

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "target" / "packages" / "site"


def rendered_name(page):
    """The file of a page of docs in the site."""
    name = page.relative_to(links.DOCS).with_suffix(".html")
    return name.with_name("index.html") if page.stem == "README" else name


def missing_pages(site):
    (index,) = site.glob("searchindex-*.js")
    known = index.read_text()
    for page in sorted(links.DOCS.rglob("*.md")):
        if page == links.SUMMARY:
            continue
        name = rendered_name(page)
        if not (site / name).exists():
            yield f"the site has no {name}"
        elif f'"{name}#' not in known:
            yield f"the search index has no {name}"


def left_over(site):
    """What Markdown did not understand shows in the text."""
    for path in sorted(site.rglob("*.html")):
        text = re.sub(r"<(script|style|pre|code)\b.*?</\1>", "", path.read_text(), flags=re.S)
        for wrong in re.findall(r"\]\([^)\s]*\)|^\|[- |]+\|$", text, re.M):
            yield f"{path.relative_to(site)} shows {wrong} as text"


def main():
    subprocess.run([ROOT / "scripts" / "package", "site"], check=True, stdout=subprocess.DEVNULL)
    wrong = [*links.missing_in_contents(), *missing_pages(SITE), *links.Site(SITE).faults(), *left_over(SITE)]
    for sentence in wrong:
        print(sentence)
    print(f"{len(list(SITE.rglob('*.html')))} pages, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
