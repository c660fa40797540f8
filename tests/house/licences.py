"""Every dependency's licence against a list of those that go with "MIT OR Apache-2.0"."""
import json
import re
import subprocess
import sys

ALLOWED = {
    "MIT", "MIT-0", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause",
    "0BSD", "ISC", "Zlib", "Unlicense", "CC0-1.0", "Unicode-3.0", "Unicode-DFS-2016", "BSL-1.0",
}


def allowed(expression):
    """Whether an SPDX expression leaves us a choice on the list. AND binds tighter than OR; brackets are honoured."""
    tokens = re.findall(r"\(|\)|[^\s()/]+|/", expression)
    words, position = [], 0
    while position < len(tokens):  # "X WITH Y" is one licence
        if position + 2 < len(tokens) and tokens[position + 1] == "WITH":
            words.append(" ".join(tokens[position : position + 3]))
            position += 3
        else:
            words.append("OR" if tokens[position] == "/" else tokens[position])
            position += 1
    value, rest = either(words)
    return value and not rest


def either(words):
    value, words = both(words)
    while words and words[0] == "OR":
        other, words = both(words[1:])
        value = value or other
    return value, words


def both(words):
    value, words = single(words)
    while words and words[0] == "AND":
        other, words = single(words[1:])
        value = value and other
    return value, words


def single(words):
    if not words:
        return False, words
    if words[0] == "(":
        value, words = either(words[1:])
        return value, words[1:]
    return words[0] in ALLOWED, words[1:]


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
    refused = [
        f"{package['name']} {package['version']}: {package['license'] or 'no licence stated'}"
        for package in packages
        if not allowed(package["license"] or "")
    ]
    for line in refused:
        print(f"not on the list: {line}")
    print(f"{len(packages)} packages, {len(refused)} refused")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
