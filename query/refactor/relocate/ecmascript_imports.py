"""Statements of imports and exports as they will be: names that go, names that come."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from query.refactor.positional.source import Code, Node
from query.refactor.relocate.around import Around
from query.refactor.relocate.modules import Statement, statements


class Added(NamedTuple):
    """A name that a module gets. path: as it will be written. name: `default` and `*` too. behind: the offset of a statement to stand at.

    is_type: for types only. is_export: it is passed on.
    """

    path: str
    name: str
    local: str
    is_type: bool
    is_export: bool
    behind: int = -1


class Changes:
    """What happens to the statements of modules, by path."""

    def __init__(self, around: Around) -> None:
        self.around = around
        self.dropped: dict[str, set[int]] = defaultdict(set)
        """Where the nodes begin that name what goes, in bytes."""
        self.added: dict[str, list[Added]] = defaultdict(list)

    def drop(self, code: Code, node: Node) -> None:
        self.dropped[code.path].add(node.start_byte)

    def add(self, path: str, item: Added) -> None:
        if item not in self.added[path]:
            self.added[path].append(item)

    def write(self, path: str) -> str:
        """Puts the changes among the edits of a file. What is returned goes to the top of it, where it has no statements yet."""
        code = self.around.code(path)
        items = list(self.added.get(path, ()))
        if code is None:
            return "".join(f"{line}\n" for line in new_statements(items, self._quote(), self._end()))
        known = statements(code)
        whole: dict[int, bool] = {}
        for statement in known:
            gone = [one for one in statement.names if one.node.start_byte in self.dropped[path]]
            if gone:
                whole[statement.node.start_byte] = len(gone) == len(statement.names)
                taken = self._into(code, statement, items) if not whole[statement.node.start_byte] else []
                items = [item for item in items if item not in taken]
                self._rewrite(code, statement, taken, items)
                items = [item for item in items if item.behind != statement.node.start_byte]
        for statement in known:
            if statement.node.start_byte not in whole:
                taken = self._into(code, statement, items)
                items = [item for item in items if item not in taken]
                if taken:
                    self._insert(code, statement, taken)
        for node, _ in self._lists(code):
            self._drop_from_list(code, node)
        if items:
            self._put(code, known, whole, items)
        return ""

    def _quote(self) -> str:
        return _habit(self.around)[0]

    def _end(self) -> str:
        return _habit(self.around)[1]

    def _into(self, code: Code, statement: Statement, items: list[Added]) -> list[Added]:
        """Those of the names that an existing statement can take in."""
        clause = _clause(statement)
        if clause is None:
            return []
        return [
            item
            for item in items
            if item.path == statement.path
            and item.is_export == statement.is_export
            and item.name not in ("default", "*")
            and (item.is_type or not statement.is_type)
        ]

    def _insert(self, code: Code, statement: Statement, taken: list[Added]) -> None:
        clause = _clause(statement)
        last = clause.named_children[-1] if clause is not None and clause.named_children else None
        if clause is None or last is None:
            return
        said = [_one(item, has_type=statement.is_type) for item in taken]
        before = code.text[code.text.rfind("\n", 0, code.start(last)) + 1 : code.start(last)]
        apart = f",\n{before}" if not before.strip() else ", "
        self.around.replace(code, code.end(last), code.end(last), "".join(apart + one for one in said))

    def _rewrite(self, code: Code, statement: Statement, taken: list[Added], items: list[Added]) -> None:
        """A statement without what goes, with `taken` in it, and with those of the items behind it that belong there."""
        node = statement.node
        kept = [one for one in statement.names if one.node.start_byte not in self.dropped[code.path]]
        behind = new_statements(
            [item for item in items if item.behind == node.start_byte], code.said(_source(node))[0], _semicolon(code, node)
        )
        start, end = code.start(node), code.end(node)
        if not kept and not taken:
            stop = code.text.find("\n", end)
            if behind:
                self.around.replace(code, start, end, "\n".join(behind))
            else:
                self.around.replace(code, start, len(code.text) if stop < 0 else stop + 1, "")
            return
        clause = _clause(statement)
        gone = [one.node for one in statement.names if one.node.start_byte in self.dropped[code.path]]
        inside = [one for one in gone if clause is not None and one.parent == clause]
        remain = [one for one in clause.named_children if one not in inside and one.type != "comment"] if clause is not None else []
        if clause is not None and inside and not remain and not taken:  # `import a, { b } from …`: the braces go too
            low = code.text.rfind(",", start, code.start(clause))
            self.around.replace(code, low if low >= 0 else code.start(clause), code.end(clause), "")
        else:
            self._drop_each(code, inside, remain)
            if taken:
                self._insert(code, statement, taken) if remain else self._fill(code, clause, statement, taken)
        for one in gone:
            if one not in inside:  # the default, or all of it
                following = code.text.find("{", code.end(one), end)
                stop = following if following >= 0 else code.end(one)
                self.around.replace(code, code.start(one), stop, "")
        if behind:
            self.around.replace(code, end, end, "".join(f"\n{line}" for line in behind))

    def _fill(self, code: Code, clause: Node | None, statement: Statement, taken: list[Added]) -> None:
        if clause is not None:
            at = code.start(clause) + 1
            said = ", ".join(_one(item, has_type=statement.is_type) for item in taken)
            self.around.replace(code, at, at, f" {said} ")

    def _drop_each(self, code: Code, gone: list[Node], remain: list[Node]) -> None:
        """Names of a list, each with its comma and the white space up to the next."""
        for node in gone:
            later = [one for one in remain if one.start_byte > node.start_byte]
            start, end = code.start(node), code.end(node)
            comma = code.text.find(",", end)
            following = node.next_named_sibling
            if later and following is not None:
                self.around.replace(code, start, code.start(following), "")
            elif not later and (earlier := [one for one in remain if one.start_byte < node.start_byte]):
                first = min(one.start_byte for one in gone if one.start_byte > earlier[-1].start_byte)
                if node.start_byte == first:
                    last = max(gone, key=lambda one: one.start_byte)
                    self.around.replace(code, code.end(earlier[-1]), code.end(last), "")
            elif not remain:
                brace = code.text.find("}", end)
                stop = comma + 1 if 0 <= comma < brace else end
                self.around.replace(code, start, stop, "")

    def _lists(self, code: Code) -> list[tuple[Node, Node]]:
        """Lists of a module's own exports from which something goes, each once."""
        found: list[tuple[Node, Node]] = []
        for node in code.root.named_children:
            if node.type == "export_statement" and node.child_by_field_name("source") is None:
                found += [(node, child) for child in node.named_children if child.type == "export_clause"]
        return [item for item in found if any(one.start_byte in self.dropped[code.path] for one in item[1].named_children)]

    def _drop_from_list(self, code: Code, node: Node) -> None:
        clause = next(child for child in node.named_children if child.type == "export_clause")
        gone = [one for one in clause.named_children if one.start_byte in self.dropped[code.path]]
        remain = [one for one in clause.named_children if one not in gone and one.type != "comment"]
        if remain:
            self._drop_each(code, gone, remain)
            return
        stop = code.text.find("\n", code.end(node))
        self.around.replace(code, code.start(node), len(code.text) if stop < 0 else stop + 1, "")

    def _put(self, code: Code, known: list[Statement], whole: dict[int, bool], items: list[Added]) -> None:
        """Statements of their own, behind the one that they belong to, else behind the last import, else at the top."""
        at: dict[int, list[Added]] = defaultdict(list)
        imports = [one for one in known if not one.is_export]
        exports = [one for one in known if one.is_export]
        for item in items:
            anchor = next((one for one in known if one.node.start_byte == item.behind), None)
            if anchor is None:
                group = exports if item.is_export and exports else imports
                anchor = group[-1] if group else None
            at[anchor.node.start_byte if anchor is not None else -1].append(item)
        for begin, of_place in at.items():
            anchor = next((one for one in known if one.node.start_byte == begin), None)
            if anchor is not None:
                said = new_statements(of_place, code.said(_source(anchor.node))[0], _semicolon(code, anchor.node))
                end = code.end(anchor.node)
                if whole.get(begin):  # that one goes, with its line
                    self.around.replace(code, code.start(anchor.node), code.start(anchor.node), "".join(f"{line}\n" for line in said))
                else:
                    self.around.replace(code, end, end, "".join(f"\n{line}" for line in said))
            else:
                said = new_statements(of_place, self._quote(), self._end())
                place = _top(code)
                self.around.replace(code, place, place, "".join(f"{line}\n" for line in said) + "\n")


def _habit(around: Around) -> tuple[str, str]:
    """The quote and the end of a statement that the files have which were read."""
    for path in around.made.read:
        code = around.code(path)
        if code is not None and (known := statements(code)):
            return code.said(_source(known[0].node))[0], _semicolon(code, known[0].node)
    return '"', ";"


def _top(code: Code) -> int:
    """Where the first import goes: behind directives and what comments say of the file."""
    at = 0
    for node in code.root.named_children:
        is_directive = node.type == "expression_statement" and node.named_children and node.named_children[0].type == "string"
        if not is_directive and node.type not in ("comment", "hash_bang_line"):
            break
        following = node.next_named_sibling
        if node.type == "comment" and (following is None or following.start_point[0] <= node.end_point[0] + 1):
            break
        stop = code.text.find("\n", code.end(node))
        at = len(code.text) if stop < 0 else stop + 1
    return at


def _source(node: Node) -> Node:
    return node.child_by_field_name("source")


def _semicolon(code: Code, node: Node) -> str:
    return ";" if code.said(node).endswith(";") else ""


def _clause(statement: Statement) -> Node | None:
    """The braces of a statement."""
    for child in statement.node.named_children:
        if child.type == "export_clause":
            return child
        if child.type == "import_clause":
            return next((part for part in child.named_children if part.type == "named_imports"), None)
    return None


def _one(item: Added, *, has_type: bool) -> str:
    name = item.name if item.name == item.local else f"{item.name} as {item.local}"
    return f"type {name}" if item.is_type and not has_type else name


def new_statements(items: list[Added], quote: str, end: str) -> list[str]:
    """The names as statements of their own, those of one path together."""
    found: list[str] = []
    groups: dict[tuple[str, bool, bool, bool], list[Added]] = {}
    for item in items:
        groups.setdefault((item.path, item.is_type, item.is_export, item.name in ("default", "*")), []).append(item)
    for (path, is_type, is_export, is_whole), names in groups.items():
        word = f"{'export' if is_export else 'import'}{' type' if is_type else ''}"
        source = f"{quote}{path}{quote}{end}"
        if is_whole:
            found += [f"{word} {f'* as {one.local}' if one.name == '*' else one.local} from {source}" for one in names]
        else:
            found.append(f"{word} {{ {', '.join(_one(one, has_type=is_type) for one in names)} }} from {source}")
    return found
