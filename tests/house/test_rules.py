"""Which fences of documentation are examples that rustdoc runs."""
import unittest

from house.rules import has_examples


class Examples(unittest.TestCase):
    def test_rust_and_fences_without_a_language_are_examples(self):
        for page in ("```\nlet a = 1;\n```", "/// ```rust,no_run\n/// f();\n/// ```", "//! ```should_panic\n//! f();\n//! ```"):
            self.assertTrue(has_examples([page]), page)

    def test_other_languages_are_none(self):
        for page in ("no fence", "```toml\na = 1\n```", "//! ```text\n//! a\n//! ```\n```python\nimport a\n```"):
            self.assertFalse(has_examples([page]), page)

    def test_a_page_with_an_open_fence_does_not_change_the_next(self):
        self.assertFalse(has_examples(["```text\n", "```toml\na = 1\n```"]))
        self.assertTrue(has_examples(["```text\n", "```\nf();\n```"]))


if __name__ == "__main__":
    unittest.main()
