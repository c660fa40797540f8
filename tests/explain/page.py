"""The page of figures, docs/evidence/accuracy-real.md: tables between marks."""
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "accuracy-real.md"


def write_page(**tables):
    """Puts each table between its two marks in the page."""
    page = PAGE.read_text()
    for mark, lines in tables.items():
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(page)
