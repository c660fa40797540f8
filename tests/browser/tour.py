"""What `coax tour` did, by its JSON, and its page."""
import json
import subprocess

from peers import subject

PROFILES, TABLES, SLOW = 16, 5, 3


def taken(folder):
    """Goes round; the page, and the object that it is of."""
    page = folder / "tour.html"
    done = subprocess.run([subject.coax_binary(), "tour", "--json", "--html", page], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    tour = json.loads(done.stdout)
    # the slow copies are shown as coax explain shows them
    tour["captures"] = [slow["capture"] for slow in tour["slow"]]
    return page, tour


def every_part_is_there(page):
    tour = page.report
    rows = tour["copies"]["rows"]
    assert len(rows) == PROFILES, len(rows)
    wrong = [row["profile"] for row in rows if not row["verified"]]
    assert not wrong, wrong
    assert len(tour["tables"]) >= TABLES and all(table["cells"] for table in tour["tables"])
    assert len(tour["slow"]) == SLOW
    pictures = page.run("return document.querySelectorAll('.tour svg.coax-plot').length")
    assert pictures == 1 + len(tour["tables"]), pictures


def verdicts_are_the_labs(page):
    for slow in page.report["slow"]:
        (copy,) = slow["capture"]["copies"]
        cause = max(copy["causes"], key=lambda row: row["seconds"])
        assert cause["cause"] == slow["truth"]["cause"], (slow["scenario"], cause, slow["truth"])
