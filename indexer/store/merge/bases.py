"""Classes of several bases: which of those above one is asked first for a member that many have.

The number of steps says it where each class has one base. Of several the text says it, and a class that two of them share is asked last.
"""

from __future__ import annotations

import duckdb
import pyarrow as pa

from indexer.store.asked_in_turn import linearized
from indexer.store.parsed import execute

_BELOW_SEVERAL = """
    WITH several AS (SELECT sub_id FROM listed_base GROUP BY sub_id HAVING count(*) > 1)
    SELECT sub_id FROM several UNION SELECT a.sub_id FROM ancestor a JOIN several s ON s.sub_id = a.super_id ORDER BY ALL
"""


def put_in_order(connection: duckdb.DuckDBPyConnection) -> None:
    """Of classes of several bases, and of those below them, `ancestor` gets the place in the order in which the classes above are asked."""
    below = [sub_id for (sub_id,) in execute(connection, _BELOW_SEVERAL).fetchall()]
    if not below:
        return
    bases: dict[int, list[int]] = {}
    for sub_id, super_id in execute(connection, "SELECT sub_id, super_id FROM listed_base ORDER BY sub_id, place, super_id").fetchall():
        bases.setdefault(sub_id, []).append(super_id)
    placed = [(sub_id, above, place) for sub_id in below for place, above in enumerate(linearized(sub_id, bases)) if place]
    columns = dict(zip(("sub_id", "super_id", "place"), map(list, zip(*placed, strict=True)), strict=True))
    connection.register("incoming", pa.table(columns))
    execute(
        connection,
        "UPDATE ancestor SET depth = i.place FROM incoming i WHERE i.sub_id = ancestor.sub_id AND i.super_id = ancestor.super_id",
    )
    connection.unregister("incoming")
