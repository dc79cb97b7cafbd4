"""What markup calls a component: by names of its file, where frameworks find components by themselves, and with hyphens anywhere."""

from __future__ import annotations

import re
from collections.abc import Collection

from indexer.embedded import COMPONENT, form_of
from query.facts.index import Index
from query.facts.symbols import Symbol, symbols_by_id

_PART = re.compile(r"[^\W_]+")
_FOLDERS = 4
"""Names of folders that may stand before a file's in the name of a component."""

DEFAULT = "default"


def names_of(symbol: Symbol) -> set[str]:
    """Of what a component's file exports by default; none of others.

    `base/my-button.vue` is `MyButton` to who imports it, and may be `BaseMyButton` or `LazyBaseMyButton` where nobody does.
    """
    record = symbol.record
    if record.name != DEFAULT or form_of(record.path) != COMPONENT:
        return set()
    *folders, base = record.path.split("/")
    stem = base.partition(".")[0]
    parts = [*folders, *([] if stem == "index" else [stem])][-_FOLDERS:]
    found: set[str] = set()
    name = ""
    for part in reversed(parts):
        own = _pascal(part)
        name = name if name.startswith(own) else own + name  # a folder's name is not said twice
        found |= {name, f"Lazy{name}"}
    return {name for name in found if name.isidentifier()}


def component_of(index: Index, path: str) -> Symbol | None:
    """What the file of a component exports by default; None of other files."""
    if form_of(path) != COMPONENT:
        return None
    sql = "SELECT s.sym_id FROM symbol s JOIN document d USING (doc_id) WHERE d.path = ? AND s.name = ? ORDER BY 1 LIMIT 1"
    row = index.row(sql, [path, DEFAULT])
    return None if row is None else symbols_by_id(index, [row[0]])[row[0]]


def without_imports(index: Index, paths: Collection[str]) -> set[str]:
    """Those files in which a name may mean what the file does not import: components, and all where a framework imports by itself."""
    if _imports_itself(index):
        return set(paths)
    return {path for path in paths if form_of(path) == COMPONENT}


def _imports_itself(index: Index) -> bool:
    return index.keep("imports by itself", lambda: index.row(_BY_ITSELF) is not None)


_BY_ITSELF = """
    SELECT 1 FROM document WHERE regexp_matches(path, '(^|/)nuxt\\.config\\.[cm]?[jt]s$')
    UNION ALL SELECT 1 FROM unresolved_import WHERE module LIKE 'unplugin-auto-import%' LIMIT 1
"""


def _pascal(text: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in _PART.findall(text))
