"""The table of suites beside Samba's column, and the data it is made from."""
import csv
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
# smbd's own results: in the configuration that Samba's tests give it, and in its default one
CONFIGURATIONS = ("test", "default")
SAMBA = {"test": HERE / "samba-4.17.12.tsv", "default": HERE / "samba-4.17.12-default.tsv"}
GAPS = HERE / "gaps.toml"
EXPECTED = HERE / "expected.tsv"
COLUMNS = ["test", "result", "passed", "failed", "skipped", "seconds", "first"]

HEAD = """# Conformance

`scripts/torture` runs smbtorture's SMB1 suites (Samba 4.17.12's, strict, as against Windows) one by one against
`coax serve` and writes this page. Samba's column is its own smbd on the same kind of machine. A suite passes when every
subtest in it does; the numbers are subtests that passed, failed and were skipped. Suites that never end by themselves
and scans that judge nothing are left out. Why a suite does not pass is in `tests/torture/gaps.toml`. The tests'
configuration shortens the delays of sharing violations and write times and keeps named streams
(`vfs objects = streams_xattr`), as Samba's own tests have it for smbd; in the default configuration nothing of this is
set. raw.bench-lock and raw.bench-open, in which smbtorture may lose its place
among the replies, are tried again when they do not end (`tests/torture/suites.py` says why).
"""

TAIL = """
## Where coax and smbd differ

`scripts/torture --gentest N --seed S` sends the same random requests to both and stops at the first answer that differs.
119 seeds of up to 120 operations each ended at differences of these kinds, one of each of which was looked at on the
wire. None is known to matter to a client.

| request | coax | smbd 4.17 | why it stays |
|---|---|---|---|
| DELETE and RENAME with wildcards | do what they say: NO_SUCH_FILE, or the missing folder's error, if nothing is found | OBJECT_NAME_INVALID | smbd no longer has them; `DEL *.*` of DOS sends them |
| several things wrong at once (an unknown level or open mode, or attributes that cannot be, and a missing file or folder; two missing names) | the request is judged before its paths, and the old name before the new | paths are looked up first | no specification orders them |
| a path that ends in `\\.` below a missing folder | OBJECT_NAME_INVALID | OBJECT_PATH_NOT_FOUND | judged before the disk is asked, as all syntax is |
| SMB_INFO_IS_NAME_VALID of a good name in a missing folder | success | OBJECT_PATH_NOT_FOUND | it asks about the name ([MS-CIFS] 2.2.2.3.3) |
| the same level by FID | INVALID_LEVEL | ERRDOS/ERRbadfunc | smbd tells even NT clients in DOS's form |
| OPEN_ANDX for execution that creates a file of a given size | the size is given | DISK_FULL | the disk was not full; it looks as if smbd extended through a descriptor for reading |
| OPEN_ANDX with the open function 3, which does not exist | ERRDOS/ERRbadaccess | opens | [MS-CIFS] 2.2.4.41.1 has no such function |
| OPEN_ANDX that must create what is a folder | OBJECT_NAME_COLLISION | FILE_IS_A_DIRECTORY | something of that name is there |
| ACCESS_SYSTEM_SECURITY for a file without a descriptor of its own | granted | PRIVILEGE_NOT_HELD | there is no audit list that it could show |
| FILE_DELETE_ON_CLOSE with MAXIMUM_ALLOWED or generic rights alone | opens, if they amount to DELETE | INVALID_PARAMETER | smbd wants the bit itself; not traced to Windows |
| extended replies to NT_CREATE_ANDX: NO_EAS | set where a client would find no attributes | not set on new files and folders | [MS-SMB] 2.2.4.9.2 |
| WRITE_ANDX, Available | 0xFFFF | 0 | [MS-CIFS] 2.2.4.43.2 wants it of files |
| FileBasicInformation that makes a file a folder, by path | INVALID_PARAMETER | success | [MS-FSA] 2.1.5.15.2 |
| change notifications | sometimes one more or fewer by the time both are compared | | they come when they come |
"""


def read_samba(configuration="test"):
    with open(SAMBA[configuration], newline="") as file:
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


def markdown(found):
    """The page, of the verdicts in each configuration."""
    gaps = read_gaps()
    samba = {name: read_samba(name) for name in CONFIGURATIONS}
    lines = [HEAD]
    for name, title in (("test", "In the tests' configuration"), ("default", "In the default configuration")):
        lines += [f"{title}:", "", *summary(found[name], samba[name]), ""]
    lines += ["| suite | coax | subtests | Samba 4.17.12 | subtests | coax, default | subtests | Samba, default | subtests | why not |",
              "|---|---|---|---|---|---|---|---|---|---|"]
    defaults = {verdict.test: verdict for verdict in found["default"]}
    for verdict in found["test"]:
        default = defaults.get(verdict.test)
        cells = [verdict.test, verdict.result, counts(verdict), *of_samba(samba["test"], verdict.test)]
        cells += [default.result, counts(default)] if default else ["", ""]
        cells += of_samba(samba["default"], verdict.test)
        lines.append("| " + " | ".join([*cells, cell(why_not(verdict, default, gaps))]) + " |")
    return "\n".join(lines) + "\n" + TAIL


def counts(verdict):
    return f"{verdict.passed}/{verdict.failed}/{verdict.skipped}"


def of_samba(rows, test):
    row = rows.get(test)
    return [row["result"], f"{row['passed']}/{row['failed']}/{row['skipped']}"] if row else ["", ""]


def why_not(verdict, default, gaps):
    gap = gaps.get(verdict.test, {})
    if verdict.result != "success":
        return gap.get("why") or f"not yet: {verdict.first[:120]}"
    if default and default.result != "success":
        return "default: " + (gap.get("default") or f"not yet: {default.first[:120]}")
    return ""
