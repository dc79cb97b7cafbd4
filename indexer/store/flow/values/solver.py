"""Which functions, classes, objects and containers reach which name, result, attribute and item of the workspace.

Inclusion-based, without regard to the order of statements (what the text says of it is in the rows already) and to who calls whom from
where, but for this: what gives back its own parameter is followed per call, and so is what a decorator makes of a function.
"""

from __future__ import annotations

from indexer.store.flow.values.properties import Made
from indexer.store.flow.values.reading import Reading
from indexer.store.flow.values.value import Sort


class Solver(Reading):
    """Says how values go on; `indexer.store.flow.rows.builder` builds the graph, `calls` and `library` say what calls do."""

    # ---- properties that assignments make

    def holders_above(self, holder: int) -> list[int]:
        """What a declaration puts above a holder."""
        sort, first, _ = self.values[holder]
        return [self.values.number(Sort.OBJECT, base) for base in self.program.order(first)[1:]] if sort == Sort.OBJECT else []

    def made_at(self, holder: int) -> Made:
        """Where the object of a holder is made: the file of its class, or of the fixture that sets something of it."""
        sort, first, _ = self.values[holder]
        row = first if sort == Sort.LAMBDA else self.defined_at.get(first, -1)
        return Made(self.program.doc[row]) if row >= 0 else Made()
