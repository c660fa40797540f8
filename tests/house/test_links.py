"""The checks of links find each kind of fault."""
import tempfile
import unittest
from pathlib import Path

from house import links

GOOD = '<h1 id="top"><a href="#top">Top</a></h1><a href="b/c.html#there">C</a><a href="b/">index</a><script src="a.js"></script>'


class TestSite(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.folder = Path(self.holder.name) / "site"
        (self.folder / "b").mkdir(parents=True)
        (self.folder / "a.js").touch()
        self.write("b/c.html", '<p id="there"></p><a href="../a.html">A</a>')
        self.write("b/index.html", '<a href="c.html">C</a>')
        self.write("a.html", GOOD)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def faults(self, addition="", name="a.html"):
        if addition:
            self.write(name, GOOD + addition if name.endswith(".html") else addition)
        return list(links.Site(self.folder).faults())

    def test_a_site_without_faults_has_none(self):
        self.assertEqual(self.faults('<a href="https://example.org/">out</a><a href="mailto:a@example.org">m</a>'), [])

    def test_dead_links_and_anchors_are_found(self):
        for link, why in [("no.html", "no such file"), ("b/c.html#nowhere", "no such anchor"), ("#nowhere", "no such anchor"),
                          ("../outside.html", "it leaves the site"), ("ftpx:a", "an unknown kind of address")]:
            self.assertEqual(self.faults(f'<a href="{link}">x</a>'), [f"a.html refers to {link}: {why}"])

    def test_whatever_is_loaded_from_another_host_is_found(self):
        for html in ['<script src="{}"></script>', '<link rel="stylesheet" href="{}">', '<img src="{}">', '<p style="background: url({})">',
                     '<style>@import "{}";</style>', '<iframe src="{}"></iframe>']:
            for host in ["https://cdn.example/x", "//cdn.example/x"]:
                self.assertEqual(self.faults(html.format(host)), [f"a.html loads {host} from another host"])

    def test_styles_are_read(self):
        wrong = self.faults("a { src: url('https://fonts.example/f.woff2') } b { src: url(none.woff2) } i { src: url(data:x) }", "a.css")
        self.assertEqual(wrong, ["a.css loads https://fonts.example/f.woff2 from another host", "a.css refers to none.woff2, which does not exist"])

    def test_a_repeated_anchor_is_found(self):
        self.assertEqual(self.faults('<p id="top"></p>'), ["a.html has two anchors top"])

    def test_a_page_with_a_base_starts_at_the_root(self):
        self.write("b/404.html", '<base href="/"><a href="a.html">A</a><a href="c.html">C</a>')
        self.assertEqual(self.faults(), ["b/404.html refers to c.html: no such file"])


class TestContents(unittest.TestCase):
    def test_each_page_is_listed_exactly_once(self):
        with tempfile.TemporaryDirectory() as folder:
            docs = Path(folder)
            (docs / "SUMMARY.md").write_text("[a](a.md)\n- [b](b.md)\n- [b again](b.md)\n- [gone](gone.md)\n")
            for name in ("a.md", "b.md", "new.md"):
                (docs / name).touch()
            rest = ": list each page once, in the part where a reader looks for it"
            self.assertEqual(list(links.missing_in_contents(docs)), [
                f"docs/SUMMARY.md lists b.md 2 times{rest}", "docs/SUMMARY.md lists gone.md, which does not exist",
                f"docs/SUMMARY.md lists new.md 0 times{rest}"])


if __name__ == "__main__":
    unittest.main()
