"""A sample of questions about real repositories: how many answers are complete, and are the doubts of the others ones that could matter?

Each repository is indexed as `lspidx index --fetch` leaves it, with its dependencies there. The questions are drawn with a fixed seed
from the symbols of its index, so the same index gives the same questions. Of the answers that are partial, some are written to a file
with their reasons and an empty `verdict` beside each; who has read it writes `matters` or `wolf` there, and the table counts them.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from ci.bench import clones
from ci.bench.corpora import Bench
from indexer.errors import EditRefused, LspidxError
from indexer.store.generations import FOLDER, Home
from query.facts.index import Index, open_index
from query.facts.symbols import TYPES
from query.surface.registry import call

REPOSITORIES = ("django", "flask", "celery", "core", "gin", "poetry")
"""Names of clones; `core` is vuejs/core."""

QUESTIONS = 200
READ = 40
SEED = 20261

_TOOLS = {
    "find_references": "symbol",
    "find_callers": "function",
    "blast_radius": "function",
    "unreferenced": "folder",
    "type_hierarchy": "type",
    "get_tests_for_file": "file",
    "safe_delete_symbol": "function outside tests",
}
"""What each question is drawn from."""

_FUNCTIONS = ("function", "method")
_VERDICTS = ("", "matters", "wolf")
_REASON_PATHS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and how complete its answer says that it is; `reasons` are pairs of code and sentence, with a few paths."""

    repository: str
    tool: str
    about: str
    status: str
    reasons: Sequence[Sequence[str]] = ()


# ---- repositories


def indexed(bench: Bench, repository: str, source: Path) -> Path:
    """The indexed copy of a clone, or of a source tree that is none, with its dependencies; one that is there is taken as it is.

    Raises:
        RuntimeError: there is no index after the run; the message names its log.
    """
    runner = clones.Bench(bench.folder / "completeness", clones.COMMAND, jobs=2, limit_s=1800.0)
    if not (source / ".git").exists():
        source = _as_repository(source, bench.folder / "completeness" / "sources" / repository)
    root = runner.folder / "work" / "after" / source.name / source.name
    if Home(root).current() is None:
        runner.measure(source, "after", keep=True)
    if Home(root).current() is None:
        raise RuntimeError(f"{repository} has no index; see {runner.folder / 'log' / f'{source.name}-after.log'}")
    return root


def _as_repository(source: Path, place: Path) -> Path:
    if not place.is_dir():
        shutil.copytree(source, place, ignore=shutil.ignore_patterns(FOLDER))
        for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=bench", "-c", "user.email=", "commit", "-q", "-m", "source")):
            subprocess.run(["git", *words], cwd=place, check=True)
    return place


# ---- questions


def ask_all(repository: str, root: Path, number: int) -> list[Asked]:
    """So many questions, the tools in turn; what a tool cannot be asked about is drawn again."""
    asked: list[Asked] = []
    with open_index(root) as index:
        drawn = _drawn(index)
        for tool in cycle(_TOOLS):
            if len(asked) >= number or not any(drawn.values()):
                return asked
            while drawn[tool]:
                about = drawn[tool].pop()
                try:
                    asked.append(_answered(index, repository, tool, about))
                except LspidxError:  # an ambiguous name, a kind of symbol that the tool does not take
                    continue
                break
    raise AssertionError


def _drawn(index: Index) -> dict[str, list[dict[str, str]]]:
    """By tool, what it can be asked about, in an order that the seed gives; the last is asked first."""
    symbols = index.rows(
        "SELECT s.symbol, s.name, s.kind, s.path, c.name, c.kind, d.is_test FROM symbols s JOIN documents d USING (path)"
        " LEFT JOIN symbols c ON c.symbol = s.container"
        " WHERE NOT s.is_external AND NOT s.is_local AND d.status <> 'skipped' ORDER BY ALL"
    )
    paths = index.rows("SELECT path FROM documents WHERE status <> 'skipped' AND NOT is_test ORDER BY path")
    whole: dict[str, list[dict[str, str]]] = {of: [] for of in _TOOLS.values()}
    for symbol, name, kind, path, container, container_kind, is_test in symbols:
        dotted = f"{container}.{name}" if container_kind in TYPES else name
        row = {"symbol": symbol, "name": dotted, "path": path}
        whole["symbol"].append(row)
        if kind in _FUNCTIONS or kind in TYPES:
            whole["type" if kind in TYPES else "function"].append(row)
        if kind in _FUNCTIONS and not is_test:  # what a runner calls is never deleted
            whole["function outside tests"].append(row)
    whole["file"] = [{"path": path} for (path,) in paths]
    whole["folder"] = [{"path": folder} for folder in sorted({path.rpartition("/")[0] for (path,) in paths}) if folder]
    found: dict[str, list[dict[str, str]]] = {}
    for number, (tool, of) in enumerate(_TOOLS.items()):
        found[tool] = list(whole[of])
        random.Random(SEED + number).shuffle(found[tool])
    return found


def _answered(index: Index, repository: str, tool: str, about: Mapping[str, str]) -> Asked:
    arguments: dict[str, Any] = {
        "unreferenced": {"path": about["path"]},
        "get_tests_for_file": {"file_path": about["path"]},
        "safe_delete_symbol": {"file_path": about["path"], "symbol_path": about.get("name", "")},
        "find_callers": {"symbol": about.get("symbol", ""), "direction": "incoming"},
    }.get(tool, {"symbol": about.get("symbol", "")})
    named = about.get("symbol", about["path"])
    try:
        known = call(index, tool, arguments).completeness
    except EditRefused as error:
        uses = call(index, "find_references", {"symbol": about["symbol"], "include_declaration": False})
        if uses.total:  # refused for what is known
            return Asked(repository=repository, tool=tool, about=named, status="complete")
        return Asked(repository=repository, tool=tool, about=named, status="partial", reasons=[("refused", str(error))])
    reasons = [
        (reason.code, reason.detail + (f" ({', '.join(reason.paths[:_REASON_PATHS])})" if reason.paths else "")) for reason in known.reasons
    ]
    return Asked(repository=repository, tool=tool, about=named, status=known.status, reasons=reasons)


# ---- the partial ones, for reading

_HEAD = """# Could a reason hide something that was asked about? verdict = "matters", or "wolf" if it could not; a `why` where it helps.
# Who reads this looks at the sources, not at the words alone.
"""


def write_partial(place: Path, asked: Sequence[Asked], number: int = READ) -> None:
    """Some of the partial answers, drawn with the seed; verdicts that were given on the same answers stay."""
    before = {(row["repository"], row["tool"], row["about"], tuple(row["reasons"])): row for row in _read(place)}
    partial = [item for item in asked if item.status != "complete"]
    random.Random(SEED).shuffle(partial)
    parts = [_HEAD]
    for item in partial[:number]:
        reasons = [f"{code}: {detail}" for code, detail in item.reasons]
        old = before.get((item.repository, item.tool, item.about, tuple(reasons)), {})
        row = {
            "repository": item.repository, "tool": item.tool, "about": item.about, "reasons": reasons, "verdict": old.get("verdict", ""),
            **({"why": old["why"]} if old.get("why") else {}),
        }  # fmt: skip
        parts.append("\n[[answer]]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in row.items()))
    place.write_text("".join(parts), encoding="utf-8")


def _toml(value: str | Sequence[str]) -> str:
    return clones.toml_text(value) if isinstance(value, str) else f"[{', '.join(map(clones.toml_text, value))}]"


def _read(place: Path) -> list[dict[str, Any]]:
    """Raises ValueError where a person has left something that is no TOML, or another word for a verdict."""
    if not place.is_file():
        return []
    try:
        rows: list[dict[str, Any]] = tomllib.loads(place.read_text(encoding="utf-8")).get("answer", [])
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{place}: {error}") from error
    for row in rows:
        if row.get("verdict", "") not in _VERDICTS:
            raise ValueError(f"{place}: the verdict on {row['about']} is '{row['verdict']}', neither 'matters' nor 'wolf'")
    return rows


def judged(place: Path) -> dict[str, int]:
    """How many partial answers were drawn for reading, and what was said of them."""
    verdicts = [row.get("verdict", "") for row in _read(place)]
    return {"drawn": len(verdicts), **{word: verdicts.count(word) for word in _VERDICTS if word}}


# ---- the record and the tables


def record(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    return [asdict(item) for item in asked]


def to_markdown(asked: Sequence[Mapping[str, Any]], read: Mapping[str, int]) -> str:
    """How many are complete by repository and by tool, what the others say, and what their readers said."""
    lines = [
        f"| repository | {' | '.join(_TOOLS)} | complete % |",
        f"|---|{'---:|' * (len(_TOOLS) + 1)}",
    ]
    names = list(dict.fromkeys(item["repository"] for item in asked))
    for name in [*names, ""]:
        chosen = [item for item in asked if item["repository"] == name or not name]
        cells = [_share([item for item in chosen if item["tool"] == tool]) for tool in _TOOLS]
        whole = sum(item["status"] == "complete" for item in chosen)
        lines.append(f"| {name or 'all'} | {' | '.join(cells)} | {100 * whole / max(len(chosen), 1):.0f} |")
    codes = Counter(code for item in asked for code in {code for code, _ in item["reasons"]})
    lines += ["", "| reason | answers that give it |", "|---|---:|", *(f"| {code} | {number} |" for code, number in codes.most_common())]
    said = read["matters"] + read["wolf"]
    lines += [
        "",
        f"Partial answers that were read: {said} of {read['drawn']} drawn; {read['matters']} could matter, {read['wolf']} could not.",
    ]
    return "\n".join(lines)


def _share(chosen: Sequence[Mapping[str, Any]]) -> str:
    return f"{sum(item['status'] == 'complete' for item in chosen)} of {len(chosen)}"
