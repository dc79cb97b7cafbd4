"""What was not read, not asked or not answered, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class SkipReason(StrEnum):
    """Why a file of the repository was not crawled. Those about folders and links stand at a path that ends with `/`, or at the link."""

    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"  # nested; of a document: read for its text only, no server is asked
    TOO_SLOW = "too_slow"  # of a document: no parser of ours reads it in a time that fits its size; its words are known
    BINARY = "binary"
    NOT_DECODABLE = "not_decodable"
    GENERATED = "generated"
    VENDORED = "vendored"
    MINIFIED = "minified"
    BUNDLED = "bundled"  # many modules in one file
    BUILT = "built"  # a compiler's or a tool's output
    TOO_MANY = "too_many"  # a component, of more than a server can be told
    EXCLUDED = "excluded"
    SYMLINK = "symlink"  # to what is read under its own path, or to nothing
    UNLISTED_LINK = "unlisted_link"  # to what is no file of this workspace
    NOT_REGULAR = "not_regular"
    UNREADABLE = "unreadable"
    NOT_CHECKED_OUT = "not_checked_out"  # left out of the work tree by a sparse checkout; words are those of what git has
    LFS_POINTER = "lfs_pointer"  # git-lfs keeps the content elsewhere, and it was not fetched
    NAME_NOT_UTF8 = "name_not_utf8"
    NO_SERVER = "no_server"
    IGNORED = "ignored"  # a source that git ignores, such as settings of one machine
    OTHER_REPOSITORY = "other_repository"  # a source of another repository that lies in this one
    NOT_READ = "not_read"  # a text that no server reads, and that has words which may name symbols (`indexer.unread`)
    NOT_IN_BUILD = "not_in_build"  # of a document: read for its text only, since its server takes no build of it
    NESTED_REPOSITORY = "nested_repository"
    WORK_TREE = "work_tree"  # of this repository or another, inside of this one
    SUBMODULE = "submodule"  # not checked out
    HIDDEN_FOLDER = "hidden_folder"  # of a folder without git


QUESTIONS_CUT = "questions_cut"
"""In place of a reason: so many of a document's questions were not asked, for the limits of questions."""


def in_part(reason: str, answered: int, questions: int) -> str:
    """The reason of a loss where some answers are kept: `time_limit: 900 of 1000 answered`."""
    return f"{reason}: {answered} of {questions} answered"


def is_mostly_answered(reason: str) -> bool:
    """Whether a loss says that half of the questions or more were answered."""
    found = re.fullmatch(r"\w+: (\d+) of (\d+) answered", reason)
    return found is not None and 2 * int(found[1]) >= int(found[2])


TREE_KNOWN = "syntax_error: compiled"
"""The reason of a document with a syntax error whose compiler has shown its own tree: all calls of its functions are known."""


CUT = (QUESTIONS_CUT, SkipReason.TOO_DEEP, SkipReason.TOO_SLOW)
"""What the reason of a document begins with that has answers to some questions, or to none, for a limit on what a file may cost. It depends
on the text, so nothing is lost, and no later crawl asks again (ADR 0030, 0041)."""


FOREIGN = (SkipReason.VENDORED, SkipReason.GENERATED, SkipReason.MINIFIED, SkipReason.BUNDLED, SkipReason.BUILT)
"""Reasons that say: not the project's own source. `include` reads such files all the same."""


BY_WORDS = (SkipReason.NOT_READ, SkipReason.IGNORED, SkipReason.OTHER_REPOSITORY)
"""Reasons of texts of which words are known and nothing else: they count where they name what was asked about (`indexer.unread`)."""


BORDERS = (SkipReason.NESTED_REPOSITORY, SkipReason.WORK_TREE, SkipReason.SUBMODULE, SkipReason.HIDDEN_FOLDER)
"""Reasons of whole folders where the workspace ends."""


class LossReason(StrEnum):
    """Why an answer that should be there is not."""

    SERVER_CRASHED = "server_crashed"
    SERVER_TIMEOUT = "server_timeout"
    SERVER_ERROR = "server_error"
    SERVER_PROTOCOL = "server_protocol"
    SERVER_MEMORY = "server_memory"
    SERVER_UNAVAILABLE = "server_unavailable"
    WORKER_CRASHED = "worker_crashed"
    CHANGED_DURING_CRAWL = "changed_during_crawl"
    SYNTAX_ERROR = "syntax_error"
    NOT_READY = "not_ready"
    NOT_CRAWLED = "not_crawled"  # the run was cut off before it came to it
    TIME_LIMIT = "time_limit"  # the file, or its unit, took longer than it may
    QUESTION_LIMIT = "question_limit"  # its unit asks more than it may


class CoverageStatus(StrEnum):
    """The outcome of one method on one document."""

    DONE = "done"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    LOST = "lost"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file that was looked at and left out, with the reason.

    `words` are the digests (`indexer.text.word_digests`) of all identifiers in it, or, for reasons of BY_WORDS, of those that
    `indexer.unread` says; None where it was not searched.
    """

    path: str
    reason: SkipReason
    language: str = ""
    words: tuple[int, ...] | None = None
