"""`coax explain --json` of every capture in tests/captures and captures, alone and joined, is valid by `coax explain --schema`.

No field may be missing from the schema: here its objects allow no others. A broken report must be refused, so that this test can fail.
"""
import copy
import json
import subprocess
import sys
from pathlib import Path

import jsonschema
from peers import subject

ROOT = Path(__file__).resolve().parents[2]
ENDINGS = (".pcap", ".pcapng", ".pcap.gz", ".pcapng.gz")


def coax(*arguments):
    return json.loads(subprocess.run([subject.coax_binary(), "explain", *map(str, arguments)], capture_output=True, check=True).stdout)


def strict(schema):
    """The schema without room for fields that it does not name."""
    schema = copy.deepcopy(schema)
    for one in (schema, *schema["$defs"].values()):
        if one.get("type") == "object":
            one["additionalProperties"] = False
    return schema


def captures():
    folders = [ROOT / "tests" / "captures", ROOT / "captures"]
    return sorted(path for folder in folders if folder.exists() for path in folder.rglob("*") if path.name.endswith(ENDINGS))


def pairs(paths):
    """The captures of both ends of one copy."""
    names = set(paths)
    both = [(path, path.with_name(path.name.replace("-client.", "-server."))) for path in paths if "-client." in path.name]
    return [pair for pair in both if pair[1] in names]


def main():
    schema = coax("--schema")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(strict(schema))
    files = captures()
    reports = [("all captures", coax("--json", *files))]
    reports += [(f"{one.name} joined", coax("--json", "--join", one, other)) for one, other in pairs(files)[:12]]
    wrong = [f"{name}: {error.json_path}: {error.message}" for name, report in reports for error in validator.iter_errors(report)]
    broken = copy.deepcopy(reports[0][1])
    broken["captures"][0]["quality"]["packets"] = "many"
    broken["captures"][0]["surprise"] = 1
    if len(list(validator.iter_errors(broken))) != 2:
        wrong.append("a report with two faults does not have two")
    print("\n".join(wrong[:20]) or f"{len(files)} captures and {len(reports) - 1} pairs are valid")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
