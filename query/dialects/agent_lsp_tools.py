"""The 66 declarations of the dialect `agent-lsp`: names, parameters, which of them are required, defaults. A table, no code of tools."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec

from indexer.errors import UsageError

SKILLS = ("lsp-rename", "lsp-refactor", "lsp-safe-edit", "lsp-verify")
"""The workflows whose phases that surface enforces."""


class Parameter(msgspec.Struct, frozen=True):
    """One parameter. kind: `string`, `position` (1-based), `count`, `number`, `boolean`, `strings`, `list`, `object` or `any`.

    enforced: a call without it is refused. The schema lists it as required either way, as that surface does; `language_id` is not
    enforced, since the index knows the language of every file.
    """

    name: str
    kind: str
    description: str
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    enforced: bool = True

    def field(self) -> tuple[str, Any] | tuple[str, Any, Any]:
        """The parameter as a field for `msgspec.defstruct`."""
        types: dict[str, Any] = {
            "string": str,
            "position": Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)],
            "count": Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)],
            "number": Annotated[float, msgspec.Meta(ge=0, le=3_600)],
            "boolean": bool,
            "strings": list[str],
            "list": list[Any],
            "object": dict[str, Any],
            "any": Any,
        }
        kind: Any = Literal[self.choices] if self.choices else types[self.kind]  # pyright: ignore[reportInvalidTypeForm]
        if self.required and self.enforced:
            return (self.name, kind)
        if self.default is not None:
            return (self.name, kind, self.default)
        empty: dict[str, Any] = {"string": "", "position": 0, "count": 0, "number": 0.0, "boolean": False}
        if self.kind in empty:
            return (self.name, kind, empty[self.kind])
        return (self.name, kind | None, None)

    def schema(self) -> dict[str, Any]:
        kinds: dict[str, dict[str, Any]] = {
            "string": {"type": "string"},
            "position": {"type": "integer", "minimum": 1},
            "count": {"type": "integer", "minimum": 0},
            "number": {"type": "number", "minimum": 0},
            "boolean": {"type": "boolean"},
            "strings": {"type": "array", "items": {"type": "string"}},
            "list": {"type": "array"},
            "object": {"type": "object"},
            "any": {},
        }
        made = {**kinds[self.kind], "description": self.description}
        if self.choices:
            made["enum"] = list(self.choices)
        if self.default is not None:
            made["default"] = self.default
        return made


class Declared(msgspec.Struct, frozen=True, dict=True):
    """One tool. writes: `files`, `state` (of a server or session), or nothing."""

    name: str
    description: str
    takes: tuple[Parameter, ...] = ()
    writes: Literal["", "state", "files"] = ""

    @cached_property
    def parameters(self) -> type[msgspec.Struct]:
        return msgspec.defstruct(self.name, [item.field() for item in self.takes], kw_only=True, forbid_unknown_fields=True)

    def input_schema(self) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": {item.name: item.schema() for item in self.takes},
            "required": [item.name for item in self.takes if item.required],
            "additionalProperties": False,
        }

    def check(self, ask: Any) -> None:
        """Checks parameters against each other.

        Raises:
            UsageError: a range that ends before it starts, or none of several arguments of which one is needed.
        """
        if hasattr(ask, "start_line") and (ask.start_line, ask.start_column) > (ask.end_line, ask.end_column):
            raise UsageError(f"{self.name}: the range ends before it starts")
        for needed in _NEEDED.get(self.name, ()):
            if not any(all(getattr(ask, name) for name in names) for names in needed):
                raise UsageError(f"{self.name}: give {' or '.join(' and '.join(names) for names in needed)}")


_NEEDED: dict[str, tuple[tuple[tuple[str, ...], ...], ...]] = {
    "preview_edit": ((("session_id",), ("workspace_root", "language")),),
    "apply_edit": ((("workspace_edit",), ("file_path", "old_text", "new_text")),),
}
"""By tool: sets of arguments, one of which must be there."""


def _language(*, required: bool) -> Parameter:
    return Parameter(
        "language_id", "string", "taken for compatibility: the index knows the language of every file", required, enforced=False
    )


_FILE = Parameter("file_path", "string", "absolute path of a file", required=True)
_LANGUAGE, _MAYBE_LANGUAGE = _language(required=True), _language(required=False)
_LINE = Parameter("line", "position", "1-based", required=True)
_COLUMN = Parameter("column", "position", "1-based", required=True)
_PATTERN = Parameter("position_pattern", "string", "in place of line and column: text of the file with one @@ at the place meant")
_OR_LINE = Parameter("line", "position", "1-based; not needed with position_pattern")
_OR_COLUMN = Parameter("column", "position", "1-based; not needed with position_pattern")
_PLACE = (_FILE, _LANGUAGE, _LINE, _COLUMN)
_PLACE_OR_PATTERN = (_FILE, _LANGUAGE, _OR_LINE, _OR_COLUMN, _PATTERN)
_RANGE = tuple(Parameter(name, "position", "1-based", required=True) for name in ("start_line", "start_column", "end_line", "end_column"))
_TABS = (
    Parameter("tab_size", "count", "spaces for a tab", default=2),
    Parameter("insert_spaces", "boolean", "spaces, not tabs", default=True),
)
_DIRECTION = Parameter("direction", "string", "callers, callees or both", default="both", choices=("incoming", "outgoing", "both"))
_CONCURRENT = Parameter("cross_concurrent", "boolean", "also which callers run on a thread or task of their own", default=False)
_SYMBOL_PATH = Parameter("symbol_path", "string", "dotted name, e.g. Type.method", required=True)
_SESSION = Parameter("session_id", "string", "from create_simulation_session", required=True)
_NEW_TEXT = Parameter("new_text", "string", "what replaces the range", required=True)
_SCOPE = Parameter("scope", "string", "whose errors count", default="file", choices=("file", "workspace"))
_TIMEOUT = Parameter("timeout_ms", "count", "how long to wait for diagnostics")
_WORKSPACE = Parameter("workspace_dir", "string", "absolute path of the workspace", required=True)
_BUILD = (_WORKSPACE, Parameter("path", "string", "only this part"), Parameter("language", "string", "instead of the detected one"))
_TEXT_EDIT = (
    _FILE,
    Parameter("old_text", "string", "text that is there", required=True),
    Parameter("new_text", "string", "text in its place", required=True),
)
_EXPLORED = (_FILE, _OR_LINE, _OR_COLUMN, _PATTERN, _MAYBE_LANGUAGE)

TOOLS: tuple[Declared, ...] = (
    # ---- sessions
    Declared(
        "start_lsp",
        "Starts language servers for a workspace.",
        (
            Parameter("root_dir", "string", "absolute path of the workspace", required=True),
            Parameter("language_id", "string", "only this server"),
            Parameter("connect", "string", "host:port of a running server"),
            Parameter("ready_timeout_seconds", "number", "wait so long for its indexing"),
            Parameter("scope", "any", "subfolders; taken and not needed: the index holds the whole workspace"),
        ),
        "state",
    ),
    Declared("restart_lsp_server", "Restarts the language server.", (Parameter("root_dir", "string", "another workspace"),), "state"),
    Declared(
        "open_document",
        "Opens a file in the language server.",
        (_FILE, _MAYBE_LANGUAGE, Parameter("text", "string", "refused where it is not the file's: preview_edit tries a text")),
        "state",
    ),
    Declared("close_document", "Closes a file in the language server.", (_FILE,), "state"),
    Declared(
        "add_workspace_folder",
        "Adds a folder to the workspace.",
        (Parameter("path", "string", "absolute path of the folder", required=True),),
        "state",
    ),
    Declared(
        "remove_workspace_folder",
        "Takes a folder out of the workspace.",
        (Parameter("path", "string", "absolute path of the folder", required=True),),
        "state",
    ),
    Declared("list_workspace_folders", "The folders of the workspace."),
    # ---- analysis
    Declared(
        "get_diagnostics",
        "Messages of the servers as of the crawl, by file URI; without file_path of all files that have any. Ranges 0-based.",
        (
            Parameter("file_path", "string", "absolute path of a file; default: all"),
            Parameter("group_by", "string", "symbol: by the innermost definition around each; needs file_path", choices=("symbol", "")),
        ),
    ),
    Declared("inspect_symbol", "Type, signature and documentation of the symbol at a place.", _PLACE_OR_PATTERN),
    Declared("get_completions", "What can be typed at a place.", _PLACE),
    Declared("get_signature_help", "Signatures of the call around a place.", _PLACE),
    Declared("suggest_fixes", "Quick fixes and refactorings for a range.", (_FILE, _LANGUAGE, *_RANGE)),
    Declared(
        "list_symbols",
        "Symbols of a file as a tree, ranges 1-based; outline: one line each.",
        (_FILE, _LANGUAGE, Parameter("format", "string", "json or outline", default="json", choices=("json", "outline"))),
    ),
    Declared(
        "find_symbol",
        "Symbols of the workspace by part of their name; ranges 0-based.",
        (
            Parameter("query", "string", "part of a name; empty lists all"),
            Parameter("detail_level", "string", "hover: with hover texts", default="basic", choices=("basic", "hover")),
            Parameter("limit", "count", "symbols with hover texts", default=3),
            Parameter("offset", "count", "the first of them", default=0),
        ),
    ),
    Declared(
        "blast_radius",
        "What uses the exported symbols of files: callers outside tests, tests.",
        (
            Parameter("changed_files", "strings", "absolute paths", required=True),
            Parameter("include_transitive", "boolean", "callers of callers too", default=False),
            Parameter("scope", "string", "all: with what is not exported", default="exported", choices=("exported", "all")),
            Parameter("filter", "string", "untested: only what has callers and no test", choices=("untested", "")),
        ),
    ),
    Declared(
        "get_cross_repo_references",
        "Uses of a library's symbol, by consumer repository.",
        (
            Parameter("symbol_file", "string", "absolute path of the file that defines it", required=True),
            _LINE,
            _COLUMN,
            Parameter("consumer_roots", "strings", "absolute paths of the consumers", required=True),
            _MAYBE_LANGUAGE,
        ),
    ),
    Declared(
        "detect_changes",
        "Symbols that a git diff touches, with their risk and their callers.",
        (
            Parameter("workspace_root", "string", "default: the workspace of the index"),
            Parameter("scope", "string", "which diff", default="unstaged", choices=("unstaged", "staged", "committed")),
            Parameter("range", "string", "of commits, for committed: A..B, or one ref"),
        ),
    ),
    # ---- composite
    Declared(
        "get_editing_context",
        "All about a file before it is edited: symbols, callers, callees, imports.",
        (_FILE, _MAYBE_LANGUAGE, Parameter("if_none_match", "string", "etag of an earlier answer")),
    ),
    Declared("explore_symbol", "All about one symbol: signature, source, callers, references, tests.", _EXPLORED),
    Declared("explore", "The same as explore_symbol.", _EXPLORED),
    Declared("safe_apply_edit", "Applies an edit if it brings no new errors.", _TEXT_EDIT, "files"),
    Declared("safe_edit", "The same as safe_apply_edit.", _TEXT_EDIT, "files"),
    Declared("callers", "Callers of the symbol at a place.", (*_PLACE, _DIRECTION, _CONCURRENT)),
    # ---- navigation
    Declared(
        "find_references",
        "Uses of the symbol at a place, 1-based.",
        (*_PLACE_OR_PATTERN, Parameter("include_declaration", "boolean", "also where it is defined", default=False)),
    ),
    Declared("go_to_definition", "Where the symbol at a place is defined, 1-based.", _PLACE_OR_PATTERN),
    Declared("go_to_type_definition", "Where the type of the symbol at a place is defined, 1-based.", _PLACE_OR_PATTERN),
    Declared("go_to_implementation", "What implements the type or member at a place, 1-based.", _PLACE_OR_PATTERN),
    Declared("go_to_declaration", "Where the symbol at a place is declared, 1-based.", _PLACE_OR_PATTERN),
    # ---- refactoring
    Declared(
        "rename_symbol",
        "The edit that renames the symbol at a place.",
        (
            *_PLACE_OR_PATTERN,
            Parameter("new_name", "string", "the new name", required=True),
            Parameter("exclude_globs", "strings", "files to leave out"),
            Parameter("dry_run", "boolean", "show what would change", default=False),
        ),
    ),
    Declared("prepare_rename", "Whether the symbol at a place can be renamed.", _PLACE),
    Declared("format_document", "The edits of the server's formatter.", (_FILE, _LANGUAGE, *_TABS)),
    Declared("format_range", "The edits of the server's formatter for a range.", (_FILE, _LANGUAGE, *_RANGE, *_TABS)),
    Declared(
        "apply_edit",
        "Writes an edit to disk.",
        (
            Parameter("workspace_edit", "object", "a WorkspaceEdit"),
            Parameter("file_path", "string", "in place of it: a file, old_text and new_text"),
            Parameter("old_text", "string", "text that is there"),
            Parameter("new_text", "string", "text in its place"),
        ),
        "files",
    ),
    Declared(
        "execute_command",
        "Runs a command of the language server.",
        (Parameter("command", "string", "its identifier", required=True), Parameter("arguments", "list", "its arguments")),
        "files",
    ),
    # ---- editing of symbols
    Declared(
        "replace_symbol_body",
        "Replaces the definition of a symbol.",
        (_FILE, _MAYBE_LANGUAGE, _SYMBOL_PATH, Parameter("new_body", "string", "the whole definition", required=True)),
        "files",
    ),
    Declared(
        "insert_after_symbol",
        "Inserts code after a symbol.",
        (_FILE, _MAYBE_LANGUAGE, _SYMBOL_PATH, Parameter("code", "string", "what to insert", required=True)),
        "files",
    ),
    Declared(
        "insert_before_symbol",
        "Inserts code before a symbol.",
        (_FILE, _MAYBE_LANGUAGE, _SYMBOL_PATH, Parameter("code", "string", "what to insert", required=True)),
        "files",
    ),
    Declared("safe_delete_symbol", "Deletes a symbol that nothing refers to.", (_FILE, _MAYBE_LANGUAGE, _SYMBOL_PATH), "files"),
    # ---- utilities
    Declared(
        "did_change_watched_files",
        "Tells the language server of changed files.",
        (Parameter("changes", "list", "records of uri and type (1 created, 2 changed, 3 deleted)", required=True),),
        "state",
    ),
    Declared(
        "set_log_level",
        "How much is logged.",
        (
            Parameter(
                "level",
                "string",
                "least severe level that is logged",
                required=True,
                choices=("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
            ),
        ),
        "state",
    ),
    # ---- code intelligence
    Declared("find_callers", "Callers and callees of the symbol at a place; ranges 0-based.", (*_PLACE, _DIRECTION, _CONCURRENT)),
    Declared(
        "type_hierarchy",
        "Super- and subtypes of the type at a place; ranges 0-based.",
        (
            *_PLACE,
            Parameter("direction", "string", "which way", default="both", choices=("supertypes", "subtypes", "both")),
        ),
    ),
    Declared("get_inlay_hints", "Inferred types and parameter names in a range.", (_FILE, _MAYBE_LANGUAGE, *_RANGE)),
    Declared("get_semantic_tokens", "Kinds of the tokens in a range.", (_FILE, _MAYBE_LANGUAGE, *_RANGE)),
    Declared("get_document_highlights", "Uses of a symbol within one file; ranges 0-based.", (_FILE, _MAYBE_LANGUAGE, _LINE, _COLUMN)),
    # ---- build and test
    Declared("run_build", "Builds the project.", _BUILD, "files"),
    Declared("run_tests", "Runs the project's tests.", _BUILD, "files"),
    Declared("get_tests_for_file", "Test files that exercise a file.", (_FILE,)),
    # ---- servers
    Declared("get_server_capabilities", "What the servers could do at the crawl, and which tools that lets answer."),
    Declared("detect_lsp_servers", "Languages of a folder and the servers that are installed for them.", (_WORKSPACE,)),
    # ---- cache
    Declared(
        "export_cache",
        "Writes the index to one file.",
        (Parameter("dest_path", "string", "absolute path of the file", required=True),),
        "files",
    ),
    Declared(
        "import_cache",
        "Takes the index from a file.",
        (Parameter("src_path", "string", "absolute path of the file", required=True),),
        "files",
    ),
    # ---- simulation
    Declared(
        "create_simulation_session",
        "Begins a session of edits that are not on disk.",
        (
            Parameter("workspace_root", "string", "absolute path of the workspace", required=True),
            Parameter("language", "string", "whose server judges", required=True),
        ),
        "state",
    ),
    Declared("simulate_edit", "Adds an edit to a session.", (_SESSION, _FILE, *_RANGE, _NEW_TEXT), "state"),
    Declared("evaluate_session", "Errors that a session's edits bring and take away.", (_SESSION, _SCOPE, _TIMEOUT), "state"),
    Declared(
        "simulate_chain",
        "Edits one after the other, each judged.",
        (_SESSION, Parameter("edits", "list", "records as simulate_edit takes them", required=True), _TIMEOUT),
        "state",
    ),
    Declared(
        "commit_session",
        "A session's edits as a patch, or written to disk.",
        (
            _SESSION,
            Parameter("target", "string", "where to write instead"),
            Parameter("apply", "boolean", "write to disk", default=False),
        ),
        "files",
    ),
    Declared("discard_session", "Takes a session's edits back.", (_SESSION,), "state"),
    Declared("destroy_session", "Ends a session.", (_SESSION,), "state"),
    Declared(
        "preview_edit",
        "Errors that one edit would bring and take away.",
        (
            Parameter("session_id", "string", "an existing session"),
            Parameter("workspace_root", "string", "without session_id: absolute path of the workspace"),
            Parameter("language", "string", "without session_id: whose server judges"),
            _FILE,
            *_RANGE,
            _NEW_TEXT,
            _SCOPE,
            _TIMEOUT,
        ),
        "state",
    ),
    # ---- symbols by name
    Declared(
        "go_to_symbol",
        "Where a symbol is defined, by its dotted name, 1-based.",
        (
            _SYMBOL_PATH,
            Parameter("workspace_root", "string", "only below this folder"),
            Parameter("language", "string", "only this language"),
        ),
    ),
    Declared(
        "get_symbol_source",
        "Source of the innermost definition around a place.",
        (
            _FILE,
            _MAYBE_LANGUAGE,
            _OR_LINE,
            Parameter("character", "position", "1-based; the same as column"),
            _OR_COLUMN,
            _PATTERN,
        ),
    ),
    Declared(
        "get_symbol_documentation",
        "Documentation of a symbol of the workspace or of a dependency.",
        (
            Parameter("symbol", "string", "qualified name", required=True),
            _LANGUAGE,
            Parameter("file_path", "string", "a file of the project"),
            Parameter("format", "string", "markdown: the signature as a code block", default="text", choices=("text", "markdown")),
        ),
    ),
    # ---- phases
    Declared(
        "activate_skill",
        "Begins to enforce the phases of a workflow.",
        (
            Parameter(
                "skill_name",
                "string",
                "which workflow",
                required=True,
                choices=SKILLS,
            ),
            Parameter("mode", "string", "what a violation does", default="warn", choices=("warn", "block")),
        ),
        "state",
    ),
    Declared("deactivate_skill", "Ends the enforcement.", (), "state"),
    Declared("get_skill_phase", "The phase of the workflow that is enforced."),
)
