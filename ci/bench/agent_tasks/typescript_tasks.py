"""Tasks in fast-check. Judge: TypeScript's own compiler, before and after."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ci.bench.agent_tasks.repositories import FAST_CHECK, typescript_errors
from ci.bench.agent_tasks.work import Agent, Reader, Task, missing, places, says_complete, unless

_ARBITRARY = f"{FAST_CHECK}/src/check/arbitrary/definition/Arbitrary.ts"
_DEPTH = f"{FAST_CHECK}/src/arbitrary/_internals/helpers/DepthContext.ts"
_HELPERS = f"{FAST_CHECK}/src/arbitrary/_internals/helpers"
_HEAD = "export function getDepthContextFor(contextMeta: DepthContext | DepthIdentifier | string | undefined): DepthContext {"
_NEW_HEAD = _HEAD.replace("undefined)", "undefined, initial: number)")
_ABSTRACT = "  abstract canShrinkWithoutContext(value: unknown): value is T;"
_MISSING = ("TS2515", "TS18052", "TS2654")


def _edited(root: Path, path: str, old: str, new: str) -> None:
    text = (root / path).read_text(encoding="utf-8")
    if old not in text:
        raise ValueError(f"'{path}' has no '{old}'")
    (root / path).write_text(text.replace(old, new, 1), encoding="utf-8")


# ---- 1: a parameter, and the calls that need it


async def add_parameter(agent: Agent, root: Path) -> list[str]:
    before = set(typescript_errors(root).values())
    await agent.call("search_tools", query="select:change_signature")
    wish = {"symbol": "DepthContext.getDepthContextFor", "add": ["initial: number"], "call_with": ["initial=0"]}
    shown = await agent.call("change_signature", **wish)
    spied = subprocess.run(
        ["git", "grep", "-nE", r"spyOn\(\w+, 'getDepthContextFor'", "--", FAST_CHECK], cwd=root, capture_output=True, text=True
    )
    stay = {(path, int(line)) for path, line, _ in (text.split(":", 2) for text in spied.stdout.splitlines())}
    wrong = missing("spy that stays as it is", stay, places(shown))
    await agent.call("change_signature", **wish, anyway=True, apply=True)
    wrong += unless("initial: number" in (root / _DEPTH).read_text(encoding="utf-8"), "nothing was written")
    return wrong + [f"the compiler says: {text}" for text in sorted(set(typescript_errors(root).values()) - before)]


def add_parameter_by_reading(reader: Reader) -> None:
    reader.search(r"\bgetDepthContextFor\b")


# ---- 2: a method of an abstract class, renamed


async def rename_method(agent: Agent, root: Path) -> list[str]:
    before = typescript_errors(root)
    said = await agent.applied("rename_symbol", symbol="Arbitrary.canShrinkWithoutContext", new_name="canShrinkAlone", sites="both")
    new = set(typescript_errors(root).values()) - set(before.values())
    listed = subprocess.run(
        ["git", "grep", "-nw", "canShrinkWithoutContext", "--", f"{FAST_CHECK}/src"], cwd=root, capture_output=True, text=True
    )
    left = [
        line for line in listed.stdout.split("\n") if line and not line.partition(":")[2].partition(":")[2].lstrip().startswith(("*", "//"))
    ]
    untold = [line for line in left if ":".join(line.split(":")[:2]) not in said]  # strings are not rewritten, and have to be told
    return [f"the compiler says: {message}" for message in sorted(new)] + [f"left, and not told: {line}" for line in untold]


def rename_method_by_reading(reader: Reader) -> None:
    reader.search(r"\bcanShrinkWithoutContext\b")


# ---- 8: a breaking edit, seen before it is made


async def preview(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:preview_edit")
    said = await agent.call("preview_edit", file_path=_DEPTH, old_text=_HEAD, new_text=_NEW_HEAD, scope="workspace")
    before = typescript_errors(root)
    _edited(root, _DEPTH, _HEAD, _NEW_HEAD)
    broken = {place for place, text in typescript_errors(root).items() if place not in before and text.startswith("TS2554")}
    wrong = unless(broken, "the edit breaks nothing")
    wrong += unless("not shown to be safe" in said or not broken, "a breaking edit is called safe")
    return wrong + missing("error", broken, places(said))


def preview_by_reading(reader: Reader) -> None:
    reader.search(r"\bgetDepthContextFor\b")


# ---- 10: an abstract method, in every class that needs it


async def implement(agent: Agent, root: Path) -> list[str]:
    said = await agent.call("type_hierarchy", symbol=f"{_ARBITRARY}:14", direction="subtypes", depth=10)
    told = places(said)
    while 'next: same call with cursor="' in said:
        cursor = said.rsplit('next: same call with cursor="', 1)[1].partition('"')[0]
        said = await agent.call("type_hierarchy", symbol=f"{_ARBITRARY}:14", direction="subtypes", depth=10, cursor=cursor)
        told |= places(said)
    before = typescript_errors(root)
    _edited(root, _ARBITRARY, _ABSTRACT, f"{_ABSTRACT}\n  abstract describe(): string;")
    found = {place for place, text in typescript_errors(root).items() if text.startswith(_MISSING) and place not in before}
    needed = {(path, line - (path == _ARBITRARY)) for path, line in found}  # the edit has put a line above them
    wrong = unless(len(needed) > 20, f"the compiler names {len(needed)} classes")
    return wrong + (missing("class without the method", needed, told) if says_complete(said) else [])


def implement_by_reading(reader: Reader) -> None:
    reader.search(r"\bextends (\w*Arbitrary|NextArbitrary)\b")


# ---- 11: a diff, reviewed


async def review(agent: Agent, root: Path) -> list[str]:
    before = typescript_errors(root)
    _edited(root, _DEPTH, _HEAD, _NEW_HEAD)
    said = await agent.call("detect_changes")
    broken = {place for place, text in typescript_errors(root).items() if place not in before and text.startswith("TS2554")}
    wrong = unless("getDepthContextFor" in said and "signature" in said, "the changed signature is not told")
    code = {place for place in broken if "/test" not in place[0]}
    return wrong + missing("caller that breaks", code, places(said))


def review_by_reading(reader: Reader) -> None:
    reader.read([(_DEPTH, 52)])
    reader.search(r"\bgetDepthContextFor\b")


# ---- 6: a function to another module


async def move_function(agent: Agent, root: Path) -> list[str]:
    before = set(typescript_errors(root).values())
    await agent.call("search_tools", query="select:move_symbol")
    wish = {"symbol": "MaxLengthFromMinLength.maxGeneratedLengthFromSizeForArbitrary", "to": f"{_HELPERS}/MaxGeneratedLength.ts"}
    said = await agent.applied("move_symbol", **wish)
    wrong = unless((root / _HELPERS / "MaxGeneratedLength.ts").is_file(), f"nothing was written: {said[:200]}")
    return wrong + [f"the compiler says: {text}" for text in sorted(set(typescript_errors(root).values()) - before)]


def move_function_by_reading(reader: Reader) -> None:
    reader.search(r"\bmaxGeneratedLengthFromSizeForArbitrary\b")


TASKS = (
    Task(
        number=1, title="add a parameter, mend the calls", repository="fast-check", work=add_parameter, by_reading=add_parameter_by_reading
    ),
    Task(
        number=2, title="rename a method with overrides", repository="fast-check", work=rename_method, by_reading=rename_method_by_reading
    ),
    Task(
        number=6,
        title="move a function to another module",
        repository="fast-check",
        work=move_function,
        by_reading=move_function_by_reading,
    ),
    Task(number=8, title="preview a breaking edit", repository="fast-check", work=preview, by_reading=preview_by_reading),
    Task(
        number=10, title="implement an abstract method everywhere", repository="fast-check", work=implement, by_reading=implement_by_reading
    ),
    Task(number=11, title="review a diff", repository="fast-check", work=review, by_reading=review_by_reading),
)
