"""Questions about a work tree that moves, by the faces that people ask through, and what is wrong with an answer."""

from __future__ import annotations

import json
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Protocol

import msgspec
from commands import LSPIDX
from moving_program import Program, module_name
from query_support import lspidx, plain_environment

from indexer.errors import AmbiguousName, Bug, LspidxError, NameNotFound
from query.facts.hierarchy import OVERRIDE
from query.surface.registry import load
from query.surface.service import Service


class Said(NamedTuple):
    """status: of the answer; `refused` where somebody is told why there is none, `not found` where that is a name; else `fault`.

    words: what was refused, or why something is missing.
    """

    status: str
    result: Any = None
    codes: frozenset[str] = frozenset()
    words: str = ""

    @property
    def owns_up(self) -> bool:
        """Whether it says that it may be of another tree than now."""
        known = ("changed since", "has changed", "stale", "being made", "up to date", "not in the index", "is indexing", "lspidx index")
        return bool(self.codes & {"stale", "indexing", "unchecked"}) or any(word in self.words for word in known)


class Face(Protocol):
    name: str

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> Said: ...

    def close(self) -> None: ...


def _said(answer: Mapping[str, Any]) -> Said:
    whole = answer["completeness"]
    words = "; ".join(reason["detail"] for reason in whole["reasons"])
    return Said(whole["status"], answer["result"], frozenset(reason["code"] for reason in whole["reasons"]), words)


class InProcess:
    """A service of this process, which keeps the index fresh or says that it is not."""

    def __init__(self, root: Path, *, keeps_fresh: bool) -> None:
        self.name = "kept" if keeps_fresh else "told"
        self._service = Service(root, keeps_fresh=keeps_fresh, patience_s=60.0, max_chars=0)

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        try:
            return _said(msgspec.to_builtins(self._service.ask(tool, arguments)))
        except (NameNotFound, AmbiguousName) as error:
            return Said("not found", words=str(error))
        except Bug as error:
            return Said("fault", words=repr(error))
        except LspidxError as error:
            return Said("refused", words=str(error))
        except Exception as error:
            return Said("fault", words=repr(error))

    def close(self) -> None:
        self._service.close()


class Command:
    """A process for each question, which may bring the index up to date first."""

    def __init__(self, root: Path, *, fresh: bool) -> None:
        self.name = "command --fresh" if fresh else "command"
        self._root = root
        self._fresh = fresh

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        own = load(tool)[0].positional.split()
        words = [str(arguments[name]) for name in own if isinstance(arguments.get(name), str)]
        words += [
            word for name, value in arguments.items() if name not in own or not isinstance(value, str) for word in _option(name, value)
        ]
        fresh = ["--fresh"] if self._fresh and tool in QUESTIONS else []
        done = lspidx("query", tool, *words, *fresh, "--max-chars", "0", "--json", cwd=self._root)
        if done.returncode == 0:
            return _said(json.loads(done.stdout))
        if done.returncode not in (3, 4, 5, 6) or "Traceback" in done.stderr:
            return Said("fault", words=f"exit {done.returncode}: {done.stdout} {done.stderr}")
        return Said("not found" if done.returncode == 3 else "refused", words=json.loads(done.stdout)["error"]["message"])

    def close(self) -> None:
        pass


def _option(name: str, value: Any) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option] if value else []
    return [word for one in (value if isinstance(value, list) else [value]) for word in (option, str(one))]


class Mcp:
    """`lspidx mcp` as an agent's client starts it."""

    name = "mcp"

    def __init__(self, root: Path) -> None:
        words = [str(LSPIDX), "mcp", "--allow-edits", "--format", "both", "--budget", "40000"]
        self._errors = open(root.parent / "mcp.stderr", "w+")
        self._process = subprocess.Popen(
            words, cwd=root, env=plain_environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        self._number = 0
        self._call("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "moving", "version": "1"})
        self._write({"method": "notifications/initialized", "params": {}})

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> Said:
        alarm = threading.Timer(120, self._process.kill)
        alarm.start()
        try:
            reply = self._call("tools/call", name=tool, arguments=dict(arguments))
        finally:
            alarm.cancel()
        if "error" in reply:
            return Said("fault", words=json.dumps(reply["error"]))
        result = reply["result"]
        if not result.get("isError"):
            return _said(result["structuredContent"])
        words = "".join(part.get("text", "") for part in result["content"])
        status = "fault" if "internal" in words.casefold() or "Traceback" in words or "bug" in words.split() else "refused"
        return Said("not found" if "no symbol" in words or "ambiguous" in words or "several" in words else status, words=words)

    def _write(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        self._write({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if (message := json.loads(line)).get("id") == self._number:
                return message
        return {"error": "the server has ended"}

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()


@contextmanager
def faces(root: Path, *, with_mcp: bool) -> Generator[dict[str, Face]]:
    """Two services of this process, one of which keeps the index fresh; commands; and, if wanted, a server over MCP."""
    made: list[Face] = [InProcess(root, keeps_fresh=True), InProcess(root, keeps_fresh=False)]
    made += [Command(root, fresh=True), Command(root, fresh=False), *([Mcp(root)] if with_mcp else [])]
    try:
        yield {face.name: face for face in made}
    finally:
        for face in made:
            face.close()


# ---- questions


class Asked(NamedTuple):
    """A question. `wrong`: what is wrong with a result that is said to be whole; `false`: with one that may lack something."""

    tool: str
    arguments: dict[str, Any]
    about: str
    wrong: Callable[[Program, Any], str]
    false: Callable[[Program, Any], str]


def _difference(found: set[Any], true: set[Any]) -> str:
    return "" if found == true else f"has {sorted(map(str, found - true))} beyond, and lacks {sorted(map(str, true - found))}"


def _beyond(found: set[Any], true: set[Any]) -> str:
    return f"has {sorted(map(str, found - true))} beyond" if found - true else ""


def _asked(
    tool: str, arguments: dict[str, Any], about: str, found: Callable[[Any], set[Any]], true: Callable[[Program], set[Any]]
) -> Asked:
    return Asked(
        tool,
        arguments,
        about,
        lambda program, result: _difference(found(result), true(program)),
        lambda program, result: _beyond(found(result), true(program)),
    )


def _called(edge: Mapping[str, Any]) -> bool:
    return edge.get("how", "call") == "call" and not edge["symbol"].get("external")


def _callers(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names())

    def found(result: Any) -> set[Any]:
        return {
            (edge["symbol"]["qualified_name"], site["path"], site["line"], site["col"])
            for edge in result
            if _called(edge)
            for site in edge["sites"]
            if site["evidence"] != OVERRIDE  # beside calls of its own, it calls what this one overrides
        }

    def true(now: Program) -> set[Any]:
        return {(use.within, use.path, use.line, use.col) for use in now.calls_of(name)}

    return _asked("find_callers", {"symbol": name, "direction": "incoming", "limit": 5000}, name, found, true)


def _callees(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names("function", "method") or program.names())
    # A class has no calls but those of its methods, which are asked for on their own.
    return _asked(
        "find_callers",
        {"symbol": name, "direction": "outgoing", "limit": 5000},
        name,
        lambda result: {edge["symbol"]["qualified_name"] for edge in result if _called(edge)},
        lambda now: now.callees(name),
    )


def _references(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names())

    def true(now: Program) -> set[Any]:
        return {(use.path, use.line, use.col) for use in now.uses.get(name, [])}

    return _asked(
        "find_references",
        {"symbol": name, "limit": 5000},
        name,
        lambda result: {(row["path"], row["line"], row["col"]) for row in result},
        true,
    )


def _source(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names())

    def wrong(now: Program, result: Any) -> str:
        texts = [row["source"].rstrip("\n") for row in result]
        return "" if texts == [now.source(name)] else f"has {texts}, and not {[now.source(name)]}"

    def false(now: Program, result: Any) -> str:
        texts = [row["source"].rstrip("\n") for row in result if row["source"]]
        return f"has {texts}" if [text for text in texts if text != now.source(name)] else ""

    return Asked("get_symbol_source", {"symbol": name}, name, wrong, false)


def _outline(chance: Random, program: Program) -> Asked:
    path = chance.choice(sorted(program.texts))

    def found(result: Any) -> set[Any]:
        def below(items: Any) -> Iterator[tuple[str, str, int]]:
            for item in items:
                yield item["name"], item["kind"], item["line"]
                yield from below(item.get("children") or [])

        return {item for item in below(result) if item[1] in ("function", "class", "method")}

    return _asked("list_symbols", {"file_path": path}, path, found, lambda now: set(now.outline(path)))


def _find(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names()).rpartition(".")[2]

    def true(now: Program) -> set[Any]:
        return {(item.name, item.path, item.line) for item in now.definitions.values() if item.name.rpartition(".")[2] == name}

    return _asked(
        "find_symbol",
        {"query": name, "match": "exact", "limit": 1000},
        name,
        lambda result: {
            (row["qualified_name"], row["path"], row["line"]) for row in result if row["kind"] in ("function", "class", "method")
        },
        true,
    )


def _hierarchy(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names("class") or program.names())

    def true(now: Program) -> set[Any]:
        below = {("subtypes", one) for one in now.subtypes(name)}
        return below | {("supertypes", one) for one in now.definitions[name].bases}

    return (
        _asked(
            "type_hierarchy" if program.definitions[name].kind == "class" else "find_callers",
            {"symbol": name},
            name,
            lambda result: {(row["direction"], row["symbol"]["qualified_name"]) for row in result if not row["symbol"].get("external")},
            true,
        )
        if program.definitions[name].kind == "class"
        else _callers(chance, program)
    )


def _radius(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names("function"))

    def true(now: Program) -> set[Any]:
        """An import is no caller."""
        return {use.within for use in now.uses.get(name, []) if use.role != "import" and not use.path.startswith("tests/")}

    return _asked(
        "blast_radius",
        {"symbols": [name], "depth": 1, "limit": 5000},
        name,
        lambda result: {row["qualified_name"] for row in result["non_test_callers"]},
        true,
    )


def _tests_for(chance: Random, program: Program) -> Asked:
    path = chance.choice(sorted(path for path in program.texts if not path.startswith("tests/") and path not in program.broken))

    def wrong(now: Program, result: Any) -> str:
        own = {name for name, item in now.definitions.items() if item.path == path}
        users = {use.path for name in own for use in now.uses.get(name, []) if use.path.startswith("tests/")}
        lacks = {test for test in users if test.rpartition("/")[2].startswith("test_")} - {*result["test_files"]}
        return f"lacks {sorted(lacks)}" if lacks else false(now, result)

    def false(now: Program, result: Any) -> str:
        gone = {*result["test_files"]} - {*now.texts}
        return f"has {sorted(gone)}, which are gone" if gone else ""

    return Asked("get_tests_for_file", {"file_path": path, "depth": 1}, path, wrong, false)


def _unreferenced(chance: Random, program: Program) -> Asked:
    def certain(result: Any) -> set[str]:
        return {row["symbol"]["qualified_name"] for row in result if row["confidence"] == "certain"}

    def wrong(now: Program, result: Any) -> str:
        listed = {row["symbol"]["qualified_name"] for row in result}
        unused = {name for name in now.names("function") if not now.is_used(name) and not now.definitions[name].path.startswith("tests/")}
        private = {name for name in unused if now.definitions[name].is_private}
        return f"lacks {sorted(private - listed)}" if private - listed else false(now, result)

    def false(now: Program, result: Any) -> str:
        used = {name for name in certain(result) if name in now.definitions and now.is_used(name)}
        gone = certain(result) - {*now.definitions}
        return f"has {sorted(used)}, which are used, and {sorted(gone)}, which are gone" if used or gone else ""

    return Asked("unreferenced", {"kind": ["function", "class", "method"]}, "", wrong, false)


def _delete_shown(chance: Random, program: Program) -> Asked:
    name = chance.choice(program.names("function"))

    def wrong(now: Program, result: Any) -> str:
        return f"{name} may be removed, though {now.uses[name]}" if now.is_used(name) else ""

    arguments = {"symbol_path": program.local(name), "file_path": program.definitions[name].path}
    return Asked("safe_delete_symbol", arguments, name, wrong, lambda now, result: "")


_Kind = Callable[[Random, Program], Asked]
KINDS: dict[_Kind, int] = {
    _callers: 6,
    _callees: 3,
    _references: 5,
    _source: 3,
    _outline: 2,
    _find: 3,
    _hierarchy: 2,
    _radius: 2,
    _tests_for: 1,
    _unreferenced: 2,
    _delete_shown: 2,
}
QUESTIONS = {
    *("find_callers", "find_references", "get_symbol_source", "list_symbols", "find_symbol", "type_hierarchy", "blast_radius"),
    *("get_tests_for_file", "unreferenced"),
}


def question(chance: Random, program: Program) -> Asked | None:
    """One that has an answer; None where nothing is left to ask about."""
    if not program.names("function"):
        return None
    [kind] = chance.choices([*KINDS], [*KINDS.values()])
    asked = kind(chance, program)
    if asked.tool == "find_references" and chance.random() < 0.25:
        asked.arguments["live"] = True
    if "symbol" in asked.arguments and chance.random() < 0.25:  # by the place where it is defined now
        item = program.definitions[asked.about]
        asked.arguments["symbol"] = f"{item.path}:{item.line}:{item.col}"
    return asked


def complaint(asked: Asked, said: Said, truths: list[Program], counts: Counter[str]) -> str:
    """What is wrong with an answer, held against each of the trees that it may be of; nothing where one of them fits.

    Text that does not parse is said nothing about by the truth, so while there is some, only what an answer has beyond counts.
    """
    counts[f"{said.status}{' of another tree, and says so' if said.owns_up and said.status != 'complete' else ''}"] += 1
    if said.status == "fault":
        return f"fault: {said.words[:2000]}"
    found = [_complaint(asked, said, truth) for truth in truths]
    return "" if "" in found else found[-1]


def _complaint(asked: Asked, said: Said, now: Program) -> str:
    is_there = asked.about in now.definitions or asked.about in now.texts or asked.tool in ("find_symbol", "unreferenced")
    if said.status in ("refused", "not found"):
        if said.owns_up or not is_there or not (asked.about in now.texts or now.is_clear(asked.about)):
            return ""
        if asked.tool == "safe_delete_symbol" and said.status == "refused":
            return "" if now.is_used(asked.about) or now.kin(asked.about) or "may" in said.words else f"refused: {said.words[:500]}"
        return f"{said.status}: {said.words[:500]}"
    if said.status == "unknown" or (said.status != "complete" and said.owns_up):
        return ""
    if not is_there:
        return "is answered, though it is gone"
    if asked.about in now.broken or (asked.about in now.definitions and not now.is_clear(asked.about)):
        return ""
    what = asked.wrong(now, said.result) if said.status == "complete" and not now.broken else asked.false(now, said.result)
    if what and any(path in what or module_name(path) in what for path in now.broken):
        return ""
    return f"{'complete and wrong' if said.status == 'complete' else 'looks fresh and is false'}: {what}" if what else ""
