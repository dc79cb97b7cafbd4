"""Cases of JavaScript and TypeScript in text archives, made ready to run: each function says first that it was entered.

A case is `=== name` and a text, `main.js`; further files follow, each behind a line `--- path`. Types of TypeScript are blanked, so that
places stay what they are. Which symbol a function is the syntax adapter says; who calls it only the run does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexer.syntax import parse
from indexer.syntax.model import Syntax
from indexer.syntax.tree.grammars import grammar_of

Edges = set[tuple[str, str]]

_FUNCTIONS = frozenset(
    (
        *("function_declaration", "generator_function_declaration", "function_expression", "generator_function"),
        *("arrow_function", "method_definition"),
    )
)
_TYPES = frozenset(
    (
        *("type_annotation", "type_parameters", "type_arguments", "interface_declaration", "type_alias_declaration", "implements_clause"),
        *("accessibility_modifier", "override_modifier", "readonly", "abstract_method_signature", "method_signature"),
    )
)


@dataclass(frozen=True)
class Case:
    """`files`: by path, `main` first. `language`: LSP id."""

    name: str
    language: str
    files: dict[str, str]


@dataclass(frozen=True)
class Entered:
    """A function of the text that runs: where it stands there, and the symbol that it is, "" for none of its own."""

    start: int
    end: int
    symbol: str


def cases_of(path: Path, language: str) -> list[Case]:
    ending = {"typescript": "ts", "javascript": "js", "python": "py"}[language]
    made: list[Case] = []
    for part in f"\n{path.read_text(encoding='utf-8')}".split("\n=== ")[1:]:
        name, _, text = part.partition("\n")
        first, *others = text.split("\n--- ")
        files = {f"main.{ending}": first.rstrip() + "\n"}
        for other in others:
            file, _, source = other.partition("\n")
            files[file] = source.rstrip() + "\n"
        made.append(Case(f"{path.stem}_{name}", language, files))
    return made


def run(cases: list[Case], folder: Path) -> dict[str, Edges]:
    """By case: who called whom, by qualified names within the case; the module of a file is its name, that of `main` ""."""
    functions: dict[str, dict[str, list[Entered]]] = {}
    sources: dict[str, bytes] = {}
    for case in cases:
        for file, text in case.files.items():
            path = folder / case.name / _running(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            source, made = _instrumented(case.language, file, text.encode())
            path.write_bytes(source)
            key = path.relative_to(folder).as_posix()
            sources[key] = source
            functions.setdefault(case.name, {})[key] = made
    node = shutil.which("node")
    assert node is not None
    done = subprocess.run(
        [node, str(Path(__file__).with_name("flow_run.cjs")), str(folder)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Edges] = {case.name: set() for case in cases}
    for name, edges in json.loads(done.stdout).items():
        files = functions[name]
        for (file, line, column), callee in edges:
            lines = sources[file].split(b"\n")
            offset = sum(len(text) + 1 for text in lines[:line]) + column
            at, number = callee.rsplit(":", 1)
            found[name].add((_symbol_at(files[file], offset, file), files[f"{name}/{at}"][int(number)].symbol))
    return {name: {(caller, callee) for caller, callee in edges if callee} for name, edges in found.items()}


def _symbol_at(functions: list[Entered], offset: int, file: str) -> str:
    around = [item for item in functions if item.start <= offset < item.end and item.symbol]
    return max(around, key=lambda item: item.start).symbol if around else _module(file)


def _module(file: str) -> str:
    stem = Path(file).stem
    return "" if stem == "main" else stem


def _instrumented(language: str, file: str, source: bytes) -> tuple[bytes, list[Entered]]:
    """The text as it runs, and its functions by their numbers."""
    key = _running(file)
    cuts: list[tuple[int, int, bytes]] = []  # start, end, text in its place
    functions: list[Any] = []

    def visit(node: Any) -> None:
        body = node.child_by_field_name("body") if node.type in _FUNCTIONS else None
        if node.type in _TYPES or (node.type == "?" and node.parent.type.endswith("parameter")):
            cuts.append((node.start_byte, node.end_byte, b" " * (node.end_byte - node.start_byte)))
            return
        if node.type in ("as_expression", "satisfies_expression", "non_null_expression"):
            value = node.named_children[0]
            visit(value)
            cuts.append((value.end_byte, node.end_byte, b" " * (node.end_byte - value.end_byte)))
            return
        if body is not None:
            entered = f'__entered("{key}:{len(functions)}")'.encode()
            functions.append(node)
            is_block = body.type == "statement_block"
            start = body.start_byte + int(is_block)
            cuts.append((start, start, entered + b";" if is_block else b"(" + entered + b","))
            if not is_block:
                cuts.append((body.end_byte, body.end_byte, b")"))
        for child in node.children:
            visit(child)

    visit(grammar_of(language, file).parser.parse(source).root_node)
    cuts.sort(key=lambda cut: cut[:2])
    out, at = bytearray(), 0
    moved: list[tuple[int, int]] = []  # an offset, and how far what stands behind it has moved
    for start, end, text in cuts:
        out += source[at:start] + text
        at = end
        moved.append((start, len(out) - end))
    out += source[at:]

    def there(offset: int) -> int:
        return offset + next((by for start, by in reversed(moved) if start < offset), 0)

    names = _names(bytes(out), key)
    made = [Entered(there(node.start_byte), there(node.end_byte), names[number]) for number, node in enumerate(functions)]
    for item in made:  # what has the name of the function around it has none of its own
        around = [other for other in made if other.start <= item.start and item.end <= other.end and other is not item]
        if names[made.index(item)] == _module(file) or any(names[made.index(other)] == names[made.index(item)] for other in around):
            made[made.index(item)] = Entered(item.start, item.end, "")
    return bytes(out), made


def _running(file: str) -> str:
    return file.removesuffix("ts") + "js" if file.endswith("ts") else file


def _names(source: bytes, file: str) -> dict[int, str]:
    """By number of a function, the qualified name of the symbol around its first words; "" for the module's own text."""
    syntax = parse("javascript", file, source, "")
    found: dict[int, str] = {}
    lines = source.decode().split("\n")
    for index, token in enumerate(syntax.tokens.name):
        if token == "__entered":
            number = int(lines[syntax.tokens.line[index]][syntax.tokens.end_col[index] :].split(":", 1)[1].split('"', 1)[0])
            found[number] = _name(syntax, syntax.tokens.enclosing[index], file)
    return found


def _name(syntax: Syntax, ordinal: int, file: str) -> str:
    own: list[str] = []
    while ordinal > 0:
        own.append(syntax.symbols[ordinal].name)
        ordinal = syntax.symbols[ordinal].container
    return ".".join(filter(None, (_module(file), *reversed(own))))


def names_of(language: str, file: str, text: str) -> dict[tuple[int, int], str]:
    """The names of a file's symbols, as `run` has them, by line and column of their own names."""
    syntax = parse(language, file, text.encode(), "")
    symbols = enumerate(syntax.symbols)
    return {(symbol.selection.line, symbol.selection.col): _name(syntax, ordinal, file) for ordinal, symbol in symbols if ordinal} | {
        (0, 0): _name(syntax, 0, file)
    }
