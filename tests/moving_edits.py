"""Edits by our own tools on a work tree that moves, and whether what they wrote kept who uses what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from moving_changes import new_body
from moving_program import Program, new_name, read_program
from moving_questions import Face, Said


def edit(chance: Random, root: Path, face: Face, counts: Counter[str]) -> tuple[str, str]:
    """Asks one tool to write; what was asked, and what is wrong with what came of it."""
    before = read_program(root)
    if not before.names("function"):
        return "nothing to edit", ""
    made = chance.choice([*EDITS])(chance, before)
    if made is None:
        return "nothing to edit", ""
    tool, arguments, expected = made
    said = face.ask(tool, {**arguments, "apply": True})
    after = read_program(root)
    is_written = after.texts != before.texts
    counts[f"{tool}: {'written' if is_written else said.status}"] += 1
    told = f"{tool} {arguments} -> {said.status} {said.words[:300] if not is_written else ''}"
    if said.status == "fault":
        return told, f"{face.name}: {told}"
    return told, f"{face.name}: {told}: {wrong}" if is_written and (wrong := expected(before, after, said)) else ""


_Expected = Callable[[Program, Program, Said], str]
_Edit = tuple[str, dict[str, Any], _Expected]


def _users(program: Program, renamed: dict[str, str]) -> dict[str, list[tuple[str, str]]]:
    """Of each symbol, who uses it and how, with the names that some get."""

    def named(name: str) -> str:
        for old, new in renamed.items():
            if name == old or name.startswith(f"{old}."):
                return new + name[len(old) :]
        return name

    found = {named(symbol): sorted((named(use.within), use.role) for use in uses) for symbol, uses in program.uses.items()}
    return {symbol: users for symbol, users in found.items() if users}


def _same(before: Program, after: Program, renamed: dict[str, str], *, imports: bool = True) -> str:
    if before.broken:
        return f"{after.broken} does not parse" if {*after.broken} - {*before.broken} else ""
    if after.broken:
        return f"{after.broken} does not parse"
    old, new = _users(before, renamed), _users(after, {})
    if not imports:  # nor the bases of a class that moves, which its module reads
        old, new = ({name: [one for one in users if one[1] == "call"] for name, users in of.items()} for of in (old, new))
        old, new = ({name: users for name, users in of.items() if users} for of in (old, new))
    differing = [f"{name}: {old.get(name)} became {new.get(name)}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return "; ".join(differing[:4])


def _rename(chance: Random, program: Program) -> _Edit | None:
    name = chance.choice(program.names())
    own = program.definitions[name]
    new = new_name(chance) if own.kind != "class" else f"{own.name.rpartition('.')[2]}{chance.randrange(100)}"
    renamed = {one: f"{one.rpartition('.')[0]}.{new}" for one in (name, *program.kin(name))}

    def expected(before: Program, after: Program, said: Said) -> str:
        return _same(before, after, renamed)

    return "rename_symbol", {"symbol": name, "new_name": new}, expected


def _move(chance: Random, program: Program) -> _Edit | None:
    name = chance.choice(program.names("function", "class"))
    paths = [path for path in program.texts if path != program.definitions[name].path and not path.startswith("tests/")]
    if not paths or program.definitions[name].path.startswith("tests/"):
        return None
    to = chance.choice(sorted(paths))
    from moving_program import module_name

    moved = {name: f"{module_name(to)}.{name.rpartition('.')[2]}"}
    return "move_symbol", {"symbol": name, "to": to}, lambda before, after, said: _same(before, after, moved, imports=False)


def _delete(chance: Random, program: Program) -> _Edit | None:
    name = chance.choice(program.names("function", "class"))

    def expected(before: Program, after: Program, said: Said) -> str:
        if before.is_used(name):
            return f"{name} is gone, though {before.uses[name]}"
        return "" if name not in after.definitions or not after.is_clear(name) else f"{name} is still there"

    return "safe_delete_symbol", {"symbol_path": program.local(name), "file_path": program.definitions[name].path}, expected


def _insert(chance: Random, program: Program) -> _Edit | None:
    name = chance.choice(program.names("function", "class"))
    new = new_name(chance)
    code = f"\n\ndef {new}(value: int = 0) -> int:\n    {name.rpartition('.')[2]}()\n    return value\n"
    own = f"{program.definitions[name].name.rpartition('.')[0]}.{new}"

    def expected(before: Program, after: Program, said: Said) -> str:
        return "" if own in after.definitions or before.broken else f"{own} is not there"

    return "insert_after_symbol", {"symbol_path": program.local(name), "file_path": program.definitions[name].path, "code": code}, expected


def _replace(chance: Random, program: Program) -> _Edit | None:
    name = chance.choice(program.names("function", "method"))
    code, imports = new_body(chance, program, name)
    if imports:
        code = f"def {name.rpartition('.')[2]}({'self' if program.definitions[name].kind == 'method' else ''}) -> int:\n    return 7\n"

    def expected(before: Program, after: Program, said: Said) -> str:
        if name not in after.definitions:
            return f"{name} is gone"
        wanted = [line.strip() for line in code.splitlines()]
        got = [line.strip() for line in after.source(name).splitlines()]
        return "" if got == wanted else f"{name} is {got}"

    return (
        "replace_symbol_body",
        {"symbol_path": program.local(name), "file_path": program.definitions[name].path, "new_body": code},
        expected,
    )


def _safe_edit(chance: Random, program: Program) -> _Edit | None:
    name = chance.choice(program.names("function"))
    item = program.definitions[name]
    old = program.source(name)
    if program.texts[item.path].count(old) != 1:
        return None
    new = old + f"\n\n\ndef more_{chance.randrange(1000)}() -> int:\n    return {name.rpartition('.')[2]}()\n"
    tool = chance.choice(("safe_apply_edit", "apply_edit"))

    def expected(before: Program, after: Program, said: Said) -> str:
        return "" if after.texts[item.path] == before.texts[item.path].replace(old, new) else "another text was written"

    return tool, {"file_path": item.path, "old_text": old, "new_text": new}, expected


EDITS: list[Callable[[Random, Program], _Edit | None]] = [_rename, _rename, _move, _delete, _insert, _replace, _safe_edit]
