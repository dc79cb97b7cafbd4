"""The imports of a text of Go: read, put in, taken out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from query.refactor.parameters.bracketed import Replacement
from query.refactor.positional.source import Code, Node, walk
from query.refactor.positional.texts import is_of_types

_QUOTED = re.compile(r'["`]([^"`]+)["`]')
_MADE = -2
"""The owner of an import that is put in: no list."""


def imports(code: Code, names: Mapping[str, str] = {}) -> Iterator[tuple[Node, str, str]]:
    """Each import: its node, the name that the file has it by, its path.

    Args:
        names: what packages call themselves, by path, as far as that is known; of others the path tells it.
    """
    for node in code.root.named_children:
        for spec in walk(node) if node.type == "import_declaration" else ():
            said = _QUOTED.search(code.said(spec)) if spec.type == "import_spec" else None
            if said is not None:
                alias = spec.child_by_field_name("name")
                yield spec, code.said(alias) if alias is not None else names.get(said[1], name_of(said[1])), said[1]


def name_of(path: str) -> str:
    """What a package is called whose path is this, as far as the path tells."""
    parts = [part for part in path.split("/") if not re.fullmatch(r"v\d+", part)] or [path]
    return parts[-1]


def imported(code: Code) -> set[str]:
    return {name for _, name, _ in imports(code)}


def paths_of_packages(codes: Iterable[Code]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for code in codes:
        if is_of_types(code.language):
            for node, name, path in imports(code):
                if node.child_by_field_name("name") is None:
                    found.setdefault(name, set()).add(path)
    return found


def import_edit(code: Code, path: str, alias: str = "") -> Replacement:
    """An import among its like (the library's have no dot in the first part of their path), in the order of the alphabet.

    Args:
        alias: the name that it gets, where that is another than its own.
    """
    said = f'{alias} "{path}"' if alias else f'"{path}"'
    specs = [(node, other) for node, _, other in imports(code) if other != "C"]
    blocked = [(node, other) for node, other in specs if node.parent.type == "import_spec_list"]
    if blocked:
        return _in_block(code, blocked, path, said)
    if specs:
        at = code.end(specs[-1][0])
        return Replacement(at, at, (f"\nimport {said}",), _MADE)
    clause = next(node for node in code.root.named_children if node.type == "package_clause")
    at = code.end(clause)
    return Replacement(at, at, (f"\n\nimport {said}",), _MADE)


def _in_block(code: Code, blocked: list[tuple[Node, str]], path: str, said: str) -> Replacement:
    """Into the group of the first block whose paths begin most like this one."""
    first = blocked[0][0].parent
    groups: list[list[tuple[Node, str]]] = []
    for node, other in blocked:
        if node.parent == first:
            if groups and node.start_point[0] <= groups[-1][-1][0].end_point[0] + 1:
                groups[-1].append((node, other))
            else:
                groups.append([(node, other)])
    best = max(groups, key=lambda group: max(_likeness(path, other) for _, other in group))
    apart = "" if any(_is_of_library(other) == _is_of_library(path) for _, other in best) else "\n"
    later = next((node for node, other in best if other > path), None) if not apart else None
    if later is not None:
        at = code.start(later)
        return Replacement(at, at, (f"{said}\n\t",), _MADE)
    at = code.end(best[-1][0] if not apart else groups[-1][-1][0])
    line_end = code.text.find("\n", at)
    at = line_end if line_end >= 0 else at
    return Replacement(at, at, (f"{apart}\n\t{said}",), _MADE)


def _likeness(path: str, other: str) -> tuple[bool, int]:
    shared = 0
    for one, two in zip(path.split("/"), other.split("/"), strict=False):
        if one != two:
            break
        shared += 1
    return _is_of_library(path) == _is_of_library(other), shared


def _is_of_library(path: str) -> bool:
    return "." not in path.partition("/")[0]


def uses_package(code: Code, name: str) -> bool:
    """Whether something is taken of what an import is called."""
    for node in code.names.get(name, ()):
        parent = node.parent
        if parent is not None and parent.type in ("qualified_type", "selector_expression") and parent.named_children[0] == node:
            return True
    return False


def without_imports(code: Code, words: Iterable[str], names: Mapping[str, str] = {}) -> str:
    """A new text without the imports among these words that nothing uses any more: it would not be compiled with them.

    Args:
        names: as `imports` takes them.
    """
    wanted = set(words)
    all_of = list(imports(code, names))
    unused = [node for node, name, _ in all_of if name in wanted and name not in ("_", ".") and not uses_package(code, name)]
    gone: set[tuple[int, int]] = set()
    for node in unused:
        statement = node
        while statement.type != "import_declaration":
            statement = statement.parent
        others = [one for one, _, _ in all_of if statement.start_byte <= one.start_byte < statement.end_byte and one not in unused]
        spec = node if others else statement
        start, end = code.text.rfind("\n", 0, code.start(spec)) + 1, code.text.find("\n", code.end(spec))
        if not code.text[start : code.start(spec)].strip() and not code.text[code.end(spec) : end].partition("//")[0].strip():
            end = end + 1 if end >= 0 else len(code.text)
            alone = code.text[:start].endswith(("\n\n", "(\n")) and code.text[end : end + 1] == "\n"
            gone.add((start, end + 1 if alone else end))
    text = code.text
    for start, end in sorted(gone, reverse=True):
        text = text[:start] + text[end:]
    return text
