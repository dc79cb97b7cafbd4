"""The messages of SemanticDB that we read, as classes of the library `protobuf`: what the compiler's plugin writes, a file per source.

As with SCIP (`indexer.scip.messages`) the schema is a table; fields that nobody here asks for are left out, and skipped in reading.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from indexer.scip.messages import made

_SCHEMA = {
    "TextDocuments": {"documents": (1, "TextDocument*")},
    "TextDocument": {"symbols": (5, "SymbolInformation*"), "occurrences": (6, "SymbolOccurrence*"), "md5": (11, "string")},
    "Range": {
        "start_line": (1, "int32"),
        "start_character": (2, "int32"),
        "end_line": (3, "int32"),
        "end_character": (4, "int32"),
    },
    "SymbolOccurrence": {"range": (1, "Range"), "symbol": (2, "string"), "role": (3, "int32")},
    "SymbolInformation": {"symbol": (1, "string"), "signature": (17, "Signature")},
    "Signature": {"class_signature": (1, "ClassSignature")},
    "ClassSignature": {"parents": (2, "Type*")},
    "Type": {"type_ref": (2, "TypeRef")},
    "TypeRef": {"symbol": (2, "string")},
}


class Role(IntEnum):
    REFERENCE = 1
    DEFINITION = 2


TextDocuments: Any = made("semanticdb", _SCHEMA)["TextDocuments"]
