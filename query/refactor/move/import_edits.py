"""Where a module gets one import more, and how several edits of one text go together."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Sequence

from query.edits.text import Edit
from query.refactor.python_module import Module

_LONG_LINE = 88


def one_more_import(module: Module, text: str, of: str, name: str) -> Edit:
    """A statement more among a module's imports, or a name more in one of them.

    Args:
        of: dotted, what `text` imports from; empty for `import …` and other statements. name: as that statement lists it.
    """
    if of:
        for node in module.tree.body:
            if isinstance(node, ast.ImportFrom) and node.names[0].name != "*" and module.from_module(node) == of:
                return module.and_also(node, name)
    last, line = module.place_for_imports
    if of and isinstance(last, ast.ImportFrom) and last.module != "__future__":
        return module.beside(last, text)
    if last is not None:
        return module.after(last, text if text.startswith(("from ", "import ")) else f"\n{text}")
    return _first_import(module, line, text)


def _first_import(module: Module, line: int, text: str) -> Edit:
    """Before a line, whose blank lines it takes; behind a module's documentation, one below it."""
    end = line
    while end < len(module.document.lines) - 1 and not module.line(end).strip():
        end += 1
    return Edit(start=(line, 0), end=(end, 0), new_text=f"\n{text}\n\n\n" if line else f"{text}\n\n\n")


def imports_for_types(module: Module, texts: Sequence[str]) -> list[Edit]:
    """Imports where types are checked, in a block that is there already or in one more."""
    for node in module.tree.body:
        if isinstance(node, ast.If) and any(binding.is_for_types for binding in module.bindings.get(_first_bound(node), [])):
            return [module.after(node.body[-1], text.replace("\n", "\n    ")) for text in together(texts)]
    last, line = module.place_for_imports
    block = "\n".join(["if TYPE_CHECKING:", *indented(together(texts))])
    if "TYPE_CHECKING" not in module.bindings:
        block = f"from typing import TYPE_CHECKING\n\n{block}"
    return [module.after(last, block if "\n\n" in block else f"\n{block}")] if last is not None else [_first_import(module, line, block)]


def _first_bound(node: ast.If) -> str:
    first = node.body[0]
    if isinstance(first, ast.Import | ast.ImportFrom):
        alias = first.names[0]
        return alias.asname or (alias.name.partition(".")[0] if isinstance(first, ast.Import) else alias.name)
    return ""


def joined(edits: Iterable[Edit]) -> list[Edit]:
    """Edits of one text, each once. Of several at one place what goes on with the line comes before what begins another."""
    found: list[Edit] = []
    for edit in sorted(edits, key=lambda item: (item.start, item.end, item.new_text.startswith("\n"))):
        if found and edit == found[-1]:
            continue
        found.append(edit)
    return found


def together(statements: Iterable[str]) -> list[str]:
    """Statements that import from one module as one, each name once; in brackets where that makes a long line."""
    found: dict[str, list[str]] = {}
    for text in statements:
        head, _, names = text.partition(" import ")
        of_head = found.setdefault(f"{head} import " if names else text, [])
        of_head += [names] if names and names not in of_head else []
    made: list[str] = []
    for head, said in found.items():
        names = sorted(said, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
        line = f"{head}{', '.join(names)}"
        made.append(line if len(line) <= _LONG_LINE or len(names) == 1 else f"{head}(\n    {(',' + chr(10) + '    ').join(names)},\n)")
    return made


def indented(statements: Iterable[str]) -> list[str]:
    return [textwrap.indent(text, "    ") for text in statements]
