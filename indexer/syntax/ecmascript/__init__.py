"""Where values go within a file of JavaScript or TypeScript, by syntax alone: the rows of `indexer.syntax.model.Flows`.

The trees, and which symbol stands around a place, come from `indexer.syntax.tree`. Names are looked up in the scopes of the file here,
since rows are about values and not about what a server has to be asked: a variable is one row, whichever of its names stands where. Bodies
of functions are read behind the body that they stand in, so all that is declared around them is known by then.

Deliberately does not know: other files, types, the order of statements. What is nested too deeply, or too long, is marked by a row CUT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from indexer.syntax.ecmascript.statements import FlowReader
from indexer.syntax.model import Definition, Flows
from indexer.text import OffsetMap


def read(root: Any, offsets: OffsetMap, symbols: Sequence[Definition], around: Callable[[int], int]) -> Flows:
    """Rows of a file.

    Args:
        root: of its tree. symbols: that it defines. around: by byte offset, the ordinal of the symbol around it.
    """
    return FlowReader(offsets, symbols, around).read(root)
