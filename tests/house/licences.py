"""Licences of dependencies against the list in deny.toml: by cargo-deny if it is installed, otherwise here."""
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OPERATOR = {"AND": " and ", "OR": " or ", "/": " or ", "(": "(", ")": ")"}


def allowed(expression, licences):
    """Whether the list satisfies an SPDX expression. Python's `and` binds tighter than `or`, as SPDX demands."""
    tokens = re.findall(r"\(|\)|/|[\w.+-]+ WITH [\w.+-]+|[\w.+-]+", expression)
    return bool(tokens) and eval("".join(OPERATOR.get(token) or str(token in licences) for token in tokens))


def main():
    if shutil.which("cargo-deny"):
        return subprocess.run(["cargo", "deny", "check", "licenses", "bans", "sources"], cwd=ROOT).returncode
    licences = set(tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]["allow"])
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
    refused = [package for package in packages if not allowed(package["license"] or "", licences)]
    for package in refused:
        print(f"licence not allowed: {package['name']} {package['version']}: {package['license'] or 'none stated'}")
    print(f"{len(packages)} packages, {len(refused)} with a licence that is not allowed")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
