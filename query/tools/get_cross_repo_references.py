"""Where a symbol is used, by workspace folder: a library and its consumers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from indexer.errors import UsageError
from query.answers.envelope import Answer, Reason
from query.answers.pages import offset_of, page_of
from query.answers.paths import MAX_PATHS
from query.answers.style import Style, count, headline, one_line
from query.context import Context
from query.facts.completeness import DEFINITION
from query.facts.documents import is_any_below
from query.facts.folders import Folder, folder_of, folders, index_command, moved
from query.facts.index import Index
from query.facts.names import unambiguous
from query.facts.packages import package_of, users_of, users_of_copies
from query.facts.references import Count, Filtered, Found, Reference, search
from query.facts.symbols import Symbol
from query.surface.registry import tool


class GetCrossRepoReferences(Filtered, kw_only=True):
    symbol_file: Annotated[str, msgspec.Meta(description="as file_path: the document that the symbol is in")] = ""
    consumer_roots: Annotated[
        list[str], msgspec.Meta(description="only these consumers: paths or names of workspace folders, or folders below them; default all")
    ] = []


class FolderReferences(msgspec.Struct, kw_only=True):
    """One workspace folder. `path` is relative to the root; `references` and `files` count all pages; `commit` is the indexed one."""

    name: str
    path: str
    role: Literal["library", "consumer"]
    references: int
    files: int
    commit: str
    dirty: bool
    status: Literal["complete", "partial", "unknown"]


class FolderWarning(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What makes one folder's list less than it seems. Codes are those of `completeness`, and:

    folder_not_indexed, one_folder, commit_moved, package_not_used, installed_copy, defined_outside.
    """

    code: str
    folder: str
    detail: str
    count: int = 0
    paths: list[str] = []


class CrossRepoReferences(msgspec.Struct, kw_only=True):
    """`library_references` are those in the folder of the definition, `consumer_references` those in the others, by name of the folder."""

    folders: list[FolderReferences]
    library_references: list[Reference]
    consumer_references: dict[str, list[Reference]]
    warnings: list[FolderWarning]


class _Part(NamedTuple):
    """A workspace folder, or what the caller wants of one. `name` is the caller's own word for it, if there is one."""

    name: str
    prefix: str
    folder: Folder
    is_library: bool

    def holds(self, path: str) -> bool:
        return path.startswith(self.prefix) and (bool(self.prefix) or not path.startswith("../"))


def _text(answer: Answer[CrossRepoReferences], style: Style) -> Iterator[str]:
    yield headline(style, answer.query)
    for folder in answer.result.folders:
        items = answer.result.library_references if folder.role == "library" else answer.result.consumer_references[folder.name]
        found = f"{count(folder.references, 'reference')} in {count(folder.files, 'file')}"
        commit = f" · commit {folder.commit[:10]}{' + changes' if folder.dirty else ''}" if folder.commit else ""
        yield ""
        yield f"{folder.role} {style.strong(one_line(folder.name))} {style.dim(f'({one_line(folder.path)}{commit})')}: {found}"
        yield from style.references(items)
    told = {reason.code for reason in answer.completeness.reasons}  # in the last lines of the answer
    warnings = [warning for warning in answer.result.warnings if warning.code not in told]
    if warnings:
        yield ""
    for warning in warnings:
        where = f"{one_line(warning.folder)}: " if warning.folder else ""
        yield f"{style.warning('warning')} {where}{one_line(warning.detail)}"


@tool(
    "get_cross_repo_references",
    parameters=GetCrossRepoReferences,
    result=CrossRepoReferences,
    positional="symbol",
    example="cross_repo formset_factory",
    task="impact",
    hint="library consumers other repositories downstream another repository ours depends exported",
    text=_text,
)
def TOOL(context: Context, ask: GetCrossRepoReferences) -> Answer[CrossRepoReferences]:
    """All uses of a symbol in every workspace folder, the library's own first, then each consumer's, with warnings about the folders."""
    index, certificate = context.index, context.certificate
    symbol = _with_file(ask).resolve(index)
    about = symbol.record.path
    parts, missing = _parts(index, symbol, ask.consumer_roots)
    found = search(index, symbol, ask, [part.prefix for part in parts])
    offset, shown = offset_of(ask.cursor), len(found.page)
    is_whole = len(folders(index)) == 1 and not ask.consumer_roots
    statuses = [certificate.of_uses([symbol], "references", DEFINITION, within=None if is_whole else part.holds) for part in parts]
    warnings = [*missing, *_surroundings(index, symbol, parts)]
    for part, status in zip(parts, statuses, strict=True):
        warnings += [
            FolderWarning(code=reason.code, folder=part.name, detail=reason.detail, count=reason.count, paths=reason.paths)
            for reason in status.reasons
        ]
    warnings += _about_use(index, symbol, parts, found)

    def holds(path: str) -> bool:
        return any(part.holds(path) for part in parts)

    more = [Reason(code=item.code, detail=item.detail, count=1) for item in missing]
    return context.answer(
        ask,
        CrossRepoReferences(
            folders=[
                FolderReferences(
                    name=part.name,
                    path=part.prefix.rstrip("/") or ".",
                    role="library" if part.is_library else "consumer",
                    references=count.references,
                    files=count.files,
                    commit=part.folder.commit,
                    dirty=part.folder.dirty,
                    status=status.status,
                )
                for number, (part, status) in enumerate(zip(parts, statuses, strict=True))
                for count in [found.counts.get(number, Count(0, 0))]
            ],
            library_references=[item for number, item in found.page if parts[number].is_library],
            consumer_references={
                part.name: [item for at, item in found.page if at == number] for number, part in enumerate(parts) if not part.is_library
            },
            warnings=warnings,
        ),
        page_of(offset, shown, found.total),
        certificate.of_uses(
            [symbol], "references", DEFINITION, more, within=holds if ask.consumer_roots else None, typed=lambda: unambiguous(index, symbol)
        ),
        meant=symbol,
        about=about,
    )


def _with_file(ask: GetCrossRepoReferences) -> GetCrossRepoReferences:
    if ask.symbol_file and ask.file_path and ask.symbol_file != ask.file_path:
        raise UsageError("symbol_file and file_path are two words for one thing; give one of them")
    return msgspec.structs.replace(ask, file_path=ask.symbol_file or ask.file_path)


# ---- which folders


def _parts(index: Index, symbol: Symbol, roots: Sequence[str]) -> tuple[list[_Part], list[FolderWarning]]:
    """The parts that are asked about, the library's first, and the roots that are in no part of the index."""
    known = folders(index)
    home = None if symbol.record.external else folder_of(symbol.record.path, known)
    parts: dict[str, _Part] = {}
    missing: list[FolderWarning] = []
    for root in dict.fromkeys(roots):
        wanted = list(_covered(index, known, root))
        if not wanted:
            missing.append(_not_indexed(index, root))
        for prefix, folder in wanted:
            parts.setdefault(prefix, _Part(root if len(wanted) == 1 else folder.name, prefix, folder, is_library=False))
    if home is not None and not any(part.prefix and part.holds(symbol.record.path) for part in parts.values()):
        parts[home.prefix] = _Part(home.name, home.prefix, home, is_library=True)
    elif home is not None:  # the definition is in one of the parts that were named
        inner = max((part for part in parts.values() if part.holds(symbol.record.path)), key=lambda part: len(part.prefix))
        parts[inner.prefix] = inner._replace(is_library=True)
    if not roots:
        for folder in known:
            parts.setdefault(folder.prefix, _Part(folder.name, folder.prefix, folder, is_library=False))
    return sorted(parts.values(), key=lambda part: (not part.is_library, part.prefix)), missing


def _covered(index: Index, known: Sequence[Folder], root: str) -> Iterator[tuple[str, Folder]]:
    """Prefix and folder of what `root` names: a folder by its name or path, what lies below one, or all folders below the root."""
    if "\0" in root or root.startswith(("\\\\", "//")):
        raise UsageError(f"'{root}' is no folder of this machine")
    named = [folder for folder in known if folder.name == root]
    if named:
        yield from ((folder.prefix, folder) for folder in named)
        return
    top = os.path.realpath(index.root)
    prefix = os.path.relpath(os.path.realpath(root), top).replace(os.sep, "/") + "/"
    prefix = "" if prefix == "./" else prefix
    own = folder_of(prefix, list(known))
    if prefix == own.prefix or (prefix.startswith(own.prefix) and not prefix.startswith("../", len(own.prefix))):
        if is_any_below(index, prefix):
            yield prefix, own
        return
    for folder in known:
        if folder.path(Path(top)).is_relative_to(os.path.realpath(root)):
            yield folder.prefix, folder


def _not_indexed(index: Index, root: str) -> FolderWarning:
    path = os.path.realpath(root)
    if not os.path.isdir(path):
        return FolderWarning(code="folder_not_indexed", folder=root, detail=f"'{root}' is not a folder of this machine")
    if Path(path).is_relative_to(index.root):
        return FolderWarning(code="folder_not_indexed", folder=root, detail=f"no file of '{root}' is in the index")
    return FolderWarning(
        code="folder_not_indexed", folder=root, detail=f"'{root}' is not in the index; to add it: {index_command(index, [path])}"
    )


# ---- what to be warned of


def _surroundings(index: Index, symbol: Symbol, parts: Sequence[_Part]) -> Iterator[FolderWarning]:
    if len(folders(index)) == 1:
        yield FolderWarning(
            code="one_folder",
            folder=folders(index)[0].name,
            detail=f"the index has this one workspace folder; to add consumers: {index_command(index, ['PATH'])}",
        )
    if symbol.record.external:
        yield FolderWarning(
            code="defined_outside", folder="", detail=f"defined outside the workspace folders, in '{symbol.record.path}': all are consumers"
        )
    elsewhere = moved(index)
    for part in parts:
        if part.folder.name in elsewhere:
            then, now = part.folder.commit[:10], elsewhere[part.folder.name][:10]
            detail = f"indexed at commit {then}, is at {now} now; to bring it up to date: {index_command(index)}"
            yield FolderWarning(code="commit_moved", folder=part.name, detail=detail)


def _about_use(index: Index, symbol: Symbol, parts: Sequence[_Part], found: Found) -> Iterator[FolderWarning]:
    """Consumers that do not refer to the symbol: whether they refer to its package at all, or to an installed copy of it."""
    silent = [part for number, part in enumerate(parts) if not part.is_library and number not in found.counts]
    package = package_of(index, symbol.sym_id)
    if not silent or package is None:
        return
    users = users_of(index, package)
    for part in silent:
        if not any(part.holds(path) for path in users):
            detail = f"no file of it refers to anything of the package '{package.name}'"
            yield FolderWarning(code="package_not_used", folder=part.name, detail=detail)
    copies = [] if symbol.record.external else users_of_copies(index, package, symbol.record.name)
    for part in parts:
        paths = [path for path in copies if part.holds(path)]
        if paths:
            detail = f"{len(paths)} references to '{symbol.record.name}' mean an installed copy of '{package.name}' and are not listed"
            listed = sorted(set(paths))[:MAX_PATHS]
            yield FolderWarning(code="installed_copy", folder=part.name, detail=detail, count=len(paths), paths=listed)
