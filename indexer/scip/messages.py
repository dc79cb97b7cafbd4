"""The messages of SCIP that we write and read, as classes of the library `protobuf`.

The schema is a table here, so that nothing has to be generated: names and numbers of fields are the format's, up to version 0.10 of its
schema. Its enums are plain numbers (`indexer.scip.words`), which is the same on the wire; its `oneof`s are fields of which one is set.

Ranges are written twice: `range` and `enclosing_range`, lists of three numbers on one line and of four otherwise, are what readers before
version 0.8 know; the fields with a message of their own are what came then.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_SCHEMA = {
    "Index": {"metadata": (1, "Metadata"), "documents": (2, "Document*"), "external_symbols": (3, "SymbolInformation*")},
    "Metadata": {
        "version": (1, "int32"),
        "tool_info": (2, "ToolInfo"),
        "project_root": (3, "string"),
        "text_document_encoding": (4, "int32"),
    },
    "ToolInfo": {"name": (1, "string"), "version": (2, "string"), "arguments": (3, "string*")},
    "Document": {
        "relative_path": (1, "string"),
        "occurrences": (2, "Occurrence*"),
        "symbols": (3, "SymbolInformation*"),
        "language": (4, "string"),
        "text": (5, "string"),
        "position_encoding": (6, "int32"),
    },
    "SymbolInformation": {
        "symbol": (1, "string"),
        "documentation": (3, "string*"),
        "relationships": (4, "Relationship*"),
        "kind": (5, "int32"),
        "display_name": (6, "string"),
        "signature_documentation": (7, "Signature"),
        "enclosing_symbol": (8, "string"),
    },
    "Signature": {"language": (4, "string"), "text": (5, "string")},
    "Relationship": {
        "symbol": (1, "string"),
        "is_reference": (2, "bool"),
        "is_implementation": (3, "bool"),
        "is_type_definition": (4, "bool"),
        "is_definition": (5, "bool"),
    },
    "Occurrence": {
        "range": (1, "int32*"),
        "symbol": (2, "string"),
        "symbol_roles": (3, "int32"),
        "enclosing_range": (7, "int32*"),
        "single_line_range": (8, "SingleLineRange"),
        "multi_line_range": (9, "MultiLineRange"),
        "single_line_enclosing_range": (10, "SingleLineRange"),
        "multi_line_enclosing_range": (11, "MultiLineRange"),
    },
    "SingleLineRange": {"line": (1, "int32"), "start_character": (2, "int32"), "end_character": (3, "int32")},
    "MultiLineRange": {
        "start_line": (1, "int32"),
        "start_character": (2, "int32"),
        "end_line": (3, "int32"),
        "end_character": (4, "int32"),
    },
}
"""By message its fields: number and type; `*` of those that may be there any number of times."""

_PACKAGE = "scip"


def _classes() -> dict[str, Any]:
    kinds = descriptor_pb2.FieldDescriptorProto
    plain = {"int32": kinds.TYPE_INT32, "bool": kinds.TYPE_BOOL, "string": kinds.TYPE_STRING}
    file = descriptor_pb2.FileDescriptorProto(name="scip.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            bare = kind.rstrip("*")
            added = message.field.add(name=field, number=number, label=kinds.LABEL_REPEATED if kind != bare else kinds.LABEL_OPTIONAL)
            if bare in plain:
                added.type = plain[bare]
            else:
                added.type, added.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{bare}"
    pool = descriptor_pool.DescriptorPool()  # one of our own: a program that has SCIP's generated module, too, meets no second schema
    pool.Add(file)
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _SCHEMA}


_CLASSES = _classes()

Index: Any = _CLASSES["Index"]
Document: Any = _CLASSES["Document"]
Metadata: Any = _CLASSES["Metadata"]
SymbolInformation: Any = _CLASSES["SymbolInformation"]
