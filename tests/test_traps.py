"""An answer never says "complete" where a use is missing, and never "partial" where nothing can be; see `ci/bench/traps.py`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from toolchains import requires

from ci.bench.traps import Said, Trap, ask, build, judge_all, load_traps, parsed, to_text, workspaces
from indexer.cargo.toolchain import find_toolchain
from query.facts.index import Index, open_index

TRAPS = load_traps()
NEEDS: dict[str, tuple[str, ...]] = {
    "typescript": ("ts7",),
    "go": ("gopls",),
    "cpp": ("clangd",),
    "rust": ("cargo", "rust-analyzer"),
    "java": ("javac",),
    "bash": ("bash-language-server",),
    "php": ("intelephense",),
    "other_languages": ("clangd", "ts7"),
    "other_languages_go": ("clangd", "gopls"),
    "other_languages_rust": ("clangd", "cargo", "rust-analyzer"),
}
"""What the tables need beyond ty."""

_PENDING_FOR: dict[str, str] = {}
"""Traps that an answer still falls into, and harmless cases that it still doubts, by what will cure them. The aim is none."""

BY_LIBRARY = frozenset({"rs_known_operator", "rs_inherent"})
"""Harmless only where Rust's standard library has its sources, which no registry brings: elsewhere the answer names what is not known."""

TRAPS_AT = Path(__file__).with_name("traps")

PENDING = {name: cure for cure, names in _PENDING_FOR.items() for name in names.split()}

Opened = Callable[[Trap], Index]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Opens the index of a trap's workspace, which is made once."""
    folder = tmp_path_factory.mktemp("traps")
    groups = workspaces(TRAPS)
    known: dict[str, Index] = {}

    def index_of(trap: Trap) -> Index:
        requires(*NEEDS.get(trap.language, ()))
        if trap.workspace not in known:
            known[trap.workspace] = open_index(build(groups[trap.workspace], folder))
        return known[trap.workspace]

    yield index_of
    for index in known.values():
        index.close()


def _cases(*, is_trap: bool) -> list[object]:
    return [
        pytest.param(trap, id=trap.name, marks=[pytest.mark.xfail(strict=True, reason=PENDING[trap.name])] if trap.name in PENDING else [])
        for trap in TRAPS
        if trap.tool and trap.is_trap == is_trap
    ]


@pytest.mark.slow
@pytest.mark.parametrize("trap", _cases(is_trap=True))
def test_an_answer_holds_the_planted_use_or_names_what_hides_it(trap: Trap, opened: Opened):
    verdict = ask(trap, opened(trap))
    assert verdict.passed, f"{trap.what}: {verdict.said.value}; {verdict.told}"


@pytest.mark.slow
@pytest.mark.parametrize("trap", _cases(is_trap=False))
def test_what_cannot_touch_a_question_leaves_its_answer_complete(trap: Trap, opened: Opened):
    verdict = ask(trap, opened(trap))
    if trap.name in BY_LIBRARY and not find_toolchain(TRAPS_AT, os.environ).sources:
        assert verdict.said is Said.WOLF, "without the sources of the library a server knows no type of an operator"
        assert "nameless_calls" in verdict.told
        return
    assert verdict.passed, f"{trap.what}: {verdict.said.value}; {verdict.told}"


def test_there_are_sixty_traps_and_half_as_many_harmless_cases():
    asked = [trap for trap in TRAPS if trap.tool]
    traps = [trap for trap in asked if trap.is_trap]
    assert len(traps) >= 60
    assert len(asked) - len(traps) >= 30
    assert {trap.language for trap in traps} >= {"python", "typescript", "go", "cpp", "rust", "java"}
    assert not set(PENDING) - {trap.name for trap in asked}


# ---- the tables and the judgement


TABLE = """=== shared
--- lib/all.py
x = 1

=== kept
what: one
ask: find_callers direction=incoming depth=2
--- lib/a.py
def used():  ▶
    return 1


TABLE = [used]  ◀
--- after: lib/b.py * 2
y = 2
"""


def test_a_table_gives_files_without_signs_and_places_with_their_lines(tmp_path: Path):
    (tmp_path / "python.txt").write_text(TABLE, encoding="utf-8")
    shared, kept = parsed(tmp_path / "python.txt")
    assert (shared.tool, dict(shared.files)) == ("", {"lib/all.py": "x = 1\n"})
    assert kept.files["lib/a.py"] == "def used():\n    return 1\n\n\nTABLE = [used]\n"
    assert (kept.subject, list(kept.planted)) == (("lib/a.py", 1), [("lib/a.py", 5)])
    assert dict(kept.after) == {"lib/b.py": "y = 2\ny = 2\n"}
    assert (kept.tool, dict(kept.arguments)) == ("find_callers", {"direction": "incoming", "depth": "2"})
    assert list(workspaces([shared, kept])) == ["python"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (("find_callers direction=incoming depth=2", "find_references"), Said.ROW),
        (("find_callers direction=incoming depth=2", "find_references path=lib/all.py"), Said.SILENT),
        (("ask: find_callers direction=incoming depth=2", "expect: complete\nask: find_references"), Said.COMPLETE),
        (("ask: find_callers direction=incoming depth=2", "expect: complete\nask: find_references path=lib/all.py"), Said.WOLF),
        (("ask: find_callers direction=incoming depth=2", "ask: find_references\nexpect: refused"), Said.SILENT),
        (("def used():  ▶\n    return 1\n", "def used():  ▶\n    return 1\n\n\ndef other(:\n    used(\n"), Said.NAMED),
    ],
)
def test_an_answer_is_judged_by_its_rows_and_its_reasons(changed: tuple[str, str], said: Said, tmp_path: Path):
    text = TABLE.replace(*changed).replace("--- after: lib/b.py * 2\ny = 2\n", "")
    assert text != TABLE
    (tmp_path / "python.txt").write_text(text, encoding="utf-8")
    verdicts = judge_all(tmp_path / "made", tmp_path)
    assert [verdict.said for verdict in verdicts] == [said]
    assert to_text(verdicts).split()[-len(said.value.split()) :] == said.value.split()
