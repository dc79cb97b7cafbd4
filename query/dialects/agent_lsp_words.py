"""When to use each tool of the dialect `agent-lsp`, and when another one; and an example of a call, made from its declaration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from indexer.servers.registry import language_of

WHEN: Mapping[str, str] = {
    "start_lsp": "Not needed before other tools; use it to warm a server up, or to turn to another project that the client has as a root.",
    "restart_lsp_server": "Use it where a server hangs or the project's structure changed; open files have to be opened again.",
    "open_document": "Every tool opens what it needs; use it to keep one file warm over many questions.",
    "close_document": "Use it in long sessions for files that are done with.",
    "add_workspace_folder": "Use it to see the uses of a library in a second repository; then ask find_references.",
    "remove_workspace_folder": "Use it when the second repository is done with.",
    "list_workspace_folders": "Use it to see which repositories answers cover.",
    "get_diagnostics": "Use it after an edit; to try an edit before it is made use preview_edit.",
    "inspect_symbol": "Use it for one type or signature; for callers and source too use explore_symbol.",
    "get_completions": "Use it just behind a dot or in a name that is begun; to find a definition use find_symbol.",
    "get_signature_help": "Use it between the parentheses of a call.",
    "suggest_fixes": "Use it on the range of a diagnostic; the edit goes to apply_edit, the command to execute_command.",
    "list_symbols": "Use it in place of reading a file; outline costs a fifth of json.",
    "find_symbol": "Use it for a name without a place; of one file list_symbols tells more.",
    "blast_radius": "Use it before a file is edited; for a diff that is there use detect_changes.",
    "get_cross_repo_references": "Use it before a library's interface changes.",
    "detect_changes": "Use it for a review of what is changed already.",
    "get_editing_context": "Use it once before a file is edited, in place of several questions; the etag spares the second time.",
    "explore_symbol": "Use it to get to know one symbol; for its uses alone use find_references.",
    "explore": "The short name.",
    "safe_apply_edit": "Use it for one piece of text; for several places use a simulation session.",
    "safe_edit": "The short name.",
    "callers": "For callees too use find_callers.",
    "find_references": "Use it before anything is renamed or deleted; for calls alone use find_callers.",
    "go_to_definition": "Use it at a use; by name go_to_symbol needs no place.",
    "go_to_type_definition": "Use it at a variable, where go_to_definition would lead to the variable itself.",
    "go_to_implementation": "Use it at an interface or an abstract method.",
    "go_to_declaration": "Use it in C and C++; elsewhere it is the definition.",
    "rename_symbol": "Nothing is written: the edit goes to apply_edit. Ask prepare_rename first.",
    "prepare_rename": "Use it before rename_symbol.",
    "format_document": "Nothing is written: the edits go to apply_edit.",
    "format_range": "Nothing is written: the edits go to apply_edit.",
    "apply_edit": "Use it for what rename_symbol and format_document gave; for text of your own safe_apply_edit looks for errors first.",
    "execute_command": "Use it for the command of an action of suggest_fixes, with its arguments as they are.",
    "replace_symbol_body": "Use it for a whole definition, signature included; for a few lines use apply_edit.",
    "insert_after_symbol": "Use it to add a definition below another; line breaks around it are yours.",
    "insert_before_symbol": "Use it for a comment or a decorator above a definition.",
    "safe_delete_symbol": "Use it for dead code; it refuses where a use is known or may be.",
    "did_change_watched_files": "Seldom needed: questions look at the disk themselves.",
    "set_log_level": "Use debug to find out why a server does not answer.",
    "find_callers": "Use it for calls; uses that are no calls are in find_references.",
    "type_hierarchy": "Use it for classes and interfaces; for members use go_to_implementation.",
    "get_inlay_hints": "Use it to see inferred types of a few lines.",
    "get_semantic_tokens": "Use it to tell kinds of names in a range apart.",
    "get_document_highlights": "Use it for uses in the same file; for all files use find_references.",
    "run_build": "Use it after edits; what servers say comes sooner from get_diagnostics.",
    "run_tests": "Use it with path for the files of get_tests_for_file.",
    "get_tests_for_file": "Use it to choose what to run; nothing is run.",
    "get_server_capabilities": "Use it where a tool answers nothing.",
    "detect_lsp_servers": "Use it where a language is not answered for.",
    "export_cache": "Use it to hand the index to others.",
    "import_cache": "Use it in a fresh clone in place of indexing.",
    "create_simulation_session": "Use it for several edits that belong together; for one use preview_edit.",
    "simulate_edit": "Then ask evaluate_session.",
    "evaluate_session": "A net_delta of 0 brings no new error.",
    "simulate_chain": "Use it to see after which of several edits errors begin.",
    "commit_session": "Ask evaluate_session first.",
    "discard_session": "Use it to begin anew in the same session.",
    "destroy_session": "Call it when a session is done with.",
    "preview_edit": "Use it before an edit that may break something; several edits need a session.",
    "go_to_symbol": "Use it where the name is known and no place is.",
    "get_symbol_source": "Use it in place of reading the file.",
    "get_symbol_documentation": "Use it for libraries too; a hover is inspect_symbol.",
    "activate_skill": "Use it at the begin of such a piece of work.",
    "deactivate_skill": "Harmless where none is active.",
    "get_skill_phase": "Use it to see what is allowed now.",
}

_LANGUAGE = language_of("shop.py")
_SAMPLES: Mapping[str, Any] = {
    "file_path": "/repo/src/shop.py", "symbol_file": "/repo/src/shop.py", "changed_files": ["/repo/src/shop.py"], "language_id": _LANGUAGE,
    "language": _LANGUAGE, "line": 42, "column": 9, "character": 9, "start_line": 42, "start_column": 1, "end_line": 44, "end_column": 1,
    "root_dir": "/repo", "workspace_root": "/repo", "workspace_dir": "/repo", "path": "/other-repo", "consumer_roots": ["/other-repo"],
    "position_pattern": "def @@total(", "new_name": "sum_of", "query": "Basket", "symbol_path": "Basket.total", "symbol": "json.dumps",
    "old_text": "return 1", "new_text": "return 2", "new_body": "def total(self):\n    return 2", "code": "\n\ndef more():\n    return 3\n",
    "command": "source.organizeImports", "dest_path": "/repo/cache.tar", "src_path": "/repo/cache.tar", "session_id": "s1",
    "changes": [{"uri": "file:///repo/src/shop.py", "type": 2}], "level": "debug", "skill_name": "lsp-rename",
    "edits": [
        {
            "file_path": "/repo/src/shop.py", "start_line": 42, "start_column": 1, "end_line": 42, "end_column": 9, "new_text": "return 2"
        }
    ],
}  # fmt: skip
_BESIDE: Mapping[str, tuple[str, ...]] = {
    "find_symbol": ("query",),
    "get_diagnostics": ("file_path",),
    "explore_symbol": ("position_pattern",),
    "explore": ("position_pattern",),
    "get_symbol_source": ("line", "character"),
    "inspect_symbol": ("line", "column"),
    "find_references": ("line", "column"),
    "go_to_definition": ("line", "column"),
    "go_to_type_definition": ("line", "column"),
    "go_to_implementation": ("line", "column"),
    "go_to_declaration": ("line", "column"),
    "rename_symbol": ("line", "column"),
    "apply_edit": ("file_path", "old_text", "new_text"),
    "preview_edit": ("workspace_root", "language"),
}
"""Arguments of the example beside those that are required."""


def described(name: str, description: str, required: Iterable[str]) -> str:
    """What a tool tells, when to use it, and one call of it."""
    wanted = dict.fromkeys((*required, *_BESIDE.get(name, ())))
    arguments = {field: _SAMPLES[field] for field in wanted}
    example = f"Example: {msgspec.json.encode(arguments).decode()}"
    return f"{description} {WHEN[name]} {example}."
