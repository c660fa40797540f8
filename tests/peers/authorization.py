"""Who may send which request on whose tree: authorization.toml, over TCP, against coax and smbd.

Every cell is one request of one caller on a tree that the owner connected. Exit code 0 when every answer is as the file
says. `--record` prints what a server answers as the file's [results] tables instead of judging it.
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import struct
import sys
import textwrap
import time
import tomllib
from pathlib import Path

from . import subject
from .rawsmb import CLOSE, CLOSE_PRINT_FILE, LOGOFF_ANDX, OPEN_PRINT_FILE, SEARCH, Connection, Reply, SmbError, text

TABLE = Path(__file__).parent / "authorization.toml"
# The Unix accounts that smbd needs behind its users.
OWNER, OTHER = subject.USER, "smbother"
UNKNOWN_UID = 0x7777
# An answer takes a while on a busy machine, above all that to the first print job, for which smbd starts its spooler.
ANSWER_SECONDS = 60
# smbd does not answer reads of an empty pipe. It has to stay silent for this time.
SILENCE_SECONDS = 2
TRANSACTIONS = {"transaction": 0x25, "transaction2": 0x32, "nt-transact": 0xA0}
FIND_CLOSE2, FIND_FIRST2, WRITE_RAW = 0x34, 1, 0x1D
# A request after which the sessions and the tree are not as the next cell needs them.
ENDS_SOMETHING = {0x11, 0x71, 0x74, 0x75}


def encode(template, values):
    """The bytes of a template: hexadecimal digits, 'text', and names of values."""
    out = b""
    for quoted, word in re.findall(r"'([^']*)'|(\S+)", template):
        out += values[word] if word in values else bytes.fromhex(word) if word else quoted.encode("cp850")
    return out


def message(request, values):
    """A request's command, words and bytes."""
    part = {key: encode(request.get(key, ""), values) for key in ("words", "bytes", "setup", "parameters", "data")}
    if "command" in request:
        return request["command"], part["words"], part["bytes"]
    kind = request["kind"]
    name = request.get("pipe", "").encode() + b"\0" if kind == "transaction" else b""
    setup = struct.pack("<H", request["function"]) if kind == "transaction2" else part["setup"]
    counts = (19 if kind == "nt-transact" else 14) + len(setup) // 2
    at = 32 + 1 + 2 * counts + 2
    data = name + bytes(-(at + len(name)) % 4)
    parameters_at = at + len(data)
    data += part["parameters"] + bytes(-len(part["parameters"]) % 4)
    data_at = at + len(data)
    data += part["data"]
    sizes = len(part["parameters"]), len(part["data"])
    if kind == "nt-transact":
        words = struct.pack("<BHIIIIIIIIBH", 0, 0, *sizes, 64, 4000, sizes[0], parameters_at, sizes[1], data_at,
                            len(setup) // 2, request["function"])
    else:
        words = struct.pack("<HHHHBBHIHHHHHBB", *sizes, 64, 4000, 0, 0, 0, 0, 0, sizes[0], parameters_at, sizes[1],
                            data_at, len(setup) // 2, 0)
    return TRANSACTIONS[kind], words + setup, data


class Stage:
    """A connection on which the owner has connected a share, and every other caller has a session."""

    def __init__(self, server, name, share, folder):
        self.server, self.name, self.share, self.folder = server, name, share, folder
        self.client = None
        self.fid = None
        self.values = {}

    def connect(self):
        if self.client:
            self.client.close()
        client = self.client = Connection(self.server.host, self.server.direct, timeout=ANSWER_SECONDS)
        client.negotiate("NT1")
        self.uids = {"unknown": UNKNOWN_UID}
        users = {"owner": (OWNER, subject.PASSWORD), "other": (OTHER, subject.PASSWORD), "guest": ("nosuchuser", "x"),
                 "null": ("", ""), "logged-off": (OWNER, subject.PASSWORD)}
        for caller, (user, password) in users.items():
            client.uid = 0
            client.log_on(user, password)
            self.uids[caller] = client.uid
        client.call(LOGOFF_ANDX, b"\xff\0\0\0")
        client.uid = self.uids["owner"]
        client.tree_connect_andx(self.server.name, self.name)
        self.fid = None

    def prepare(self):
        """Files as every request finds them, and the owner's FID, search and resume key."""
        client = self.client
        client.uid = self.uids["owner"]
        self.release()
        self.plant()
        opens = self.share["opens"]
        if opens == "print":
            self.fid = client.call(OPEN_PRINT_FILE, struct.pack("<HH", 0, 1), text("JOB")).word(0)
        elif opens == "pipe":
            self.fid = client.nt_create(r"\srvsvc")
        else:
            self.fid = client.nt_create("F.TXT", 0x0012_019F if opens == "write" else 0x0012_0089)
        sid, key = 0xFFFE, bytes(21)
        if opens in ("write", "read"):
            parameters, _ = client.trans2(FIND_FIRST2, struct.pack("<HHHHI", 0x16, 1, 0, 1, 0) + b"*\0")
            (sid,) = struct.unpack_from("<H", parameters)
            found = client.call(SEARCH, struct.pack("<HH", 1, 0x16), text("????????.???") + b"\x05\0\0")
            key = found.data[3:24]
        word = struct.Struct("<H").pack
        self.values = {"fid": word(self.fid), "sid": word(sid), "tid": word(client.tid), "key": key,
                       "share": f"\\\\{self.server.name}\\{self.name}".encode()}
        self.sid = sid

    def release(self):
        if self.fid is None:
            return
        with contextlib.suppress(SmbError):
            if self.share["opens"] == "print":
                self.client.call(CLOSE_PRINT_FILE, struct.pack("<H", self.fid))
            else:
                self.client.call(CLOSE, struct.pack("<HI", self.fid, 0))
        if self.share["opens"] in ("write", "read"):
            with contextlib.suppress(SmbError):
                self.client.call(FIND_CLOSE2, struct.pack("<H", self.sid))

    def plant(self):
        for entry in self.folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        for folder in ("D", "EMPTY"):
            (self.folder / folder).mkdir()
            (self.folder / folder).chmod(0o777)
        for file in ("F.TXT", "G.TXT"):
            (self.folder / file).write_bytes(b"0123456789abcdef")
            (self.folder / file).chmod(0o666)

    def ask(self, caller, request, seconds):
        """The status that answers a request within that time, as the wire has it, or what came instead."""
        client = self.client
        client.uid = self.uids[caller]
        command, words, data = message(request, self.values)
        client.send(command, words, data)
        client.socket.settimeout(seconds)
        try:
            frame = client.receive_frame()
        except TimeoutError:
            return "nothing"
        except ConnectionError:
            return "closed"
        finally:
            client.socket.settimeout(ANSWER_SECONDS)
        if not bytes(frame[:4]) == b"\xffSMB":
            return "raw data" if len(frame) else "raw nothing"
        reply = Reply(frame)
        if command == reply.command == WRITE_RAW and reply.status == 0:
            client.socket.sendall(struct.pack(">I", 0))  # the rest of the data: there is none
            reply = Reply(client.receive_frame())
        return reply.status


def run(server, table, folders, silent):
    """What the server answers: {(share, caller, request): status}. `silent` says of a cell whether silence is expected."""
    results = {}
    for name, share in table["shares"].items():
        stage = Stage(server, name, share, folders[name])
        for caller in table["callers"]:
            stage.connect()
            stage.prepare()
            for request in table["request"]:
                cell = name, caller, request["name"]
                answer = results[cell] = stage.ask(caller, request, SILENCE_SECONDS if silent(*cell) else ANSWER_SECONDS)
                if answer in ("closed", "nothing") or request.get("command") in ENDS_SOMETHING:
                    stage.connect()
                    stage.prepare()
                elif caller == "owner" or answer == 0 or answer == "raw data":
                    stage.prepare()
        stage.client.close()
    return results


def verdict(table, answer):
    """What an answer comes to."""
    if isinstance(answer, str):
        return "served" if answer == "raw data" else answer
    return next((name for name, statuses in table["verdicts"].items() if answer in statuses), "served")


def expected(table, kind, share, caller, request):
    """What the file says that a server of that kind answers."""
    if kind == "coax":
        here = {"shares": share, "callers": caller, "requests": request}
        for difference in table["difference"]:
            if all(value in difference.get(key, [value]) for key, value in here.items()):
                if "as" in difference:
                    return expected(table, kind, share, caller, difference["as"])
                return difference["answer"]
    row = table["results"][share][caller]
    if isinstance(row, str):
        row = table["results"][share][row.removeprefix("as ")]
    return next((answer for answer, names in row.items() if answer != "default" and request in names), row["default"])


def judge(table, kind, results):
    """A line for every cell that is not as the file says."""
    wrong = []
    for cell, answer in results.items():
        wanted, found = expected(table, kind, *cell), verdict(table, answer)
        if found != wanted:
            status = answer if isinstance(answer, str) else f"{answer:#010x}"
            wrong.append(f"{kind}: {': '.join(cell)}: {found} ({status}), not {wanted}")
    return wrong


def record(table, results):
    """The results as tables: per share and caller the commonest verdict, and the requests answered otherwise."""
    lines = []
    for share in table["shares"]:
        rows = {}
        for caller in table["callers"]:
            by_verdict = {}
            for request in table["request"]:
                found = verdict(table, results[share, caller, request["name"]])
                by_verdict.setdefault(found, []).append(request["name"])
            rows[caller] = dict(sorted(by_verdict.items(), key=lambda item: -len(item[1])))
        lines += ["", f'[results.{json.dumps(share)}]']
        for caller, row in rows.items():
            like = next(other for other in rows if rows[other] == row)
            if like != caller:
                lines.append(f'{caller} = "as {like}"')
                continue
            (default, _), *others = row.items()
            lines.append(f'{caller}.default = "{default}"')
            for found, names in others:
                lines.append(f"{caller}.{json.dumps(found)} = [")
                lines += textwrap.wrap(", ".join(f'"{name.replace(" ", chr(1))}"' for name in names) + ",", 116,
                                       initial_indent="  ", subsequent_indent="  ", break_long_words=False)
                lines.append("]")
    return "\n".join(lines).replace(chr(1), " ")


@contextlib.contextmanager
def started(kind, table):
    """The server with the table's shares, and each share's folder."""
    with subject.scratch_folder(None) as base:
        folders = {}
        shares = {}
        for name, share in table["shares"].items():
            folder = folders[name] = base / name.strip("$").lower()
            folder.mkdir()
            folder.chmod(0o777)
            config = {key: value.replace("owner", OWNER) for key, value in share["config"].items()}
            if share["opens"] != "pipe":
                shares[name] = {"path": folder, **config}
        more = {"printing": "bsd", "print command": "true %s", "lpq command": "true", "lprm command": "true"} if kind == "smbd" else {}
        with subject.start(kind, more_shares=shares, globals_=more, more_users=[OTHER]) as server:
            yield server, folders


def main():
    parser = argparse.ArgumentParser(prog="scripts/test --only authorization --", description=__doc__)
    parser.add_argument("--subject", default="coax,smbd", help="coax, smbd or both, with a comma")
    parser.add_argument("--record", action="store_true", help="print what the servers answer as the file has it")
    arguments = parser.parse_args()
    kinds = arguments.subject.split(",")
    if "smbd" in kinds and os.geteuid() != 0:
        sys.exit("smbd needs a second Unix account for the matrix, and only root can make one: --subject coax")
    table = tomllib.loads(TABLE.read_text())
    with concurrent.futures.ThreadPoolExecutor() as pool:
        outcomes = pool.map(lambda kind: measure(kind, table, arguments.record), kinds)
    wrong = []
    for kind, (results, seconds) in zip(kinds, outcomes):
        if arguments.record:
            print(record(table, results))
            continue
        differs = judge(table, kind, results)
        print(f"{kind}: {len(results) - len(differs)} of {len(results)} cells as expected in {seconds:.1f} s")
        wrong += differs
    print("\n".join(wrong))
    return 1 if wrong else 0


def measure(kind, table, recording):
    def silent(*cell):
        return recording or expected(table, kind, *cell) == "nothing"
    began = time.monotonic()
    with started(kind, table) as (server, folders):
        return run(server, table, folders, silent), time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
