"""What clients were promised of each file, and whether a folder still keeps it.

A change passes through three states. It is *begun* when the request is sent: from then on it may or may not show. It is
*acknowledged* when the reply arrives. It is *promised* when the contract (docs/durability.md) says that it outlives the
fault under test; every earlier acknowledged change of the same file is promised with it.
"""
import dataclasses


@dataclasses.dataclass
class Change:
    """A write of `data` at `offset`, or with `data` None a change of the length to `offset`."""

    offset: int
    data: bytes | None
    acknowledged: bool = False

    @property
    def end(self):
        return self.offset + len(self.data or b"")

    def apply(self, content):
        if self.data is None:
            del content[self.offset :]
            content.extend(bytes(self.offset - len(content)))
            return
        content.extend(bytes(max(0, self.offset - len(content))))
        content[self.offset : self.end] = self.data


class File:
    """One file through all its names. Names are never used again."""

    def __init__(self, name):
        self.names = [name]  # oldest first; the last one is the latest begun
        self.content = bytearray()  # all acknowledged changes
        self.changes = []  # since the last promise, oldest first
        self.acknowledged_name = None
        self.deletion = None  # None, "begun", "acknowledged"
        self.promised_content = self.promised_name = None
        self.promised_deletion = False
        self.attributes = {}  # promised ones: seconds of the last write

    # --- what a client does

    def begin(self, offset, data):
        change = Change(offset, data)
        self.changes.append(change)
        return change

    def acknowledge(self, change):
        change.acknowledged = True
        change.apply(self.content)

    def acknowledge_name(self):
        self.acknowledged_name = self.names[-1]

    def begin_rename(self, name):
        self.names.append(name)

    def promise(self):
        """All that is acknowledged outlives the fault."""
        self.promised_content = bytes(self.content)
        self.promised_name = self.acknowledged_name
        self.promised_deletion = self.deletion == "acknowledged"
        self.changes = [change for change in self.changes if not change.acknowledged]

    # --- whether it was kept

    def losses(self, folder):
        """Sentences about what is wrong, and how many promised bytes are lost."""
        present = [name for name in self.names if (folder / name).exists()]
        if self.promised_deletion:
            return ([f"{present[0]} was deleted and is there"], 1) if present else ([], 0)
        if self.promised_content is None:
            return [], 0
        stale = self.names[: self.names.index(self.promised_name)]
        wrong = [f"{name} was renamed and is there" for name in present if name in stale]
        if wrong:
            return wrong, 1
        if not present:
            if self.deletion:
                return [], 0
            return [f"{self.promised_name} is missing, {len(self.promised_content)} bytes"], max(1, len(self.promised_content))
        return self.damage(present[-1], (folder / present[-1]).read_bytes(), (folder / present[-1]).stat())

    def damage(self, name, found, status):
        wrong, lost = [], self.missing(found) + self.differing(found)
        if lost:
            wrong.append(f"{name}: {lost} of {len(self.promised_content)} promised bytes are lost")
        if self.attributes and int(status.st_mtime) != self.attributes["modified"]:
            wrong.append(f"{name}: time {int(status.st_mtime)} instead of {self.attributes['modified']}")
            lost += 1
        return wrong, lost

    def missing(self, found):
        cuts = [change.offset for change in self.changes if change.data is None]
        least = min([len(self.promised_content), *cuts])
        return max(0, least - len(found))

    def differing(self, found):
        """Bytes that are neither promised nor what a later change would have left there."""
        promised = self.promised_content[: len(found)]
        if not self.changes:
            return sum(1 for one, other in zip(promised, found) if one != other) if promised != found[: len(promised)] else 0
        allowed = [{byte} for byte in promised]
        for change in self.changes:
            if change.data is None:
                for place in range(change.offset, len(allowed)):
                    allowed[place].add(0)
                continue
            for place in range(change.offset, min(change.end, len(allowed))):
                allowed[place].add(change.data[place - change.offset])
        return sum(1 for place, choices in enumerate(allowed) if found[place] not in choices)


class Folder:
    """A folder that was made."""

    def __init__(self, name):
        self.name, self.promised = name, False

    def losses(self, folder):
        if self.promised and not (folder / self.name).is_dir():
            return [f"folder {self.name} is missing"], 1
        return [], 0
