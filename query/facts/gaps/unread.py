"""Files that nothing here reads and that name a symbol: condition (a) of the promise.

Which words of such a file count, `indexer.unread` says; which files there are, `unread_files`; what a symbol is called there, `spellings`.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence

from indexer import unread
from indexer.languages import record_of
from indexer.manifests import format_of
from query.answers.envelope import Reason
from query.answers.paths import of_paths
from query.facts.families import languages_of
from query.facts.freshness import Drift
from query.facts.gaps import spellings, unread_files
from query.facts.gaps.uses import Uses, with_types
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_SENTENCES = {
    "words": ("file in a language that is not read here has the word", "files in languages that are not read here have the word"),
    "assembler": ("file of assembler has the word", "files of assembler have the word"),
    "commands": ("file of commands has the word", "files of commands have the word"),
    "linked": (
        "file tells an assembler, a linker or a generator the name",
        "files tell an assembler, a linker or a generator the name",
    ),
    "begun": (
        "program that writes C makes names that begin with",
        "programs that write C make names that begin with",
    ),
    "texts": (
        "source has, in a text that is no code of its own (a template, assembler, a command), the name",
        "sources have, in texts that are no code of their own (templates, assembler, commands), the name",
    ),
    "code": ("file that is not read seems to use", "files that are not read seem to use"),
    "program": ("template of a program, which is not read, seems to use", "templates of programs, which are not read, seem to use"),
    "expressions": ("template, which is not read, uses the name", "templates, which are not read, use the name"),
    "marks": ("template, which is not read, uses the name", "templates, which are not read, use the name"),
    "bindings": ("component has, in markup and not as code, the name", "components have, in markup and not as code, the name"),
    "examples": ("document has an example, which is not read, of", "documents have examples, which are not read, of"),
    "dotted": (
        "file of settings or commands has a dotted name that ends with",
        "files of settings or commands have a dotted name that ends with",
    ),
    "macros": (
        "source has, in the text of a macro, which is read where it is used only, the name",
        "sources have, in texts of macros, which are read where they are used only, the name",
    ),
    "doctests": ("source has a doctest, which is not read, of", "sources have doctests, which are not read, of"),
    "other_repository": ("file of another repository in this one seems to use", "files of other repositories in this one seem to use"),
    "ignored": ("file that git ignores seems to use", "files that git ignores seem to use"),
}
"""By what is read of the files (`indexer.unread`), or why nothing is: one file, and several; the name follows."""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """Files that are not read and name one of the symbols, by what they are."""
    if not unread_files.is_any(index, uses.drift):
        return []
    naming: dict[tuple[str, str], set[str]] = defaultdict(set)
    for symbol in with_types(index, uses):
        if not symbol.is_local and symbol.record.name.isidentifier():
            for what, name, path in _counting(index, symbol, uses):
                naming[what, name].add(path)
    for (what, name), paths in naming.items():
        if what == "macros":  # of parts that the build leaves out it is said why
            paths.difference_update([path for (path,) in index.rows(_LEFT_OUT, [name])])
    return [_reason(what, name, sorted(paths)) for (what, name), paths in sorted(naming.items()) if paths]


def _counting(index: Index, symbol: Symbol, uses: Uses) -> Iterator[tuple[str, str, str]]:
    """Of each file that names the symbol and may mean it: the key of the sentence about it, the name there, its path."""
    shortest, in_templates = spellings.shortest_name(symbol), spellings.read_by_templates(index, symbol)
    for path, what in _naming(index, symbol, uses.drift, shown=uses.question == "references", family=uses.family).items():
        if _may_mean(symbol, uses, path, what):
            yield what, shortest if what != "begun" else shortest[: shortest.index("_") + 1], path
        elif in_templates and uses.scope.is_asked(path) and uses.scope.holds(path, [in_templates]):
            yield what, in_templates, path


def _may_mean(symbol: Symbol, uses: Uses, path: str, what: str) -> bool:
    """What is told to a linker, what is written by a program, and what a manifest names needs no import; elsewhere the file has to be able
    to refer to the symbol.
    """
    if what in ("linked", "begun") or format_of(path):
        return uses.scope.is_asked(path)
    return uses.could_refer(path) or spellings.is_of_object(symbol)


_LEFT_OUT = """
    SELECT DISTINCT d.path FROM unresolved_name u JOIN document d USING (doc_id) WHERE u.name = ? AND has_role(u.roles, 'mention')
"""


def _naming(index: Index, symbol: Symbol, drift: Drift, *, shown: bool, family: Collection[str] = ()) -> dict[str, str]:
    """Paths of files that are not read, and that may name the symbol; the key of the sentence about each.

    Args:
        shown: examples in documents count, which nobody runs, and not doctests only.
        family: languages whose files may refer to it; empty for all.
    """
    wanted = spellings.wanted(index, symbol)
    files = unread_files.files_with(index, wanted.any, drift)
    in_pages = unread_files.runs_in_pages(family)
    in_macros = shown or spellings.is_macro(symbol)  # what a macro that is used calls, the compiler tells, but for other macros
    found: dict[str, str] = {}
    for path in files.paths:
        words = files.words.get(path)
        if words is not None and wanted.is_linked(words, shown=shown):
            found[path] = "linked"
            continue
        if words is not None and wanted.is_begun(words):
            found[path] = "begun"
            continue
        is_named = _is_named(symbol, wanted, path, words, shown=shown, in_pages=in_pages, in_macros=in_macros)
        if is_named and unread_files.may_refer(index, path, family):
            found[path] = _what_of(index, path, wanted, words)
    return found


def named_in_unread(index: Index, ids: Collection[int], drift: Drift, family_of: Callable[[str], Collection[str]]) -> set[int]:
    """Those of many symbols that a file which is not read, for whatever reason, may name, examples in documents left out.

    Args:
        family_of: languages whose files may refer to what a document defines, by its path.
    """
    if not ids or not unread_files.is_any(index, drift):
        return set()
    files = unread_files.every_file(index, drift)
    paths = files.paths
    found: set[int] = set()
    for sym_id, symbol in symbols_by_id(index, sorted(ids)).items():
        family = family_of(symbol.record.path)
        wanted = spellings.wanted(index, symbol)
        in_pages = unread_files.runs_in_pages(family)
        named = (
            path for path in paths if _is_named(symbol, wanted, path, files.words.get(path), shown=False, in_pages=in_pages, in_macros=True)
        )
        linked = any(wanted.is_linked(words, shown=True) or wanted.is_begun(words) for words in files.words.values())
        if linked or any(unread_files.may_refer(index, path, family) for path in named):
            found.add(sym_id)
    return found


def _is_named(
    symbol: Symbol, wanted: unread.Wanted, path: str, words: frozenset[int] | None, *, shown: bool, in_pages: bool, in_macros: bool
) -> bool:
    """`words`: None for a file that was not searched, where any name may stand."""
    is_own = path == symbol.record.path
    return words is None or wanted.is_named(words, shown=shown, own=is_own, in_pages=in_pages, in_macros=in_macros)


def _what_of(index: Index, path: str, wanted: unread.Wanted, words: frozenset[int] | None) -> str:
    """The key of the sentence about a file, which has these words."""
    if path in unread_files.sources(index):
        if unread.rule_of(path).reads == "bindings":
            return "bindings"
        if words is not None and not wanted.alone.isdisjoint(words):
            return "texts"
        return "macros" if record_of(languages_of(index).get(path, "")).preprocessed else "doctests"
    return unread_files.ignored(index).get(path) or unread.rule_of(path).reads


def _reason(what: str, name: str, paths: Sequence[str]) -> Reason:
    one, several = _SENTENCES[what]
    count = len(paths)
    shown = " ".join(shlex.quote(path) for path in paths[:3])
    if what == "bindings" and (hyphened := _HUMP.sub("-\\?", name)) != name:
        look = f"to look: grep -niw {shlex.quote(hyphened)} {shown}{' …' if count > 3 else ''}"
    else:
        look = f"to look: grep -nw {shlex.quote(name)} {shown}{' …' if count > 3 else ''}"
    return of_paths("not_read", f"{count} {one if count == 1 else several} '{name}'; {look}", list(paths))
