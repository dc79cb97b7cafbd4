"""Tasks in kombu. Judges: `ast` over the tracked files, what a run really calls, and kombu's own tests."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ci.bench.agent_tasks.repositories import pytest_failures, python_runs, sources
from ci.bench.agent_tasks.work import Agent, DeadEndError, Place, Reader, Task, invented, missing, places, says_complete, unless

_VIRTUAL = ("t/unit/transport/virtual", "t/unit/transport/test_memory.py", "t/unit/transport/test_filesystem.py")
_TRACE = """
import json, sys
from kombu import Connection, Exchange, Queue
seen, root = set(), sys.argv[0]
def of(frame):
    path = frame.f_code.co_filename.rpartition('/kombu/')[2]
    return [path, frame.f_code.co_firstlineno] if '/kombu/' in frame.f_code.co_filename and 'site-packages' not in path else None
def watch(frame, event, _):
    if event == 'call' and frame.f_back is not None:
        one, two = of(frame.f_back), of(frame)
        if one and two:
            seen.add((tuple(one), frame.f_back.f_lineno, tuple(two), frame.f_code.co_name))
from kombu.utils.url import maybe_sanitize_url
sys.setprofile(watch)
maybe_sanitize_url('amqp://me:secret@example.com:5672/%2f?a=1')
sys.setprofile(None)
print(json.dumps(sorted(seen)))
"""


def trees(root: Path) -> Iterator[tuple[str, ast.Module]]:
    """Each tracked module that Python can read."""
    for path in sources(root, (".py",)):
        yield path, ast.parse((root / path).read_text(encoding="utf-8"))


def _methods(root: Path, name: str, is_of: Callable[[str, ast.ClassDef], bool]) -> dict[Place, ast.FunctionDef]:
    """Methods of this name in classes that are asked for, by the place of the `def`."""
    found: dict[Place, ast.FunctionDef] = {}
    for path, tree in trees(root):
        for owner in ast.walk(tree):
            if isinstance(owner, ast.ClassDef) and is_of(path, owner):
                found |= {(path, item.lineno): item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == name}
    return found


# ---- 1: a parameter, and the calls


async def add_parameter(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:change_signature")
    wish = {"symbol": "kombu.utils.url.as_url", "add": ["*, strict"], "call_with": ["strict=False"]}
    shown = await agent.call("change_signature", **wish)
    wrong = unless("to look at" in shown or "stays as it is" in shown, "the types in a comment are not told")
    await agent.call("change_signature", **wish, anyway=True, apply=True)  # a comment tells the types, which is mended by hand
    for path, tree in trees(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == "as_url" and path == "kombu/utils/url.py":
                wrong += unless("strict" in {arg.arg for arg in node.args.kwonlyargs}, "the parameter is not there")
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "as_url":
                wrong += unless("strict" in {keyword.arg for keyword in node.keywords}, f"{path}:{node.lineno} passes no 'strict'")
    failing = pytest_failures(root, "t/unit/utils/test_url.py", "t/unit/test_connection.py")
    return wrong + sorted(f"{path} fails" for path in failing)


def add_parameter_by_reading(reader: Reader) -> None:
    reader.search(r"\bas_url\b")


# ---- 2: a method with overrides, renamed


def _is_channel(path: str, owner: ast.ClassDef) -> bool:
    """Classes below virtual.Channel or beside it; qpid has a hierarchy of its own."""
    return path.startswith(("kombu/transport/", "t/unit/transport/virtual")) and "qpid" not in path and "Channel" in owner.name


async def rename_method(agent: Agent, root: Path) -> list[str]:
    before = _methods(root, "_size", _is_channel)
    shown = await agent.call("rename_symbol", symbol="kombu.transport.virtual.base.AbstractChannel._size", new_name="_queue_length")
    wrong = unless("sites" in shown, "the answer names overrides and no way to rename them")
    await agent.applied(
        "rename_symbol", symbol="kombu.transport.virtual.base.AbstractChannel._size", new_name="_queue_length", sites="both"
    )
    after = _methods(root, "_queue_length", _is_channel)
    wrong += missing("renamed", before, after)
    for path, tree in trees(root):
        if path.startswith("kombu/transport") and "qpid" not in path:
            left = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "_size"]
            wrong += [f"{path}:{line} still says _size" for line in left]
    return wrong


def rename_method_by_reading(reader: Reader) -> None:
    reader.search(r"\b_size\b")


# ---- 3: dead code


def uses_of(root: Path, module: str, name: str) -> list[str]:
    """Where a module's name is read, imported or looked up; by text, so that strings count."""
    found: list[str] = []
    for path, tree in trees(root):
        own = path == module
        for node in ast.walk(tree):
            is_read = own and isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
            is_import = (
                isinstance(node, ast.ImportFrom)
                and (node.module or "").endswith(Path(module).stem)
                and name in {alias.name for alias in node.names}
            )
            is_text = isinstance(node, ast.Constant) and node.value == name
            is_member = isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
            if is_read or is_import or is_text or (is_member and _names(node, Path(module).stem)):
                found.append(f"{path}:{getattr(node, 'lineno', 0)}")
    return found


def _names(node: ast.AST, module: str) -> bool:
    value = getattr(node, "value", None)
    return (isinstance(value, ast.Name) and value.id == module) or (isinstance(value, ast.Attribute) and value.attr == module)


async def delete_dead(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:unreferenced,safe_delete_symbol")
    said = await agent.call("unreferenced", confidence="certain")
    wrong: list[str] = []
    for line in said.split("\n"):
        if "[certain" in line:
            place, _, rest = line.strip().partition("  ")
            module, name = place.partition(":")[0], rest.split("  ")[0].rpartition(" ")[2].rpartition(".")[2]
            wrong += [f"{name} of {module} is certain to be unused, and is used at {use}" for use in uses_of(root, module, name)[:1]]
    await agent.applied("safe_delete_symbol", symbol_path="kombu.compat.entry_to_queue")
    wrong += unless("entry_to_queue" not in (root / "kombu/compat.py").read_text(encoding="utf-8"), "entry_to_queue is still there")
    return wrong + sorted(f"{path} fails" for path in pytest_failures(root, "t/unit/test_compat.py"))


def delete_dead_by_reading(reader: Reader) -> None:
    """Names at the left edge of a line, each searched for."""
    names: set[str] = set()
    for path, line in reader.search(r"^(def|class)?\s?\w+( =|\()", within="kombu/", read=False):
        text = (reader.root / path).read_text(encoding="utf-8").split("\n")[line - 1]
        names.add(text.removeprefix("def ").removeprefix("class ").split("(")[0].split(" ")[0])
    for name in sorted(names)[:60]:  # as many as somebody may try
        reader.search(rf"\b{name}\b", read=False)


# ---- 4: the tests of a change


async def pick_tests(agent: Agent, root: Path) -> list[str]:
    said = await agent.call("get_tests_for_file", file_path="kombu/utils/scheduling.py")
    named = {path for path, _ in places(said)} | {word for word in said.split() if word.endswith(".py")}
    before = pytest_failures(root, "t/unit")
    module = root / "kombu/utils/scheduling.py"
    text = module.read_text(encoding="utf-8")
    broken = text.replace("        start = self.pos", "        raise RuntimeError('broken')\n        start = self.pos")
    broken = broken.replace(
        "    def get(self, callback, **kwargs):", "    def get(self, callback, **kwargs):\n        raise RuntimeError('broken')"
    )
    module.write_text(broken, encoding="utf-8")
    failing = pytest_failures(root, "t/unit") - before
    module.write_text(text, encoding="utf-8")
    wrong = unless(broken != text and failing, "the change breaks no test")
    if says_complete(said):
        wrong += [f"{path} fails, and is not told" for path in sorted(failing - named)]
    if len(failing - named) * 2 > len(failing):
        raise DeadEndError(f"most of the tests that fail are not told: {sorted(failing - named)}")
    return wrong


def pick_tests_by_reading(reader: Reader) -> None:
    reader.search(r"scheduling|FairCycle|cycle_by_name|priority_cycle|round_robin_cycle|sorted_cycle")
    reader.search(r"virtual\.Channel|from kombu\.transport import virtual", within="t/")


# ---- 5: what a call reaches


async def trace(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:call_flow")
    said = await agent.call("call_flow", symbol="kombu.utils.url.maybe_sanitize_url", external=False)
    told = {(path, int(line)) for path, line in re.findall(r"→ (\S+):(\d+)", said)}
    ran = json.loads(python_runs(root, _TRACE).strip().split("\n")[-1])
    truth = {(f"kombu/{callee[0]}", callee[1]) for _, _, callee, name in ran if not name.startswith("<")}
    lost = missing("ran", truth - {("kombu/utils/url.py", 110)}, told)
    if len(lost) * 2 > len(truth):
        raise DeadEndError(f"most of what ran is not told: {lost}")
    return lost if says_complete(said) else []


def trace_by_reading(reader: Reader) -> None:
    for name in ("maybe_sanitize_url", "sanitize_url", "as_url", "url_to_parts", "parse_url"):
        reader.search(rf"def {name}\b", within="kombu/")


# ---- 6: a function to another module


async def move_function(agent: Agent, root: Path) -> list[str]:
    await agent.call("search_tools", query="select:move_symbol")
    await agent.applied("move_symbol", symbol="kombu.utils.url.maybe_sanitize_url", to="kombu/utils/sanitizing.py")
    wrong = [
        f"{path} imports it from where it was"
        for path, tree in trees(root)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").endswith("url")
        and "maybe_sanitize_url" in {alias.name for alias in node.names}
    ]
    said = python_runs(root, "import kombu.connection as c; print(c.maybe_sanitize_url.__module__)")
    wrong += unless(said.strip().endswith("kombu.utils.sanitizing"), f"after the move Python says: {said.strip()[-200:]}")
    failing = pytest_failures(root, "t/unit/utils/test_url.py", "t/unit/test_connection.py", "t/unit/transport/test_mongodb.py")
    return wrong + sorted(f"{path} fails" for path in failing)


def move_function_by_reading(reader: Reader) -> None:
    reader.search(r"\bmaybe_sanitize_url\b|utils import url|utils\.url$")


# ---- 12: a repository without an index


async def fresh(agent: Agent, root: Path) -> list[str]:
    found = await agent.call("find_symbol", query="emergency_dump_state")
    uses = await agent.call("find_references", symbol="kombu/utils/div.py:13")
    whole = await agent.call("find_references", symbol="kombu.utils.div.emergency_dump_state", fresh=True)
    truth: set[Place] = set()
    for path, tree in trees(root):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and "emergency_dump_state" in {alias.name for alias in node.names}:
                truth |= {(path, alias.lineno) for alias in node.names if alias.name == "emergency_dump_state"}
            elif isinstance(node, ast.Name) and node.id == "emergency_dump_state":
                truth.add((path, node.lineno))
    wrong = unless(("kombu/utils/div.py", 13) in places(found), "the definition is not told")
    wrong += invented("uses", truth | {("kombu/utils/div.py", 13)}, places(uses) | places(whole))
    for text in (uses, whole):
        wrong += missing("said to be complete", truth, places(text)) if says_complete(text) else []
    return wrong


def fresh_by_reading(reader: Reader) -> None:
    reader.search(r"\bemergency_dump_state\b")


TASKS = (
    Task(number=1, title="add a parameter, mend the calls", repository="kombu", work=add_parameter, by_reading=add_parameter_by_reading),
    Task(number=2, title="rename a method with overrides", repository="kombu", work=rename_method, by_reading=rename_method_by_reading),
    Task(number=3, title="delete dead code", repository="kombu", work=delete_dead, by_reading=delete_dead_by_reading),
    Task(number=4, title="pick the tests of a change", repository="kombu", work=pick_tests, by_reading=pick_tests_by_reading),
    Task(number=5, title="trace what a call reaches", repository="kombu", work=trace, by_reading=trace_by_reading),
    Task(number=6, title="move a function to another module", repository="kombu", work=move_function, by_reading=move_function_by_reading),
    Task(number=12, title="begin without an index", repository="kombu", work=fresh, by_reading=fresh_by_reading, indexed=False),
)
