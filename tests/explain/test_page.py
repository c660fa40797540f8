"""The page of figures from hand-made rows: `python -m unittest explain.test_page`."""
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from explain import copies, page


def row(copy, end, top, truth="bandwidth", held_out=False, contradicted=()):
    return {"copy": copy, "end": end, "held_out": held_out, "top": top, "accepted": [truth], "shares": {truth: 0.8, "metadata": 0.2}, "right": top == truth,
            "share_error": 2.0 if top == truth else 20.0, "moved": 3.0, "contradicted": list(contradicted)}


def copy(name, client, server, joined, **more):
    return [row(name, end, top, **more) for end, top in (("client", client), ("server", server), ("joined", joined))]


ROWS = [*copy("jitter-6010000", "bandwidth", "timeout", "bandwidth", contradicted=["timeout 9%, but no timer fired"]),
        *copy("jitter-6020001", "bandwidth", "bandwidth", "bandwidth"), *copy("outages-6020000", "timeout", "timeout", "timeout", held_out=True)]


class Page(unittest.TestCase):
    def test_the_lead_has_each_aim_beside_its_figure(self):
        right, joined, error, agree, contradictions = page.measured(ROWS)
        self.assertAlmostEqual(right, 50.0)
        self.assertAlmostEqual(joined, 200 / 3)
        self.assertAlmostEqual(error, 11.0)
        self.assertAlmostEqual(agree, 200 / 3)
        self.assertEqual(contradictions, 3)
        lines = list(page.lead(ROWS))
        self.assertIn("| dominant cause right, from one end | ≥ 92 % | 50.0 % | no |", lines)
        self.assertIn("| contradictions of kernel counters | 0 | 3 | no |", lines)

    def test_an_aim_that_is_just_reached_counts(self):
        lines = list(page.lead(copy("jitter-6010000", "bandwidth", "bandwidth", "bandwidth")))
        self.assertTrue(all(line.endswith("| yes |") for line in lines[1:]), lines)

    def test_without_joined_captures_that_figure_is_not_measured(self):
        lines = list(page.lead([one for one in ROWS if one["end"] != "joined"]))
        self.assertIn("| dominant cause right, both captures joined | ≥ 97 % | – | not measured |", lines)

    def test_held_out_families_are_never_named(self):
        said = "\n".join(page.failures(ROWS) + page.contradicted(ROWS))
        self.assertIn("- `jitter`: 1 of 6 wrong: `bandwidth` reported as `timeout`.", said)
        self.assertNotIn("outages", said)

    def test_the_commands_name_each_seed_once(self):
        made = page.commands(ROWS)
        self.assertEqual([line.split()[2] for line in made if "--seed" in line], ["601", "602"])

    def test_all_of_it_goes_into_the_page_and_twice_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "page.md"
            target.write_text(page.PAGE.read_text())
            with mock.patch.object(page, "PAGE", target), mock.patch.object(copies, "version", lambda: "0123abc"):
                copies.write(ROWS, 2)
                once = target.read_text()
                copies.write(ROWS, 2)
            self.assertEqual(target.read_text(), once)
        self.assertIn("commit 0123abc: 3 copies judged, 2 rejected.", once)
        self.assertIn("**all, both captures joined**", once)
        self.assertNotIn("outages", once.partition("## Chosen copies")[0])

    def test_a_page_without_marks_is_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "page.md"
            target.write_text("text\n")
            with mock.patch.object(page, "PAGE", target), self.assertRaisesRegex(SystemExit, "lacks the marks"):
                page.write_page(lead=["x"])
            self.assertEqual(target.read_text(), "text\n")


if __name__ == "__main__":
    unittest.main()
