"""Tasks in go-git. Judge: the compiler and vet, and the package's tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ci.bench.agent_tasks.repositories import go_errors, go_tests
from ci.bench.agent_tasks.work import Agent, DeadEndError, Reader, Task, unless

_DIFF = "utils/merkletrie/difftree.go"
_PACKAGE = "./utils/merkletrie/..."


def _edited(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    if old not in text:
        raise ValueError(f"'{path}' has no '{old}'")
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")


# ---- 1: a parameter, and the calls that need it


async def add_parameter(agent: Agent, root: Path) -> list[str]:
    before = set(go_errors(root).values())
    await agent.call("search_tools", query="select:change_signature")
    wish = {"symbol": "utils.merkletrie.difftree.DiffTree", "add": ["strict bool"], "call_with": ["strict=false"]}
    said = await agent.applied("change_signature", **wish)
    wrong = unless("strict bool" in (root / _DIFF).read_text(encoding="utf-8"), f"nothing was written: {said[:200]}")
    after = [f"{path}:{line} {text}" for (path, line), text in go_errors(root).items() if text not in before]
    return wrong + after + unless(go_tests(root, _PACKAGE), "the package's tests fail")


def add_parameter_by_reading(reader: Reader) -> None:
    reader.search(r"\bDiffTree\(")


# ---- 3: dead code


async def delete_dead(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:unreferenced,safe_delete_symbol")
    said = await agent.call("unreferenced", path="plumbing/**", confidence="certain")
    await agent.applied("safe_delete_symbol", file_path="plumbing/format/gitattributes/dir.go", symbol_path="gitDir")
    wrong = unless("gitDir" in said, "gitDir is used nowhere, and is not told")
    return wrong + [
        f"{path}:{line} {text}" for (path, line), text in go_errors(root).items() if path.startswith("plumbing/format/gitattributes")
    ]


def delete_dead_by_reading(reader: Reader) -> None:
    names: set[str] = set()
    for path, line in reader.search(r"^(func|var|const|type|\t)\s?[a-z]\w*\b", within="plumbing/format/gitattributes", read=False):
        words = (reader.root / path).read_text(encoding="utf-8").split("\n")[line - 1].replace("(", " ").split()
        names |= set(words[:2])
    for name in sorted(name for name in names if name.isidentifier() and name[0].islower())[:40]:
        reader.search(rf"\b{name}\b", within="plumbing/format/gitattributes", read=False)


# ---- 7: an error, mended


async def mend(agent: Agent, root: Path) -> list[str]:
    _edited(root, _DIFF, '\t"fmt"\n', '\t"fmt"\n\t"os"\n')
    wrong = unless(any("os" in text for text in go_errors(root).values()), "the compiler sees no error")
    await agent.call("search_tools", query="select:get_diagnostics,suggest_fixes")
    said = await agent.call("get_diagnostics", file_path=_DIFF)
    wrong += unless("os" in said and "imported and not used" in said, "the unused import is not told")
    line = next(number for number, text in enumerate((root / _DIFF).read_text(encoding="utf-8").split("\n"), 1) if '"os"' in text)
    fixes = await agent.call("suggest_fixes", file_path=_DIFF, start_line=line, end_line=line)
    wrong += unless('-\t"os"' in fixes, "no fix removes the import")
    edit = {"file_path": _DIFF, "old_text": '\t"os"\n', "new_text": "", "apply": True}
    said = await agent.call("safe_apply_edit", **edit)
    if said.find("timeout_ms") >= 0 and "not applied" in said:
        await agent.call("safe_apply_edit", **edit, timeout_ms=120_000)
    return wrong + [f"{path}:{number} {text}" for (path, number), text in go_errors(root).items() if path == _DIFF]


def mend_by_reading(reader: Reader) -> None:
    reader.read([(_DIFF, 245)])


# ---- 9: statements to a function


async def extract(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:suggest_fixes,apply_edit")
    text = '\t\t\tpanic(fmt.Sprintf("unknown remaining value: %d", r))'
    line = (root / _DIFF).read_text(encoding="utf-8").split("\n").index(text) + 1
    column, end = text.index("fmt") + 1, len(text)
    where = {"file_path": _DIFF, "start_line": line, "start_column": column, "end_line": line, "end_column": end}
    said = await agent.call("suggest_fixes", **where, only=["refactor.extract.variable"])
    if asked := _call_in(said, "execute_command"):
        said = await agent.call("execute_command", **asked)
    written = _call_in(said, "apply_edit")
    if written is None:
        raise DeadEndError(f"nothing says how to write the extraction: {said}")
    await agent.call("apply_edit", **written)
    wrong = unless("panic(fmt" not in (root / _DIFF).read_text(encoding="utf-8"), "no variable was extracted")
    wrong += [f"{path}:{number} {text}" for (path, number), text in go_errors(root).items() if path == _DIFF]
    return wrong + unless(go_tests(root, _PACKAGE), "the package's tests fail")


# ---- 6: a function to another package


async def move_function(agent: Agent, root: Path) -> list[str]:
    before = set(go_errors(root).values())
    await agent.call("search_tools", query="select:move_symbol")
    said = await agent.applied("move_symbol", symbol="utils.ioutil.CheckClose", to="utils/closing/closing.go")
    moved = (root / "utils/closing/closing.go").is_file()
    wrong = unless(
        moved and "func CheckClose" in (root / "utils/closing/closing.go").read_text(encoding="utf-8"), f"not moved: {said[:200]}"
    )
    return wrong + [f"{path}:{line} {text}" for (path, line), text in go_errors(root).items() if text not in before]


def move_function_by_reading(reader: Reader) -> None:
    reader.search(r"\bCheckClose\b")


def _call_in(said: str, tool: str) -> dict[str, Any] | None:
    """The arguments of the first call of a tool that an answer writes out."""
    line = next((line for line in said.split("\n") if f": {tool} {{" in line), "")
    return json.loads(line[line.index("{") :]) if line else None


def extract_by_reading(reader: Reader) -> None:
    reader.read([(_DIFF, 308)])


TASKS = (
    Task(number=1, title="add a parameter, mend the calls", repository="go-git", work=add_parameter, by_reading=add_parameter_by_reading),
    Task(number=3, title="delete dead code", repository="go-git", work=delete_dead, by_reading=delete_dead_by_reading),
    Task(number=6, title="move a function to another module", repository="go-git", work=move_function, by_reading=move_function_by_reading),
    Task(number=7, title="mend a diagnostic", repository="go-git", work=mend, by_reading=mend_by_reading),
    Task(number=9, title="extract a variable", repository="go-git", work=extract, by_reading=extract_by_reading),
)
