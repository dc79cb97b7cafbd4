"""What ty and the crawl make of small sources: occurrences, calls, types and overrides against goldens that a person can check."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from support import CORPORA, check_golden

from indexer.crawl.run import Crawl
from indexer.text import utf16_to_index

BEHAVIOURS = sorted(folder.name for folder in (CORPORA / "python").iterdir() if folder.is_dir())
_OWN = "python pip python . "


def _short(moniker: str | None) -> str:
    return "?" if moniker is None else moniker.removeprefix(_OWN)


def _graph(index: duckdb.DuckDBPyConnection, behaviour: str) -> str:
    """Each file with its occurrences and calls below each line, then types, overrides and unresolved imports."""
    sql = "SELECT symbol, path, sel_line FROM symbols WHERE path LIKE ? AND NOT is_external"
    names = {
        symbol: (f"local {path.removeprefix(f'{behaviour}/')}:{line + 1}" if symbol.startswith("local ") else _short(symbol))
        for symbol, path, line in index.execute(sql, [f"{behaviour}/%"]).fetchall()
    }

    def named(symbol: str | None) -> str:
        return names.get(symbol or "", _short(symbol))

    paths = [row[0] for row in index.execute("SELECT path FROM documents WHERE path LIKE ? ORDER BY path", [f"{behaviour}/%"]).fetchall()]
    out: list[str] = []
    for path in paths:
        out.append(f"==== {path.removeprefix(f'{behaviour}/')}")
        occurrences = index.execute(
            "SELECT line, col, end_col, roles, symbol, evidence FROM occurrences WHERE path = ? ORDER BY line, col, symbol", [path]
        ).fetchall()
        calls = index.execute("SELECT line, col, caller, callee, evidence FROM calls WHERE path = ? ORDER BY ALL", [path]).fetchall()
        for number, line in enumerate((CORPORA / "python" / path).read_text(encoding="utf-8").split("\n")):
            out.append(f"    {line}".rstrip())
            places = sorted({(row[1], row[2]) for row in occurrences if row[0] == number})
            for col, end_col in places:
                start, end = utf16_to_index(line, col), utf16_to_index(line, end_col)
                mark = f"    {' ' * start}{'^' * (end - start)}"
                for _, _, _, roles, symbol, evidence in [row for row in occurrences if row[:2] == (number, col)]:
                    if roles == ["definition"] or roles == ["definition", "write"]:
                        continue
                    out.append(f"{mark} {'+'.join(roles)} -> {named(symbol)} [{evidence}]")
                for _, _, caller, callee, evidence in [row for row in calls if row[:2] == (number, col)]:
                    out.append(f"{mark} CALL {named(caller)} -> {named(callee)} [{evidence}]")
        while out[-1] == "":
            out.pop()
    prefix = f"{_OWN}{behaviour}/%"
    for title, sql in (
        ("types", "SELECT subtype, supertype, evidence FROM type_edges WHERE subtype LIKE ? ORDER BY ALL"),
        ("overrides", "SELECT member, overridden, '' FROM overrides WHERE member LIKE ? ORDER BY ALL"),
    ):
        found = index.execute(sql, [prefix]).fetchall()
        if found:
            out.append(f"==== {title}")
            out += [f"{named(a)} -> {named(b)} {c}".rstrip() for a, b, c in found]
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_call_graph_of_small_sources(index: duckdb.DuckDBPyConnection, behaviour: str) -> None:
    """Occurrences, call edges, types and overrides of each corpus equal the golden that was checked by eye."""
    check_golden(f"call_graph/{behaviour}.txt", _graph(index, behaviour))


def test_nothing_is_lost_and_shared_answers_agree(corpora: Crawl) -> None:
    """The corpora crawl without loss, and asking the server about certain tokens confirms them."""
    assert corpora.manifest["lost"] == {}
    assert corpora.manifest["server_restarts"] == 0
    assert Path(corpora.generation).is_file()
