"""The page of figures, docs/evidence/accuracy-real.md: tables and prose between marks."""
import collections
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "accuracy-real.md"
ENDS, JOINED = ("client", "server"), "joined"
# name, aim, whether the figure is to be at least the aim, unit
AIMS = (("dominant cause right, from one end", 92, True, " %"), ("dominant cause right, both captures joined", 97, True, " %"),
        ("mean error of a share, from one end, points", 6, False, ""), ("both ends name the same cause", 90, True, " %"),
        ("contradictions of kernel counters", 0, False, ""))
WORST = 5  # families that are named


def write_page(**tables):
    """Puts each table between its two marks in the page."""
    page = PAGE.read_text()
    for mark, lines in tables.items():
        begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
        before, found, rest = page.partition(begin)
        if not found or end not in rest:
            raise SystemExit(f"{PAGE} lacks the marks `{begin.strip()}` and `{end}`: restore them from git")
        page = before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(page)


def measured(rows):
    """The figures of AIMS, in their order; None: not measured."""
    one, together = [row for row in rows if row["end"] in ENDS], [row for row in rows if row["end"] == JOINED]
    tops = collections.defaultdict(set)
    for row in one:
        tops[row["copy"]].add(row["top"])
    mean = lambda values, scale: scale * sum(values) / len(values) if values else None
    return (mean([row["right"] for row in one], 100), mean([row["right"] for row in together], 100), mean([row["share_error"] for row in one], 1),
            mean([len(of) == 1 for of in tops.values()], 100), sum(len(row["contradicted"]) for row in rows))


def lead(rows):
    """The aims beside the figures."""
    yield "| figure | aim | measured | reached |\n|---|--:|--:|---|"
    for (name, aim, is_least, unit), figure in zip(AIMS, measured(rows)):
        if figure is None:
            yield f"| {name} | {'≥' if is_least else '≤'} {aim}{unit} | – | not measured |"
            continue
        reached = figure >= aim if is_least else figure <= aim
        said = str(figure) if isinstance(figure, int) else f"{figure:.1f}{unit}"
        yield f"| {name} | {'≥' if is_least else '≤' if aim else ''} {aim}{unit} | {said} | {'yes' if reached else 'no'} |".replace("|  0", "| 0")


def failures(rows):
    """What fails most in the development families, as lines."""
    wrong = [row for row in rows if not row["held_out"] and not row["right"]]
    captures = collections.Counter(family(row) for row in rows if not row["held_out"])
    if not wrong:
        return ["In the development families, every dominant cause was right."]
    found = [f"What fails most in the development families ({len(wrong)} of {sum(captures.values())} reports are wrong; joined reports count too):", ""]
    for name, count in collections.Counter(map(family, wrong)).most_common(WORST):
        pairs = collections.Counter((largest(row), row["top"] or "no copy") for row in wrong if family(row) == name)
        said = "; ".join(f"`{truth}` reported as `{top}`" + (f" ({times})" if times > 1 else "") for (truth, top), times in pairs.most_common())
        found.append(f"- `{name}`: {count} of {captures[name]} wrong: {said}.")
    return found


def family(row):
    return row["copy"].rpartition("-")[0]


def largest(row):
    return max(row["shares"], key=row["shares"].get)


def contradicted(rows):
    """Contradictions in the development families, and how many of the others have some."""
    named = [f"- `{family(row)}`, {row['end']}: {one}." for row in rows if not row["held_out"] for one in row["contradicted"]]
    hidden = sum(len(row["contradicted"]) for row in rows if row["held_out"])
    return named + ([f"- held-out families: {hidden}."] if hidden else [])


def commands(rows):
    """How the copies were made."""
    copies = collections.defaultdict(set)
    for row in rows:
        copies[int(row["copy"].rpartition("-")[2]) // 10_000].add(row["copy"])
    made = [f"scripts/explain-real --seed {seed} --copies N --logs FOLDER --no-explain   # {len(names)} copies judged" for seed, names in sorted(copies.items())]
    return ["```", *made, "scripts/explain-real --from FOLDER --write", "```"]
