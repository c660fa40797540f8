"""Builds the documentation as a site: no page needs another host."""
import html
import os
import re
import shutil
import tarfile
from pathlib import Path

from .toolchain import OUT, ROOT, cargo_tool, run, say

DOCS = ROOT / "docs"
SITE = OUT / "site"
WEB_PAGE = OUT / "web" / "index.html"
HEADING = re.compile(r"<h1 id=.*?</h1>")
FILES = "files"  # the folder for files of the repository that pages refer to
NAMED_PAGE = re.compile(r'(<a href="([^"#]+\.html)(?:#[^"]*)?">)[\w./-]+\.md</a>')
LINK = re.compile(r'href="(?![a-z]+:|#|/)([^"#]+)(#[^"]*)?"')


def build(site=SITE):
    """The site's folder."""
    shutil.rmtree(site, ignore_errors=True)
    run([cargo_tool("mdbook"), "build", ROOT / "packaging" / "site", "--dest-dir", site])
    for page in sorted(site.rglob("*.html")):
        page.write_text(with_working_links(page, site))
    add_web_page(site)
    (site / ".nojekyll").touch()
    return site


def add_web_page(site):
    """The web page itself, if scripts/package web has made it, and a link to it on its page of the documentation."""
    if not WEB_PAGE.exists():
        say("the site is without the web page: scripts/package web builds it")
        return
    copy = site / "coax" / "index.html"
    copy.parent.mkdir()
    shutil.copyfile(WEB_PAGE, copy)
    described = site / "web.html"
    text, count = HEADING.subn(r'\g<0><p><a href="coax/index.html"><strong>Open the page</strong></a></p>', described.read_text(), count=1)
    assert count == 1, described
    described.write_text(text)


def with_working_links(page, site):
    """The page with links to what is published: mdBook names index pages wrongly and leaves files outside docs alone."""
    folder = page.parent.relative_to(site)

    def working(match):
        link, anchor = match.group(1), match.group(2) or ""
        text = Path(os.path.normpath(DOCS / folder / link)).with_suffix(".md")
        if text.is_file() and not text.is_relative_to(DOCS):
            return f'href="{os.path.relpath(published(text, site), page.parent)}"'
        if link.endswith("README.html"):
            index = f"{link.removesuffix('README.html')}index.html"
            return f'href="{index}{anchor}"'
        source = Path(os.path.normpath(DOCS / folder / link))
        if source.is_relative_to(DOCS) or not source.is_file():
            return match.group(0)
        return f'href="{os.path.relpath(published(source, site), page.parent)}"'

    text = LINK.sub(working, page.read_text())
    return NAMED_PAGE.sub(lambda match: with_title(match, folder), text)


def with_title(match, folder):
    """A link whose text is the name of a page's file, with the page's title instead."""
    start, link = match.groups()
    page = Path(os.path.normpath(DOCS / folder / link))
    for source in (page.with_suffix(".md"), page.with_name("README.md")):
        if source.is_file() and source.is_relative_to(DOCS):
            title = source.read_text().partition("\n")[0].removeprefix("# ")
            return f"{start}{html.escape(title)}</a>"
    return match.group(0)


def published(source, site):
    """The copy of a file of the repository, with a name that browsers show as text."""
    copy = site / FILES / f"{source.relative_to(ROOT)}.txt"
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, copy)
    return copy


def site():
    """The site in target/packages/site, and as an archive to read without a network."""
    folder = build()
    path = OUT / "coax-site.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, "coax-site")
    say(f"{path.relative_to(OUT)}: {path.stat().st_size:,} bytes; start at {folder.relative_to(ROOT)}/index.html")
    return path
