"""What the client must do with any server: a function a case, given the client, the server and an empty local folder."""
import hashlib
import json
import os
import random

DIALECTS = ["core", "lanman1", "lanman2", "lanman2.1", "nt1"]
GRANULARITY_S = 2  # of DOS times


def url(server, path="", port=None):
    return f"smb://{server.user}@{server.host}:{port or server.direct}/{server.share}/{path}"


def digest(folder):
    """Every file below a folder: relative path to hash."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def each_verb(coax, server, folder):
    """Every verb does its work, and says nothing when it went well."""
    data = noise(1_000_003)
    (folder / "a.bin").write_bytes(data)
    there = url(server, "VERBS")
    expect(coax("mkdir", there) == "", "mkdir is quiet")
    expect(coax("put", folder / "a.bin", f"{there}/A.BIN") == "", "put is quiet")
    expect((server.folder / "VERBS" / "A.BIN").read_bytes() == data, "put: the bytes")
    expect(len(os.listdir(server.folder / "VERBS")) == 1, "put leaves no temporary file")
    listed = json.loads(coax("ls", there, "--json"))
    expect([(e["path"], e["size"]) for e in listed["entries"]] == [("VERBS/A.BIN", len(data))], f"ls: {listed}")
    expect(json.loads(coax("stat", f"{there}/A.BIN", "--json"))["stat"]["size"] == len(data), "stat")
    coax("get", f"{there}/A.BIN", folder / "b.bin", "--verify")
    expect((folder / "b.bin").read_bytes() == data, "get: the bytes")
    expect(coax("get", f"{there}/A.BIN", "-") == data, "get to standard output")
    coax("put", "-", f"{there}/S.TXT", stdin=b"from a stream")
    expect((server.folder / "VERBS" / "S.TXT").read_bytes() == b"from a stream", "put from standard input")
    coax("put", folder / "a.bin", f"{there}/S.TXT", "--verify")
    expect((server.folder / "VERBS" / "S.TXT").read_bytes() == data, "put replaces")
    coax("mv", f"{there}/S.TXT", "T.TXT")
    coax("mv", f"{there}/T.TXT", "A.BIN", code=1)
    coax("mv", "--force", f"{there}/T.TXT", "A.BIN")
    expect(os.listdir(server.folder / "VERBS") == ["A.BIN"], "mv")
    coax("rmdir", there, code=1)
    coax("rm", f"{there}/*.BIN")
    coax("rmdir", there)
    expect(not (server.folder / "VERBS").exists(), "rm and rmdir")


def shares(coax, server, folder):
    """The server's list of shares has the share."""
    listed = json.loads(coax("shares", f"smb://{server.user}@{server.host}:{server.direct}", "--json"))
    expect(server.share.lower() in [share["name"].lower() for share in listed["shares"]], str(listed))


def overwriting(coax, server, folder):
    """Files are replaced as cp does, or left alone if that is asked for; folders want -r."""
    (folder / "x").write_text("new")
    (server.folder / "KEEP.TXT").write_text("old")
    coax("put", "-n", folder / "x", url(server, "KEEP.TXT"))
    expect((server.folder / "KEEP.TXT").read_text() == "old", "put -n")
    coax("get", "-n", url(server, "KEEP.TXT"), folder / "x")
    expect((folder / "x").read_text() == "new", "get -n")
    coax("get", url(server, "KEEP.TXT"), folder / "x")
    expect((folder / "x").read_text() == "old", "get replaces")
    expect("-r" in coax("put", folder, url(server), code=1), "a folder wants -r")


def tree(coax, server, folder):
    """A tree of 500 files goes there and back."""
    source = folder / "tree"
    count = 500
    for number in range(count):
        path = source / f"D{number % 20:02}" / f"F{number:04}.DAT"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(noise(number * 37, number))
    coax("put", "-r", source, url(server))
    expect(digest(server.folder / "tree") == digest(source), "the tree on the server")
    coax("get", "-r", url(server, "tree"), folder / "back")
    expect(digest(folder / "back") == digest(source), "the tree that came back")
    coax("get", url(server, "tree/D03/*.DAT"), folder)
    expect(len(list(folder.glob("*.DAT"))) == count // 20, "wildcards")
    coax("rm", "-r", url(server, "tree"))
    expect(not (server.folder / "tree").exists(), "rm -r")


def names(coax, server, folder):
    """Names with umlauts and Japanese arrive as they are, in Unicode and in the server's code page (850)."""
    (folder / "x").write_bytes(b"x")
    for dialect, name in (("nt1", "Grüße.txt"), ("nt1", "テスト.txt"), ("lanman2.1", "Grüße.txt")):
        coax("put", folder / "x", url(server, name), "--dialect", dialect, "--allow-weak")
        expect((server.folder / name).exists(), f"{name} in {dialect}")
        listed = coax("ls", url(server), "--dialect", dialect, "--allow-weak")
        expect(name in listed, f"{name} in {listed}")
        coax("get", url(server, name), folder / name, "--dialect", dialect, "--allow-weak")
        coax("rm", url(server, name), "--dialect", dialect, "--allow-weak")
    said = coax("put", folder / "x", url(server, "テ.txt"), "--dialect", "lanman2.1", "--allow-weak", code=1)
    expect("932" in said, said)


def dates(coax, server, folder):
    """Dates stay what they are in both directions, to two seconds, in each dialect (smbd has no CORE any more)."""
    guest = f"smb://{server.host}:{server.direct}/{server.share}"
    (folder / "D.TXT").write_text("dated")
    for number, dialect in enumerate(DIALECTS if server.kind == "coax" else DIALECTS[1:]):
        stamp = 831_118_864 + number * 86_400
        os.utime(folder / "D.TXT", (stamp, stamp))
        coax("put", folder / "D.TXT", f"{guest}/D.TXT", "--dialect", dialect)
        there = (server.folder / "D.TXT").stat().st_mtime
        expect(abs(there - stamp) <= GRANULARITY_S, f"{dialect}: {there} for {stamp} on the server")
        coax("get", f"{guest}/D.TXT", folder / "back.txt", "--dialect", dialect)
        back = (folder / "back.txt").stat().st_mtime
        expect(abs(back - stamp) <= GRANULARITY_S, f"{dialect}: {back} for {stamp} here")
        coax("rm", f"{guest}/D.TXT", "--dialect", dialect)


def refusals(coax, server, folder):
    """What cannot be done ends with 1, says why, and what to try."""
    wrong = coax("ls", url(server), code=1, environment={"COAX_PASSWORD": "nonsense"})
    expect("password" in wrong and "nonsense" not in wrong, wrong)
    missing = coax("get", url(server, "NO/SUCH.TXT"), folder, code=1)
    expect('"NO" does not exist' in missing, missing)
    expect(not list(folder.iterdir()), "nothing is left of it")
    nowhere = coax("ls", f"smb://{server.user}@{server.host}:{server.direct}/NOWHERE", code=1)
    expect("share" in nowhere.lower(), nowhere)


CASES = {
    "each verb": each_verb,
    "shares": shares,
    "overwriting": overwriting,
    "a tree of 500 files": tree,
    "names": names,
    "dates in every dialect": dates,
    "refusals": refusals,
}
