"""The table of suites beside Samba's column, and the data it is made from."""
import csv
import tomllib
from pathlib import Path

from netbios.torture import section

HERE = Path(__file__).parent
# smbd's own results: in the configuration that Samba's tests give it, and in its default one
CONFIGURATIONS = ("test", "default")
SAMBA = {"test": HERE / "samba-4.17.12.tsv", "default": HERE / "samba-4.17.12-default.tsv"}
GAPS = HERE / "gaps.toml"
EXPECTED = HERE / "expected.tsv"
COLUMNS = ["test", "result", "passed", "failed", "skipped", "seconds", "first"]

HEAD = """# Conformance

`scripts/torture` runs smbtorture's SMB1 suites (Samba 4.17.12, with strict expectations as for Windows) one by one against
`coax serve` and writes this page. The Samba columns are smbd on the same kind of machine.

- A suite passes if all of its subtests pass. The numbers are subtests passed, failed and skipped.
- Suites that never end and scans that judge nothing are left out.
- `tests/torture/gaps.toml` says why a suite does not pass.
- The test configuration shortens the delays of sharing violations and write times and enables named streams
  (`vfs objects = streams_xattr`), as Samba's own tests do. The default configuration sets none of this.
- raw.bench-lock and raw.bench-open are repeated if they do not end, because smbtorture may lose its place among the replies
  (`tests/torture/suites.py`).
"""

TAIL = """
## Where coax and smbd differ

`scripts/torture --gentest N --seed S` sends the same random requests to both servers and stops at the first different answer.
119 seeds of up to 120 operations each stopped at differences of these kinds; one of each was checked on the wire. None is
known to affect a client.

- **DELETE and RENAME with wildcards.** coax executes them; NO_SUCH_FILE or the folder's error means that nothing matched. smbd 4.17
  answers OBJECT_NAME_INVALID. `DEL *.*` of DOS sends them.
- **Several errors in one request.** coax checks the request before its paths, and the old name before the new one. smbd looks up
  paths first. No specification orders them.
- **A path that ends in `\\.` below a missing folder.** coax: OBJECT_NAME_INVALID, because syntax is checked before the disk.
  smbd: OBJECT_PATH_NOT_FOUND.
- **SMB_INFO_IS_NAME_VALID of a valid name in a missing folder.** coax: success, as it asks about the name ([MS-CIFS] 2.2.2.3.3).
  smbd: OBJECT_PATH_NOT_FOUND.
- **The same level by FID.** coax: INVALID_LEVEL. smbd: ERRDOS/ERRbadfunc, also to NT clients.
- **OPEN_ANDX for execution that creates a file of a given size.** coax sets the size. smbd: DISK_FULL, although the disk was not full.
- **OPEN_ANDX with open function 3.** coax: ERRDOS/ERRbadaccess; [MS-CIFS] 2.2.4.41.1 has no such function. smbd opens the file.
- **OPEN_ANDX that must create an existing folder.** coax: OBJECT_NAME_COLLISION. smbd: FILE_IS_A_DIRECTORY.
- **ACCESS_SYSTEM_SECURITY for a file without a descriptor.** coax grants it, because there is no audit list to show. smbd:
  PRIVILEGE_NOT_HELD.
- **FILE_DELETE_ON_CLOSE with only MAXIMUM_ALLOWED or generic rights.** coax opens if they include DELETE. smbd requires the DELETE bit:
  INVALID_PARAMETER. Windows was not checked.
- **NO_EAS in extended replies to NT_CREATE_ANDX.** coax sets it if a client would find no attributes ([MS-SMB] 2.2.4.9.2). smbd
  does not set it on new files and folders.
- **Available in WRITE_ANDX.** coax: 0xFFFF, as [MS-CIFS] 2.2.4.43.2 requires for files. smbd: 0.
- **FileBasicInformation by path that turns a file into a folder.** coax: INVALID_PARAMETER ([MS-FSA] 2.1.5.15.2). smbd: success.
- **Change notifications.** Their number may differ at the time of the comparison, because they arrive asynchronously.
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
    return "\n".join(lines) + "\n" + TAIL + "\n" + section()


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
