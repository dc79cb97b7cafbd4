"""Variables of a shell that come from the environment, or go to it: `FLAGS=${FLAGS:-}`, `export FLAGS`, `FLAGS=-l make`.

Who starts a script sets them, and what a script starts reads them: other scripts, a Dockerfile, a workflow, `getenv("FLAGS")`. No server
leads from one to the other, so files that have the name are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexer import unread
from indexer.languages import names_of, record_of
from query.answers.envelope import Reason
from query.answers.paths import listed, of_paths
from query.facts.families import languages_of
from query.facts.gaps.uses import Uses
from query.facts.index import Index
from query.facts.quotes import quoting

CODE = "environment_variable"

_SHELLS = tuple(names_of(lambda record: bool(record.runs_words)))
_OF_ENVIRONMENT = (
    rb"\$\{%(name)b:?[-=?+]"  # what is taken where nobody has set it
    rb"|(?<![\w$])%(name)b=[\"']?\$\{?%(name)b(?!\w)"
    rb"|(?m:^[^#\n]*\b(?:export|declare\s+-\w*x\w*)\s[^#\n;]*?(?<![\w$])%(name)b(?!\w))"
    rb"|(?m:^\s*(?:\w+=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']*)\s+)*%(name)b=(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'(]*)[ \t]+[\w./$\"])"
)
_TOLD = "SELECT path FROM document WHERE status = 'manifest' UNION ALL SELECT path FROM skipped WHERE reason = 'not_read' ORDER BY ALL"

_OTHERS = """
    SELECT path FROM document
    WHERE status NOT IN ('external', 'manifest') AND language NOT IN (SELECT unnest($shells::VARCHAR[])) ORDER BY path
"""


def reasons(index: Index, uses: Uses) -> list[Reason]:
    """One for each name."""
    if uses.question != "references":
        return []
    found: list[Reason] = []
    for symbol in uses.symbols:
        record = symbol.record
        if (
            not record_of(languages_of(index).get(record.path, "")).runs_words
            or symbol.is_local
            or record.kind not in ("variable", "constant")
        ):
            continue
        name = record.name.encode("utf-8", "surrogatepass")
        if not re.search(_OF_ENVIRONMENT % {b"name": re.escape(name)}, uses.scope.text(record.path) or b""):
            continue
        paths = [path for path in _naming(index, uses, name) if path != record.path and uses.scope.is_asked(path)]
        if paths:
            detail = f"'{record.name}' is a variable of the environment, and other files have that name, which may set or read it"
            found.append(of_paths(CODE, f"{detail}: {listed(paths)}; look there", paths, len(paths)))
    return found


def _naming(index: Index, uses: Uses, name: bytes) -> Iterator[str]:
    """Scripts and files of settings and commands that have the word, documents of other languages that have it as a string."""
    languages = languages_of(index)
    word = re.compile(rb"(?<![\w-])" + re.escape(name) + rb"(?![\w-])")
    told = [path for (path,) in index.keep("files that may set variables", lambda: index.rows(_TOLD)) if not _is_prose(path)]
    for path in dict.fromkeys([*(path for path, language in languages.items() if language in _SHELLS), *told]):
        if word.search(uses.scope.text(path) or b""):
            yield path
    string = re.compile(rb"""(['"])%b\1""" % re.escape(name))
    others = [path for (path,) in index.keep("documents but shells", lambda: index.rows(_OTHERS, {"shells": list(_SHELLS)}))]
    for path in quoting(index, uses.drift, uses.scope.text, name, others, "environment"):
        if string.search(uses.scope.text(path) or b""):
            yield path


def _is_prose(path: str) -> bool:
    return unread.rule_of(path).reads == "examples"
