"""Running servers for tests: real ones on copies of the corpora, one for each language, and fake ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from support import CORPORA, write_tree
from toolchains import requires

from indexer.config import Config, LanguageConfig
from indexer.servers.registry import find_server
from query.answers.envelope import Answer
from query.answers.style import Style
from query.live.host import Host
from query.live.matrix import Matrix
from query.surface.registry import call, load

SERVERS = {"python": "ty", "typescript": "ts7", "go": "gopls", "cpp": "clangd", "rust": "rust-analyzer"}
SETTINGS = {"rust": LanguageConfig(options={"cargo": {"sysroot": None}})}  # whether the standard library's source is here is no matter

ROUGH = {
    "python": ("rough.py", "def  rough( a ):\n    return a\n"),
    "typescript": ("rough.ts", "const   a=1;\nfunction f( ){\nreturn a}\n"),
    "go": ("methods/rough.go", "package methods\n\nfunc   rough( a int)int{\nreturn a}\n"),
    "cpp": ("rough.cc", "int   rough( int a){\nreturn a;}\n"),
    "rust": ("rough.rs", "const   ROUGH :f64=4.0;\n"),
}
"""A file of each language that wants formatting."""


BROKEN = {
    "typescript": ("broken.ts", "new Square(1);\nexport {};\n"),
    "go": ("broken.go", "package corpus\n\nfunc f() {\n\tfmt.Println()\n}\n"),
}
"""A file that lacks an import."""


_OF_A_SHELL = ("VIRTUAL_ENV", "CONDA_PREFIX")
"""By which another project's packages would be found."""


class Live:
    """A workspace with servers. `ask` answers as the registry does, and asks that the text form can be written."""

    def __init__(self, root: Path, host: Host) -> None:
        self.root, self.host = root, host

    def ask(self, name: str, **arguments: Any) -> Answer[Any]:
        answer = call(None, name, arguments, servers=self.host, root=self.root)
        tool, _ = load(name)
        for compact in (True, False):
            assert isinstance("\n".join(tool.text(answer, Style(compact=compact))), str)
        msgspec.json.encode(answer)
        return answer


@contextmanager
def workspace(root: Path, config: Config | None = None) -> Iterator[Live]:
    plain = Config().values()
    flags = {name: msgspec.to_builtins(value) for name, value in (config or Config()).values().items() if value != plain[name]}
    host = Host(root, flags=flags, environment={name: value for name, value in os.environ.items() if name not in _OF_A_SHELL})
    try:
        yield Live(root, host)
    finally:
        host.close()


@contextmanager
def corpus(language: str, folder: Path) -> Iterator[Live]:
    """A copy of a language's corpora with its server."""
    if language != "python":
        requires(SERVERS[language])
    root = shutil.copytree(CORPORA / language, folder / language, ignore=shutil.ignore_patterns("__pycache__"))
    write_tree(root, dict([ROUGH[language], *([BROKEN[language]] if language in BROKEN else [])]))
    with workspace(root, Config(language=SETTINGS)) as live:
        yield live


def facts(answer: Answer[Any]) -> str:
    """What the answer is worth: complete, or status and codes."""
    codes = ",".join(reason.code for reason in answer.completeness.reasons)
    return f"{answer.completeness.status} {codes}".strip()


def _probes(
    completion: tuple[str, str], signature: tuple[str, str], fixes: tuple[str, int, int, int], command: str, arguments: Any = ()
) -> dict[str, dict[str, Any]]:
    path, line, start, end = fixes
    return {
        "get_completions": {"file_path": completion[0], "position_pattern": completion[1]},
        "get_signature_help": {"file_path": signature[0], "position_pattern": signature[1]},
        "suggest_fixes": {"file_path": path, "start_line": line, "start_column": start, "end_line": line, "end_column": end},
        "execute_command": {"command": command, "arguments": list(arguments), "file_path": completion[0]},
        "format_document": {},
        "format_range": {"start_line": 1, "end_line": 2},
        "get_semantic_tokens": {"file_path": completion[0]},
        "get_inlay_hints": {"file_path": signature[0]},
    }


_PYTHON = _probes(
    ("properties/main.py", "box.@@cached"), ("callbacks/main.py", "apply(work, @@1)"), ("properties/main.py", 23, 9, 13),
    "ty.printDebugInformation",
)  # fmt: skip
_TYPESCRIPT = _probes(("classes/main.ts", "shape.@@area"), ("classes/main.ts", "total(@@squares)"), ("broken.ts", 1, 1, 10), "none")
_GO = _probes(
    ("methods/elsewhere.go", "l.@@Twice"), ("interfaces/shapes.go", "Total(@@n, "), ("broken.go", 4, 2, 8),
    "gopls.list_known_packages", [{"URI": ""}],
)  # fmt: skip
_CPP = _probes(
    ("headers/main.cc", "made.@@put"), ("headers/main.cc", "made.put(1, @@store"), ("headers/main.cc", 4, 3, 8), "clangd.applyTweak"
)
_RUST = _probes(("modules/mod.rs", "Any::@@One(square"), ("modules/mod.rs", "Square::new(@@2.0)"), ("traits/mod.rs", 23, 6, 10), "none")
_NAMED = {
    "python": (("overriding/main.py", "class @@Shape(ABC"), ("callbacks/main.py", "def @@apply"), ("properties/main.py", "@@box.cached")),
    "typescript": (
        ("classes/shapes.ts", "interface @@Shape"),
        ("classes/main.ts", "function @@total"),
        ("classes/main.ts", "total(@@squares)"),
    ),
    "go": (("interfaces/shapes.go", "type @@Shape"), ("interfaces/shapes.go", "func @@Total"), ("interfaces/shapes.go", "Total(@@shapes")),
    "cpp": (("classes/shapes.cc", "struct @@Shape"), ("headers/main.cc", "made.@@put"), ("headers/main.cc", "@@made.put")),
    "rust": (("traits/mod.rs", "trait @@Shape"), ("traits/mod.rs", "fn @@total"), ("traits/mod.rs", "@@self.side * self.side")),
}
"""A type, a function that others use, and a value."""


def _questions(language: str) -> dict[str, dict[str, Any]]:
    """Of the tools that answer live on request, and of those that rename and try."""
    (path, pattern), (file, marked), (source, value) = _NAMED[language]
    of_type = {"file_path": path, "position_pattern": pattern}
    of_function = {"file_path": file, "position_pattern": marked}
    return {
        **{name: {**of_type, "live": True} for name in ("inspect_symbol", "go_to_definition", "go_to_declaration", "go_to_implementation")},
        "go_to_type_definition": {"file_path": source, "position_pattern": value, "live": True},
        "find_references": {**of_type, "live": True},
        "find_callers": {**of_function, "live": True},
        "get_document_highlights": {**of_function, "live": True},
        "prepare_rename": of_function,
        "rename_symbol": {**of_function, "new_name": "renamed"},
        "preview_edit": {
            "file_path": path,
            "start_line": 1,
            "start_column": 1,
            "end_line": 1,
            "end_column": 1,
            "new_text": "(\n",
            "language": language,
        },
    }


PROBES = {"python": _PYTHON, "typescript": _TYPESCRIPT, "go": _GO, "cpp": _CPP, "rust": _RUST}
"""By language and tool: a question that a server with the feature has something to say to."""


def _asked(live: Live, tool: str, arguments: dict[str, Any]) -> tuple[Any, bool]:
    """The answer, and whether it says anything."""
    answer = live.ask(tool, **arguments)
    return answer, bool(answer.total or (tool == "execute_command" and answer.result.result))


def try_all(live: Live, language: str) -> Matrix:
    """What comes of every probe: `yes`, the code of the reason why nothing is known, or `nothing`."""
    works: dict[str, str] = {}
    for tool, probe in {**_questions(language), **PROBES[language]}.items():
        arguments = {"file_path": ROUGH[language][0], **probe}
        if tool == "execute_command":
            arguments["apply"] = True
            fix = next((item for item in live.ask("suggest_fixes", **PROBES[language]["suggest_fixes"]).result if item.command), None)
            if fix is not None and fix.command.command == arguments["command"]:
                arguments["arguments"] = fix.command.arguments
            arguments["arguments"] = [
                {"URI": (live.root / arguments["file_path"]).as_uri()} if item == {"URI": ""} else item for item in arguments["arguments"]
            ]
        answer, said = _asked(live, tool, arguments)
        if not said and answer.completeness.status != "unknown":  # a busy server publishes what an edit does when nobody waits any more
            answer, said = _asked(live, tool, arguments)
        unknown = answer.completeness.status == "unknown"
        works[tool] = answer.completeness.reasons[0].code if unknown else "yes" if said else "nothing"
    return Matrix(server=f"{SERVERS[language]} {find_server(SERVERS[language]).version}", works=works)
