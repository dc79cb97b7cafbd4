"""The table of `ci.bench.clones`: one line for each clone, before and after its download step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Result = Mapping[str, Any]

_MAIN_SHARE = 0.02
"""Languages with a smaller part of the files are summed up."""

_TOLD = 0.05
"""Of a language's open identifiers: a smaller part that names nothing is not told."""


def to_markdown(results: Sequence[Result]) -> str:
    """Cells whose value changed are `before → after`; the goals are counted below."""
    names = sorted({item["name"] for item in results}, key=str.lower)
    lines = [f"| clone | {' | '.join(_COLUMNS)} |", f"|---|{'|'.join('---:' if title in _NUMBERS else '---' for title in _COLUMNS)}|"]
    for name in names:
        stages = [item for stage in ("before", "after") for item in results if item["name"] == name and item["stage"] == stage]
        lines.append(f"| {name} | {' | '.join(_cell(cell, stages) for cell in _COLUMNS.values())} |")
    return "\n".join([*lines, "", *_goals(results)])


def line(result: Result) -> str:
    """One result, for who watches."""
    cells = ", ".join(f"{title} {text}" for title, cell in _COLUMNS.items() if (text := cell(result)))
    return f"{result['name']} ({result['stage']}): {cells}"


def _cell(cell: Callable[[Result], str], stages: Sequence[Result]) -> str:
    """A stage that has nothing to say where the other has is a dash."""
    texts = [cell(item) for item in stages]
    return texts[0] if len(set(texts)) == 1 else " → ".join(text or "–" for text in texts)


def _index(result: Result) -> Mapping[str, Any]:
    return result["index"] or {}


def _languages(result: Result) -> str:
    documents: Mapping[str, int] = _index(result).get("documents", {})
    total = sum(documents.values())
    ordered = sorted(documents.items(), key=lambda item: (-item[1], item[0]))
    main = [(name, count) for name, count in ordered if count >= _MAIN_SHARE * total]
    rest = total - sum(count for _, count in main)
    return ", ".join([*(f"{name} {count}" for name, count in main), *([f"others {rest}"] if rest else [])])


def _exit(result: Result) -> str:
    said = f"{result['status']}"
    said += f", after {result['limit_s']:g} s" if result["timed_out"] else ""
    said += ", no index" if result["index"] is None else ", partial" if _index(result)["partial"] else ""
    return said + (" **lies**" if lies(result) else "")


def lost_languages(result: Result) -> list[str]:
    """Languages of which a server was asked about no document with success."""
    index = _index(result)
    lost, total = index.get("lost_by_language", {}), index.get("documents", {})
    return sorted(name for name, count in lost.items() if count == total.get(name))


def lies(result: Result) -> bool:
    """Whether it says that all is well when a language is lost, or nothing was published."""
    return result["status"] == 0 and (result["index"] is None or bool(lost_languages(result)))


def _reasons(key: str) -> Callable[[Result], str]:
    return lambda result: ", ".join(f"{count} {name}" for name, count in sorted(_index(result).get(key, {}).items()))


def open_share(result: Result) -> float | None:
    """Of all identifiers, those that are unresolved; None where there is no index, or no identifier."""
    every = _index(result).get("resolution", {}).values()
    identifiers = sum(item["identifiers"] for item in every)
    return sum(item["unresolved"] for item in every) / identifiers if identifiers else None


def _open(result: Result) -> str:
    """Of the languages that matter, the one with most identifiers first; in brackets without what is known to name nothing."""
    nothing: Mapping[str, float] = _index(result).get("naming_nothing", {})
    ordered = sorted(_index(result).get("resolution", {}).items(), key=lambda item: -item[1]["identifiers"])
    total = sum(item["identifiers"] for _, item in ordered)
    return ", ".join(
        f"{name} {(share := 100 * item['unresolved'] / item['identifiers']):.1f} %"
        + (f" ({share * (1 - nothing[name]):.1f})" if nothing.get(name, 0.0) >= _TOLD else "")
        for name, item in ordered
        if item["identifiers"] and item["identifiers"] >= _MAIN_SHARE * total
    )


def _lacks(result: Result) -> str:
    return ", ".join(f"{item['language']}: {item['name']}" for item in _index(result).get("prerequisites", []))


def _servers(result: Result) -> str:
    index = _index(result)
    said = [f"{index[key]} {word}" for key, word in (("restarts", "restarted"), ("replaced", "replaced")) if index.get(key)]
    return ", ".join(said)


def _callers(result: Result) -> str:
    callers = result.get("callers") or {}
    judged = callers.get("right", 0) + callers.get("wrong", 0)
    return f"{callers['right']} of {judged}" if judged else ""


_COLUMNS: Mapping[str, Callable[[Result], str]] = {
    "files by language": _languages,
    "exit": _exit,
    "wall s": lambda result: f"{result['wall_s']:.0f}",
    "CPU s": lambda result: f"{result['cpu_s']:.0f}",
    "peak MB": lambda result: f"{result['peak_pss_mb'] or result['peak_rss_mb']:.0f}",
    "files lost": _reasons("lost"),
    "languages lost": lambda result: ", ".join(lost_languages(result)),
    "skipped": _reasons("skipped"),
    "identifiers open": _open,
    "imports open": lambda result: str(_index(result).get("counts", {}).get("unresolved_imports", "")),
    "lacks": _lacks,
    "servers": _servers,
    "callers right": _callers,
}
_NUMBERS = ("wall s", "CPU s", "peak MB", "imports open")


def _goals(results: Sequence[Result]) -> list[str]:
    """What the table is for, counted by stage."""
    said: list[str] = []
    for stage in ("before", "after"):
        chosen = [item for item in results if item["stage"] == stage]
        if not chosen:
            continue
        shares = {item["name"]: share for item in chosen if (share := open_share(item)) is not None}
        above = sorted(name for name, share in shares.items() if share > 0.08)
        lost = sorted(f"{item['name']} ({', '.join(lost_languages(item))})" for item in chosen if lost_languages(item))
        drawn = [item.get("callers") or {} for item in chosen]
        right, wrong = (sum(item.get(key, 0) for item in drawn) for key in ("right", "wrong"))
        late, without = sum(item["timed_out"] for item in chosen), sum(item["index"] is None for item in chosen)
        said += [
            f"{stage.capitalize()} the download step: {len(chosen)} clones; without an index {without}; not ended in time {late}; "
            f"exit codes that lie {sum(lies(item) for item in chosen)}; languages lost in {len(lost)}{_named(lost)}; "
            f"more than 8 % of the identifiers open in {len(above)}{_named(above)}; "
            f"callers right {right} of {right + wrong} that were read.",
            "",
        ]
    return said[:-1]


def _named(names: Sequence[str]) -> str:
    return f": {', '.join(names)}" if names else ""
