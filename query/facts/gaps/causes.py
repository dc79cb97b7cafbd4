"""Why a file was not read, or not asked about, and what helps: one table, in words that people know.

A sentence is about some files: "3 files are larger than max_file_bytes and were not read; to read such: …". Where nothing helps, it
says so.
"""

from __future__ import annotations

import glob
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from indexer.builds import MACHINES, SYSTEMS, tags_in
from indexer.model import LossReason, SkipReason
from query.facts.folders import index_command
from query.facts.index import Index


class Cause(NamedTuple):
    """What is the matter with a file, as `it …` goes on and as `they …` does, and what helps; `{path}` is the first of the files,
    `{include}` and `{exclude}` are options that name them.
    """

    one: str
    many: str
    remedy: str


_INCLUDE = "to read such: lspidx index {include}"
_NAMED = 5
_NO_REMEDY = "nothing can be done about that from here"

_SKIPPED = {
    SkipReason.TOO_LARGE: Cause(
        "is larger than max_file_bytes", "are larger than max_file_bytes", "to read larger files: max_file_bytes in lspidx.toml"
    ),
    SkipReason.TOO_DEEP: Cause(
        "is nested more deeply than max_file_depth, or in more than 200 folders",
        "are nested more deeply than max_file_depth, or in more than 200 folders",
        "a server would fall over it: to have it read, nest it less",
    ),
    SkipReason.TOO_SLOW: Cause(
        "is a text that no parser reads in a time that fits its size",
        "are texts that no parser reads in a time that fits their size",
        "if it is no source, leave it out: lspidx index {exclude}",
    ),
    SkipReason.TOO_MANY: Cause(
        "is a component of which there are more than a server can be told",
        "are components of which there are more than a server can be told", _INCLUDE,
    ),
    SkipReason.EXCLUDED: Cause("is excluded by your settings", "are excluded by your settings", "to read it: exclude in lspidx.toml"),
    SkipReason.BINARY: Cause("has NUL bytes in it", "have NUL bytes in them", "to read such a file, save it as UTF-8"),
    SkipReason.NOT_DECODABLE: Cause("is not UTF-8", "are not UTF-8", "to read such a file, save it as UTF-8"),
    SkipReason.LFS_POINTER: Cause(
        "is a pointer to content that git-lfs keeps", "are pointers to content that git-lfs keeps", "to have it here: git lfs pull"
    ),
    SkipReason.GENERATED: Cause("was written by a generator", "were written by a generator", _INCLUDE),
    SkipReason.VENDORED: Cause("was copied from another project", "were copied from other projects", _INCLUDE),
    SkipReason.MINIFIED: Cause("is minified", "are minified", _INCLUDE),
    SkipReason.BUNDLED: Cause("holds many modules in one file", "hold many modules in one file", _INCLUDE),
    SkipReason.BUILT: Cause("was made by a build", "were made by a build", _INCLUDE),
    SkipReason.UNREADABLE: Cause("could not be opened", "could not be opened", "to read it, give yourself the right: chmod u+r {path}"),
    SkipReason.NOT_CHECKED_OUT: Cause(
        "is left out by a sparse checkout", "are left out by a sparse checkout",
        "to have all of it here: git sparse-checkout disable; to leave it out for good: lspidx index {exclude}",
    ),
    SkipReason.NAME_NOT_UTF8: Cause("has a name that is not UTF-8", "have names that are not UTF-8", "to read it, rename it"),
    SkipReason.NOT_READ: Cause("is of a kind that no server reads", "are of kinds that no server reads", "to look: open {path}"),
    SkipReason.IGNORED: Cause("is ignored by git", "are ignored by git", "to read it, take it out of .gitignore"),
    SkipReason.OTHER_REPOSITORY: Cause(
        "is in another repository that lies in this one", "are in other repositories that lie in this one", _INCLUDE
    ),
    SkipReason.NO_SERVER: Cause(
        "is of a language that has no server here", "are of a language that has no server here", "what there is: lspidx doctor"
    ),
    SkipReason.NOT_REGULAR: Cause("is no regular file", "are no regular files", _NO_REMEDY),
    SkipReason.SYMLINK: Cause(
        "is a link in this folder to a file that is read in another one", "are links in this folder to files that are read in another one",
        "whether it means what lies beside the link, nobody was asked: open {path}",
    ),
    SkipReason.UNLISTED_LINK: Cause(
        "is a link to what is no file of the workspace", "are links to what is no file of the workspace",
        "to read it, add the folder that it leads to: lspidx index --folder PATH",
    ),
}  # fmt: skip

_LOST = {
    LossReason.SERVER_CRASHED: (
        "the language server crashed on them", "{others}"
    ),
    LossReason.SERVER_TIMEOUT: (
        "the language server did not answer in time", "to wait longer: language.{language}.timeout_s in lspidx.toml"
    ),
    LossReason.SERVER_ERROR: ("the language server answered with an error", "which: .lspidx/log/lspidx.log"),
    LossReason.SERVER_PROTOCOL: (
        "the language server's answer could not be read", "which: .lspidx/log/lspidx.log"
    ),
    LossReason.SERVER_MEMORY: (
        "the language server needed more memory than it may have", "to give it more: language.{language}.memory_mb in lspidx.toml"
    ),
    LossReason.SERVER_UNAVAILABLE: ("the language server could not be started", "why: lspidx doctor"),
    LossReason.WORKER_CRASHED: ("the process that asked about them died", "to ask again: {again}"),
    LossReason.CHANGED_DURING_CRAWL: ("they changed while they were read", "to read them again: {again}"),
    LossReason.NOT_READY: ("the language server never was ready", "to wait longer: language.{language}.timeout_s in lspidx.toml"),
    LossReason.TIME_LIMIT: ("they took longer than a file may", "to allow more: LSPIDX_MAX_FILE_S, LSPIDX_MAX_UNIT_S"),
    LossReason.QUESTION_LIMIT: ("there is more to ask about them than may be asked", "to allow more: LSPIDX_MAX_UNIT_QUESTIONS"),
}  # fmt: skip


def files(count: int) -> str:
    return f"{count} file{'s' if count != 1 else ''}"


def not_read(reason: str, paths: Sequence[str], words: Sequence[str] = ()) -> str:
    """Why these files were not read.

    Args:
        words: those of the names that were asked about which they have; empty where they were not searched.
    """
    is_one = len(paths) == 1
    cause = _SKIPPED.get(SkipReason(reason)) if reason in set(SkipReason) else None
    what = f"were not read ({reason})" if cause is None else cause.one if is_one else cause.many
    said = f"{files(len(paths))} {what}"
    if words:
        said += f", {'has' if is_one else 'have'} {_quoted(words)}"
    if cause is None:
        return f"{said}; why: lspidx status"
    remedy = cause.remedy.format(path=shlex.quote(paths[0]), include=options("--include", paths), exclude=options("--exclude", paths))
    return f"{said} and {'was' if is_one else 'were'} not read; {remedy}"


def options(option: str, paths: Sequence[str]) -> str:
    """The option that takes a pattern, once for each of these files, as a shell takes it; of many the first few, and how many are left."""
    named = " ".join(f"{option} {shlex.quote(glob.escape(path))}" for path in paths[:_NAMED])
    left = len(paths) - _NAMED
    return named if left <= 0 else f"{named} (and so for {left} more, see: lspidx status)"


def lost(index: Index, reason: str, language: str) -> str:
    """Why answers about files are missing, and what helps; `reason` begins with a LossReason."""
    code = reason.split(":", 1)[0]
    if code == LossReason.NOT_CRAWLED:
        return not_crawled(index)
    if code not in set(LossReason) or (known := _LOST.get(LossReason(code))) is None:
        return f"{code.replace('_', ' ')}; the log says more: .lspidx/log/lspidx.log"
    why, remedy = known
    others = other_servers(index, language) if "{others}" in remedy else ""
    return f"{why}; {remedy.format(language=language, again=f'{index_command(index)} --full', others=others)}"


def at_lines(path: str, lines: Mapping[str, Sequence[int]]) -> str:
    """Where names stand that were not read as such; `lines` are 0-based, by path."""
    if not (found := lines.get(path)):
        return ""
    return f", and the name where it was not read, as in {path}:{found[0] + 1}"


def not_crawled(index: Index) -> str:
    """Why an index is partial, and what helps."""
    extent = index.meta.get("partial", "")
    if index.is_catching_up:
        return f"the index is being made, {extent} files are in it so far; ask again in some seconds"
    return f"the run that made this index was cut off, {extent} files are in it; to go on from there: {index_command(index)}"


def not_in_build(reason: str) -> str:
    """Why no build that was loaded takes files in, and what helps. `reason`: of a row of the coverage."""
    why = reason.partition(": ")[2] or "no build that was loaded takes them in"
    if "constraint" in why:
        free = [tag for tag in tags_in(why.partition("'")[2]) if tag not in SYSTEMS and tag not in MACHINES]
        tags = ",".join(free) or "TAG"
        return f'{why}; to read it: environment = {{ GOFLAGS = "-tags={tags}" }} below [language.go] in lspidx.toml'
    if "go command leaves out" in why:
        return f"{why}; nothing of it is part of the program"
    return f"{why}; what the language's tools need: lspidx doctor"


def _quoted(words: Sequence[str]) -> str:
    shown = ", ".join(f"'{word}'" for word in words[:3])
    return f"the word{'s' if len(words) > 1 else ''} {shown}{', …' if len(words) > 3 else ''}"


def servers_beside(language: str, used: Collection[str]) -> list[str]:
    """Entries of the server table for a language, in its order, but for those that are `used`."""
    from indexer.servers.registry import load_table  # 10 ms, where few answers need it

    known = load_table().language.get(language)
    return [name for name in known.servers if name not in used] if known is not None else []


def other_servers(index: Index, language: str) -> str:
    """Which other servers could be asked about files of a language, in words."""
    used = {row[0] for row in index.rows("SELECT name FROM server WHERE language = ?", [language])}
    others = servers_beside(language, used)
    return f"other servers, by lspidx index --server NAME: {', '.join(others)}" if others else f"no other server of {language} is known"
