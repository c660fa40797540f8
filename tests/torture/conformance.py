"""The table of suites beside Samba's column, and the data it is made from."""
import csv
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
SAMBA = HERE / "samba-4.17.12.tsv"
GAPS = HERE / "gaps.toml"
EXPECTED = HERE / "expected.tsv"
COLUMNS = ["test", "result", "passed", "failed", "skipped", "seconds", "first"]

HEAD = """# Conformance

`scripts/torture` runs smbtorture's SMB1 suites (Samba 4.17.12's, strict, as against Windows) one by one against
`coax serve` and writes this page. Samba's column is its own smbd on the same kind of machine. A suite passes when every
subtest in it does; the numbers are subtests that passed, failed and were skipped. Suites that never end by themselves
and scans that judge nothing are left out. Why a suite does not pass is in `tests/torture/gaps.toml`.
"""


def read_samba():
    with open(SAMBA, newline="") as file:
        return {row["test"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


def read_gaps():
    return tomllib.loads(GAPS.read_text()).get("gap", {})


def read_expected():
    """Suites that must pass in every CI run."""
    lines = EXPECTED.read_text().splitlines()
    return [line.split("\t")[0] for line in lines if line and not line.startswith("#")]


def write_tsv(path, verdicts):
    with open(path, "w") as file:
        print(*COLUMNS, sep="\t", file=file)
        for verdict in verdicts:
            print(*(getattr(verdict, column) for column in COLUMNS), sep="\t", file=file)


def write_subtests(path, verdicts):
    with open(path, "w") as file:
        print("suite", "subtest", "result", "message", sep="\t", file=file)
        for verdict in verdicts:
            for name, result, message in verdict.subtests:
                print(verdict.test, name, result, " ".join(message.split())[:300], sep="\t", file=file)


def summary(verdicts, samba):
    ours = {verdict.test for verdict in verdicts if verdict.result == "success"}
    run = {verdict.test for verdict in verdicts}
    theirs = {test for test, row in samba.items() if row["result"] == "success" and test in run}
    lines = [
        f"- {len(ours)} of {len(run)} suites pass; of the {len(theirs)} that Samba passes, {len(ours & theirs)} pass here.",
        f"- Subtests: {sum(v.passed for v in verdicts)} pass, {sum(v.failed for v in verdicts)} fail.",
    ]
    if ours - theirs:
        lines.append("- Pass here and not in Samba: " + ", ".join(sorted(ours - theirs)) + ".")
    if theirs - ours:
        lines.append("- Pass in Samba and not here: " + ", ".join(sorted(theirs - ours)) + ".")
    return lines


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def markdown(verdicts):
    samba, gaps = read_samba(), read_gaps()
    lines = [HEAD, *summary(verdicts, samba), "", "| suite | coax | subtests | Samba 4.17.12 | subtests | why not |",
             "|---|---|---|---|---|---|"]
    for verdict in verdicts:
        row = samba.get(verdict.test, {})
        theirs = f"{row['passed']}/{row['failed']}/{row['skipped']}" if row else ""
        why = "" if verdict.result == "success" else gaps.get(verdict.test, {}).get("why") or f"not yet: {verdict.first[:120]}"
        lines.append(
            f"| {verdict.test} | {verdict.result} | {verdict.passed}/{verdict.failed}/{verdict.skipped} "
            f"| {row.get('result', '')} | {theirs} | {cell(why)} |"
        )
    return "\n".join(lines) + "\n"
