"""How a server was started."""

from __future__ import annotations

from typing import Literal, NamedTuple

MIN_BUDGET, BUDGET, MAX_BUDGET = 1_000, 8_000, 40_000
"""Characters of one form of an answer. 8,000 are about 2,000 tokens; clients refuse answers of 25,000 tokens, which twice 40,000
characters do not reach (a client may show the model both forms)."""

Format = Literal["text", "json", "both"]
Profile = Literal["default", "full"]


class Options(NamedTuple):  # not a msgspec record: the command line has the limits in its help and loads nothing for it
    """profile: which tools are listed from the beginning; all can be called. budget: characters of one answer, of each of its forms.

    dialect: another product's tools in place of ours; empty for ours.
    format: what an answer consists of: text for the model, or data for programs; a client that gets both may show the model both.
    strict: an answer that is not complete is an error.
    make_index: make the index where there is none before the first answer. begin_index: make it in the background meanwhile.
    allow_edits: tools may change files and run the repository's code.
    refresh: bring the index up to date, on a thread of its own, when a question finds that files have changed.
    folders: absolute, outside of the workspace, that tools may be asked about.
    """

    profile: Profile = "default"
    budget: int = BUDGET
    format: Format = "text"
    strict: bool = False
    make_index: bool = False
    begin_index: bool = False
    allow_edits: bool = False
    refresh: bool = True
    dialect: str = ""
    folders: tuple[str, ...] = ()
