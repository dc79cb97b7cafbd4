"""Packages as manifests name them: of which one a symbol is, who uses anything of it, who means an installed copy of it instead.

Not the packages of `query.facts.uses.package_of`, which are the language's own unit of code.
"""

from __future__ import annotations

from typing import NamedTuple

from query.facts.index import Index


class Package(NamedTuple):
    """`manager` (pip, npm, go …) is empty where no manifest names the package."""

    manager: str
    name: str


def package_of(index: Index, sym_id: int) -> Package | None:
    """The package of the document that a symbol lies in; None for a symbol that is not in the index."""
    row = index.row("SELECT d.package_manager, d.package FROM symbol s JOIN document d USING (doc_id) WHERE s.sym_id = ?", [sym_id])
    return None if row is None else Package(*row)


def users_of(index: Index, package: Package) -> list[str]:
    """Documents that refer to anything of a package in another document; read once per index."""
    sql = """
        SELECT DISTINCT r.doc_id FROM (
            SELECT s.sym_id, s.doc_id FROM document d JOIN symbol s USING (doc_id) WHERE d.package_manager = ? AND d.package = ?
        ) p JOIN refs r ON r.sym_id = p.sym_id WHERE r.doc_id <> p.doc_id
    """

    def look() -> list[str]:
        ids = [row[0] for row in index.rows(sql, list(package))]
        documents = index.documents(ids)
        return [documents[doc_id][0] for doc_id in ids]

    users: list[str] = index.keep(f"users of {package.manager} {package.name}", look)
    return users


def users_of_copies(index: Index, package: Package, name: str) -> list[str]:
    """Documents, one for each reference, that mean a symbol of this name in the package as it is installed outside the workspace."""
    if not package.manager:
        return []
    sql = "SELECT doc_id FROM document WHERE status = 'external' AND package_manager = ? AND package = ?"
    copies = index.keep(f"copies of {package.manager} {package.name}", lambda: [row[0] for row in index.rows(sql, list(package))])
    if not copies:
        return []
    rows = index.rows(
        """
        SELECT r.doc_id FROM symbol_name n JOIN refs r ON r.sym_id = n.sym_id
        WHERE n.lname = lower($name) AND n.name = $name AND list_contains($copies::INTEGER[], n.doc_id)
        """,
        {"name": name, "copies": copies},
    )
    documents = index.documents({row[0] for row in rows})
    return [documents[row[0]][0] for row in rows]
