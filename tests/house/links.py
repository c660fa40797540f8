"""Links: of the pages in Markdown, and of the rendered site."""
import html.parser
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SUMMARY = DOCS / "SUMMARY.md"
# Elements that make a browser load something, and the attributes that say from where
LOADED = {"script": ("src",), "link": ("href",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"), "video": ("src",),
          "audio": ("src",), "object": ("data",), "embed": ("src",), "form": ("action",), "use": ("href",)}
ELSEWHERE = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.I)
IN_CSS = re.compile(r"""url\(\s*["']?([^"')]+)|@import\s+["']([^"']+)""")


def is_elsewhere(link):
    """The link names a host."""
    return bool(ELSEWHERE.match(link.strip()))


def of_markdown(page):
    """The links of a page outside its blocks, without their anchors."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    return re.findall(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text)


def dead_in_markdown(pages):
    """Relative links that lead to no file."""
    for page in sorted(pages):
        for link in of_markdown(page):
            if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists():
                yield f"{page.relative_to(ROOT)} links to {link}, which does not exist"


def missing_in_contents(docs=DOCS):
    """Pages that are not in the table of contents exactly once."""
    summary = docs / "SUMMARY.md"
    listed = of_markdown(summary)
    pages = {str(page.relative_to(docs)) for page in docs.rglob("*.md")} - {summary.name}
    for name in sorted(pages | set(listed)):
        count = listed.count(name)
        if name not in pages:
            yield f"docs/SUMMARY.md lists {name}, which does not exist"
        elif count != 1:
            yield f"docs/SUMMARY.md lists {name} {count} times: list each page once, in the part where a reader looks for it"


class Rendered(html.parser.HTMLParser):
    """What a page of the site refers to, and the anchors it has."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.repeated, self.links, self.loaded, self.base = set(), [], [], [], None
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.in_style = tag == "style"
        if anchor := named.get("id"):
            if anchor in self.anchors:
                self.repeated.append(anchor)
            self.anchors.add(anchor)
        if tag == "base":
            self.base = named.get("href")
        if tag == "a" and named.get("href"):
            self.links.append(named["href"])
        for name in LOADED.get(tag, ()):
            if named.get(name):
                self.loaded.append(named[name])
        self.loaded += css_urls(named.get("style") or "")

    def handle_data(self, data):
        if self.in_style:
            self.loaded += css_urls(data)

    def handle_endtag(self, tag):
        self.in_style = False


def css_urls(text):
    return [a or b for a, b in IN_CSS.findall(text)]


class Site:
    """A folder with rendered pages."""

    def __init__(self, folder):
        self.folder = folder
        self.pages = {path.resolve(): Rendered(path.read_text()) for path in sorted(folder.rglob("*.html"))}

    def faults(self):
        """Dead links and anchors, repeated anchors, and what is loaded from other hosts."""
        for path, page in self.pages.items():
            name = path.relative_to(self.folder.resolve())
            yield from (f"{name} has two anchors {anchor}" for anchor in page.repeated)
            for link in page.links + page.loaded:
                if not is_elsewhere(link) and (fault := self.fault_of(path, page, link)):
                    yield f"{name} refers to {link}: {fault}"
            yield from (f"{name} loads {link} from another host" for link in page.loaded if is_elsewhere(link))
        for path in sorted(self.folder.rglob("*.css")):
            yield from self.faults_of_style(path)

    def faults_of_style(self, path):
        for link in css_urls(path.read_text()):
            if is_elsewhere(link):
                yield f"{path.relative_to(self.folder)} loads {link} from another host"
            elif not link.startswith(("data:", "#")) and not (path.parent / urlsplit(link).path).exists():
                yield f"{path.relative_to(self.folder)} refers to {link}, which does not exist"

    def fault_of(self, path, page, link):
        parts = urlsplit(link)
        if parts.scheme:
            return None if parts.scheme in ("mailto", "data") else "an unknown kind of address"
        # only the page for unknown addresses has a base: the site's root
        start = self.folder if page.base else path.parent
        target = (start / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_relative_to(self.folder.resolve()):
            return "it leaves the site"
        if not target.exists():
            return "no such file"
        anchor = unquote(parts.fragment)
        if anchor and target in self.pages and anchor not in self.pages[target].anchors:
            return "no such anchor"
        return None
