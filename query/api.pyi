"""The signatures of the functions that `query.api` makes of the tools, for editors and type checkers.

Made from the declarations in `query/tools` by `python -m query.surface.generate`; do not edit.
"""

from typing import Any, Literal

from query.answers.envelope import Answer
from query.facts.definitions import Definition
from query.facts.index import Index
from query.live.control import Session
from query.live.formatting import Formatted
from query.refactor.outcome import Edited
from query.refactor.preparation import Renameable
from query.refactor.simulation.trial import Evaluation, OneEdit
from query.surface.search import Found
from query.tools.activate_skill import Activated
from query.tools.blast_radius import BlastRadiusResult
from query.tools.call_flow import Step
from query.tools.change_signature import ChangedSignature
from query.tools.commit_session import Committed
from query.tools.create_simulation_session import CreatedSession
from query.tools.deactivate_skill import Deactivated
from query.tools.destroy_session import DestroyedSession
from query.tools.detect_changes import Changes
from query.tools.detect_lsp_servers import Detected
from query.tools.did_change_watched_files import FileChange
from query.tools.diff_index import IndexDifference
from query.tools.discard_session import DiscardedSession
from query.tools.execute_command import CommandResult
from query.tools.explore_symbol import Explored
from query.tools.find_callers import Edge
from query.tools.find_references import FoundReference
from query.tools.find_symbol import FoundSymbol
from query.tools.get_completions import Completion
from query.tools.get_cross_repo_references import CrossRepoReferences
from query.tools.get_diagnostics import Diagnostics
from query.tools.get_document_highlights import Highlights
from query.tools.get_editing_context import EditingContext
from query.tools.get_inlay_hints import InlayHint
from query.tools.get_semantic_tokens import SemanticToken
from query.tools.get_server_capabilities import ServerCapabilities
from query.tools.get_signature_help import SignatureHelp
from query.tools.get_skill_phase import SkillPhase
from query.tools.get_symbol_documentation import Documentation
from query.tools.get_symbol_source import Source
from query.tools.get_tests_for_file import TestsForFile
from query.tools.go_to_declaration import Declaration
from query.tools.go_to_implementation import Implementation
from query.tools.go_to_type_definition import TypeDefinition
from query.tools.index_status import Status
from query.tools.inspect_symbol import Inspection
from query.tools.list_symbols import OutlineItem
from query.tools.list_workspace_folders import WorkspaceFolder
from query.tools.move_symbol import MovedSymbol
from query.tools.rename_symbol import Renamed
from query.tools.repository_map import Map
from query.tools.run_build import BuildResult
from query.tools.run_tests import TestRun
from query.tools.safe_apply_edit import SafelyApplied
from query.tools.simulate_chain import Chain
from query.tools.simulate_edit import Simulated
from query.tools.suggest_fixes import Fix
from query.tools.type_hierarchy import TypeRelation
from query.tools.unreferenced import UnreferencedSymbol
from query.tools.untested import UntestedResult
from query.tools.why import WhyResult
from query.upkeep.artifacts import Exchanged, Exported
from query.upkeep.folders import Folders

def activate_skill(index: Index | None, skill_name: str = "", *, mode: Literal["warn", "block"] = "warn") -> Answer[Activated]:
    """Begins a skill in phases that check every further tool call of this MCP client, or of the command line in this index's folder.

    Args:
        skill_name: one of those that get_skill_phase lists, e.g. lsp-rename
        mode: what a call out of turn does: warn answers it with a warning, block refuses it
    """

def add_workspace_folder(index: Index, path: str = "") -> Answer[Folders]:
    """Adds a folder to the workspace and indexes it, so that references and calls between the folders become known.

    Args:
        path: folder to add: a consumer of this library, or a library that it uses
    """

def apply_edit(
    index: Index | None,
    *,
    workspace_edit: dict[str, Any] | None = None,
    file_path: str = "",
    old_text: str = "",
    new_text: str = "",
    apply: bool = False,
    plan: str = "",
    exclude_globs: list[str] | None = None,
) -> Answer[Edited]:
    """Shows an edit, or with apply writes it, all files or none: a WorkspaceEdit, or new_text in place of old_text in file_path.

    Args:
        workspace_edit: a WorkspaceEdit (changes or documentChanges), as a tool or a language server gives it
        file_path: in place of workspace_edit: the file in which old_text becomes new_text
        old_text: text that occurs exactly once; else, whole lines that differ in white space only
        new_text: text in its place; empty removes it
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
        exclude_globs: files of workspace_edit to leave alone: vendor/**, **/*_gen.go, *.pb.go
    """

def blast_radius(
    index: Index,
    changed_files: list[str] | None = None,
    *,
    symbol: str = "",
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    symbols: list[str] | None = None,
    include_transitive: bool = False,
    depth: int = 0,
    scope: Literal["exported", "all"] = "exported",
    tests: Literal["include", "exclude", "only"] = "include",
    limit: int = 50,
    cursor: str = "",
) -> Answer[BlastRadiusResult]:
    """What uses the exported symbols of files, or symbols, up to `depth` steps away: callers outside tests, tests, risk of each.

    Args:
        changed_files: files whose symbols are about to change; what is no file is taken for a symbol
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        symbols: symbols that are about to change, as `symbol` takes them
        include_transitive: callers of the callers too; the same as depth 2
        depth: 1: direct uses, in tests too; 0: 1, or 2 with include_transitive
        scope: which symbols of a file or of a type count; a symbol that is named always does
        tests: uses in tests
        limit: entries shown of each list
        cursor: next_cursor of the previous answer; it continues every list
    """

def call_flow(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    depth: int = 3,
    external: bool = True,
    limit: int = 100,
    cursor: str = "",
) -> Answer[list[Step]]:
    """What happens when a function is called: its calls in the order of the text, and theirs below them, as a tree.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        depth: 1: its own calls only; 2: also those of what it calls
        external: also calls of what lies outside the workspace
        limit: steps; its own calls first, then what is nearest to them
        cursor: next_cursor of the previous answer
    """

def change_signature(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    add: list[str] | None = None,
    remove: list[str] | None = None,
    rename: list[str] | None = None,
    order: list[str] | None = None,
    after: str = "",
    call_with: list[str] | None = None,
    anyway: bool = False,
    diagnostics: bool = False,
    apply: bool = False,
    plan: str = "",
) -> Answer[ChangedSignature]:
    """Adds, removes, renames or reorders parameters of a function, method or constructor, with all calls of it: Python, TypeScript, Go.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        add: a parameter as the function's head will say it: 'timeout: float = 10' ('*, timeout=10': by keyword only), 'timeout?: number',
            'ctx context.Context'
        remove: name of a parameter that the body no longer uses
        rename: old=new
        order: all parameters by their new names, in the new order: a,b,*,c; `*` and `/` where other kinds begin in Python; #2: the second,
            where it has no name of its own
        after: parameter behind which the added ones go; else at the end
        call_with: what calls pass for an added parameter: timeout=None
        anyway: write it also where calls are left that may not fit, or something else stands against it
        diagnostics: also ask the language server which errors it brings and takes away, in the files that change and those that depend on
            them; with errors that it brings it is not written
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
    """

def close_document(index: Index | None, file_path: str = "") -> Answer[Session]:
    """Closes a file in its language server, also one that is gone from disk.

    Args:
        file_path: the file, absolute or from the workspace's root
    """

def commit_session(
    index: Index | None, session_id: str = "", *, target: str = "", apply: bool = False, plan: str = ""
) -> Answer[Committed]:
    """A session's edits as a patch; with apply they are written to disk, all files or none, if nobody has changed them since.

    Args:
        session_id: session_id that create_simulation_session gave
        target: of a session about one file: the path to write it to instead, where no file may be yet
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
    """

def create_simulation_session(index: Index | None, *, workspace_root: str = "", language: str = "") -> Answer[CreatedSession]:
    """Begins a session of edits that exist in memory only; it is kept between calls until it is destroyed, or unused for a week.

    Args:
        workspace_root: root of the workspace that is meant, where several are served; else this one
        language: the language, by its own name or LSP's; which server judges a file, its name says
    """

def deactivate_skill(index: Index | None) -> Answer[Deactivated]:
    """Ends the skill that this MCP client, or the command line in this index's folder, has activated; without one it does nothing."""

def destroy_session(index: Index | None, session_id: str = "") -> Answer[DestroyedSession]:
    """Ends a session, whatever state it is in, and forgets its edits.

    Args:
        session_id: session_id that create_simulation_session gave
    """

def detect_changes(
    index: Index,
    *,
    scope: Literal["unstaged", "staged", "uncommitted", "committed"] = "unstaged",
    range: str = "",
    base: str = "",
    head: str = "",
    workspace_root: str = "",
    make_base: bool = False,
    test_depth: int = 12,
    tests: Literal["likely", "all"] = "likely",
    limit: int = 100,
    cursor: str = "",
) -> Answer[Changes]:
    """What a git diff changes semantically, who is affected, which callers it leaves alone, which tests reach it, and how risky it is.

    Args:
        scope: unstaged: work tree against staged; staged: staged against HEAD; uncommitted: both, as git mv and edits after it take;
            committed: see range, with which it is taken for said
        range: for committed: A..B, A...B (from their merge base), or one commit against its parent; default HEAD
        base: branch or commit: compares its merge base with head; goes before scope and range
        head: with base: default HEAD; '.' for the work tree
        workspace_root: root of the workspace that is meant, where several are served; else this one
        make_base: crawl the old side where no index of it is here, for callers of what is gone
        test_depth: how many calls away a test may be
        tests: likely: of many tests those to run where not all are
        limit: entries shown of each list
        cursor: next_cursor of the previous answer; it continues every list
    """

def detect_lsp_servers(index: Index | None, workspace_dir: str = "") -> Answer[Detected]:
    """Languages of a folder, ranked by their files and project markers, and the language servers that are installed for them.

    Args:
        workspace_dir: folder to look at; empty: the current one
    """

def did_change_watched_files(index: Index | None, changes: list[FileChange | str] | None = None) -> Answer[Session]:
    """Tells running servers of files that have changed; what lies in the workspace they are told by themselves before each question.

    Args:
        changes: records of uri and type (1 created, 2 changed, 3 deleted), or paths: changed, or deleted where gone
    """

def diff_index(
    index: Index,
    *,
    old: str = "",
    new: str = "",
    what: Literal["all", "api", "added", "removed", "moved", "signature", "body", "docs"] = "all",
    path: str = "",
    limit: int = 100,
    cursor: str = "",
) -> Answer[IndexDifference]:
    """What differs between two indexes: symbols, declarations, calls and references gained and lost, public API, last callers.

    Args:
        old: generation number, commit, or path of another index's workspace; default: the previous generation
        new: the same; default: the present generation
        what: only symbols of this kind of change; api: exported ones that are gone or declared otherwise
        path: only below this path
        limit: symbols and edges shown
        cursor: next_cursor of the previous answer
    """

def discard_session(index: Index | None, session_id: str = "") -> Answer[DiscardedSession]:
    """Takes all edits of a session back; nothing was on disk, and the session can be used again.

    Args:
        session_id: session_id that create_simulation_session gave
    """

def evaluate_session(
    index: Index | None,
    session_id: str = "",
    *,
    scope: Literal["file", "workspace"] = "workspace",
    timeout_ms: int = 0,
    include_warnings: bool = False,
) -> Answer[Evaluation]:
    """Errors that a session's edits bring and take away, as a running language server says, with nothing changed on disk.

    Args:
        session_id: session_id that create_simulation_session gave
        scope: file: the edited files; workspace: also the files that depend on them, as the index knows
        timeout_ms: how long to wait for diagnostics; 0: 3000 for file, 8000 for workspace
        include_warnings: list warnings too; net_delta and safe are about errors
    """

def execute_command(
    index: Index | None,
    command: str = "",
    *,
    arguments: list[Any] | None = None,
    file_path: str = "",
    language_id: str = "",
    apply: bool = False,
) -> Answer[CommandResult]:
    """Says whether a language server has a command, or with apply runs it; edits that it asks for are shown, not made.

    Args:
        command: its identifier, as suggest_fixes gives it
        arguments: its arguments; a text that is a JSON object or list is taken as that
        file_path: a file of the language whose server is meant
        language_id: the language whose server is meant; default: the one that runs
        apply: write it; without it nothing is written, and what would be is shown
    """

def explore_symbol(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    limit: int = 10,
    source_lines: int = 80,
    cursor: str = "",
) -> Answer[Explored]:
    """A symbol in one answer: type, documentation, source, callers, references, tests, callees, types around it, risk.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        limit: callers, callees, types and overrides shown of each; totals are exact
        source_lines: lines of source shown; 0 for none
        cursor: next_cursor of the previous answer; it continues every list
    """

def export_cache(
    index: Index, dest_path: str = "", *, profile: Literal["auto", "git", "small"] = "auto", apply: bool = False
) -> Answer[Exported]:
    """With apply, writes the index as an artifact that others import, so that their first question is answered at once.

    Args:
        dest_path: a folder, to commit; or a file whose name ends in .tar, to publish
        profile: git: small changes make small differences; small: compressed
        apply: write it; without it nothing is written, and what would be is shown
    """

def find_callers(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    direction: Literal["incoming", "outgoing", "both"] = "both",
    depth: int = 1,
    evidence: list[str] | None = None,
    dispatch: bool = True,
    values: bool = True,
    external: bool = True,
    tests: Literal["include", "exclude", "only"] = "include",
    limit: int = 200,
    cursor: str = "",
    live: bool = False,
) -> Answer[list[Edge]]:
    """Callers and callees of a symbol with every call site, to any depth.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        direction: incoming: callers; outgoing: callees
        depth: 1: direct calls only
        evidence: only these kinds of evidence of a call; default syntax, definition, same_binding, callee_type, constructor, property,
            decorator, inferred, inherited, operator, protocol, string, entry_point, flow, second_server
        dispatch: also calls of what it overrides, through a base, interface or protocol, which may end in it; as callees also what
            overrides the called ones
        values: also where it is used as a value: handed over, stored, returned; who gets it may call it
        external: callees outside the workspace too
        tests: call sites in test files
        limit: callers or callees shown
        cursor: next_cursor of the previous answer
        live: ask a running language server, which sees unsaved and new code, instead of the index
    """

def find_references(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    include_declaration: bool = False,
    role: list[str] | None = None,
    path: str = "",
    tests: Literal["include", "exclude", "only"] = "include",
    possible: bool = False,
    limit: int = 500,
    cursor: str = "",
    group_by: Literal["none", "file"] = "none",
    workspace_only: bool = True,
    live: bool = False,
) -> Answer[list[FoundReference]]:
    """All uses of a symbol in the workspace, definitions first, then by path and position.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        include_declaration: also the symbol's own definitions
        role: only these roles: call, read, write (of a field by keyword, too), import, decorator, supertype, annotation, ...
        path: only documents that match this glob
        tests: references in test files
        possible: also unresolved identifiers of that name, marked as possible
        limit: references shown
        cursor: next_cursor of the previous answer
        group_by: file: one entry for each file, most references first, with the first place
        workspace_only: only files of the workspace; the index knows no others, a running server may
        live: ask a running language server, which sees unsaved and new code, instead of the index
    """

def find_symbol(
    index: Index,
    query: str = "",
    *,
    match: Literal["auto", "exact", "prefix", "substring", "fuzzy", "words"] = "auto",
    kind: list[str] | None = None,
    path: str = "",
    language: str = "",
    tests: Literal["include", "exclude", "only"] = "include",
    external: bool = False,
    detail_level: Literal["basic", "hover"] = "basic",
    limit: int = 50,
    offset: int = 0,
    cursor: str = "",
) -> Answer[list[FoundSymbol]]:
    """Symbols by name (exact, prefix, substring, fuzzy), or by words of plain language that names and documentation have.

    Args:
        query: name, dotted name, or words of plain language; empty lists all
        match: auto: exact in any case, else prefix, substring, fuzzy; several words: words, of names and documentation
        kind: only these kinds, e.g. class, function, method, EnumMember
        path: only documents that match this glob
        language: only this language
        tests: symbols of test files
        external: also symbols of dependencies that the workspace refers to
        detail_level: hover: each symbol with the server's hover text
        limit: symbols shown, with hover where that is asked for
        offset: skip so many; cursor goes before it
        cursor: next_cursor of the previous answer
    """

def format_document(index: Index | None, file_path: str = "", *, tab_size: int = 0, insert_spaces: bool = True) -> Answer[Formatted]:
    """What the server's formatter would change in a file: edits and their diff, not made.

    Args:
        file_path: the file, absolute or from the workspace's root
        tab_size: columns of a tab; 0: as .editorconfig says, else 2
        insert_spaces: spaces, not tabs; without tab_size an .editorconfig may say otherwise
    """

def format_range(
    index: Index | None,
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    tab_size: int = 0,
    insert_spaces: bool = True,
) -> Answer[Formatted]:
    """What the server's formatter would change in a range of a file: edits and their diff, not made.

    Args:
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        tab_size: columns of a tab; 0: as .editorconfig says, else 2
        insert_spaces: spaces, not tabs; without tab_size an .editorconfig may say otherwise
    """

def get_completions(
    index: Index | None,
    file_path: str = "",
    *,
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    trigger_character: str = "",
    filter: str = "",
    symbol_type: str = "",
    resolve: bool = False,
    limit: int = 50,
    cursor: str = "",
) -> Answer[list[Completion]]:
    """What can be typed at a place: members, names in scope, keywords; filtered and ranked.

    Args:
        file_path: the file, absolute or from the workspace's root
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        trigger_character: what was typed last, e.g. a dot, as if it had asked
        filter: only names that have this in them or are like it (Jaro-Winkler), the likest first
        symbol_type: only these: Function, Method, Class, Struct, Enum, Interface, Constant, Variable, Module
        resolve: ask the server for documentation and imports of those that are shown
        limit: completions shown
        cursor: next_cursor of the previous answer
    """

def get_cross_repo_references(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    include_declaration: bool = False,
    role: list[str] | None = None,
    path: str = "",
    tests: Literal["include", "exclude", "only"] = "include",
    possible: bool = False,
    limit: int = 500,
    cursor: str = "",
    symbol_file: str = "",
    consumer_roots: list[str] | None = None,
) -> Answer[CrossRepoReferences]:
    """All uses of a symbol in every workspace folder, the library's own first, then each consumer's, with warnings about the folders.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        include_declaration: also the symbol's own definitions
        role: only these roles: call, read, write (of a field by keyword, too), import, decorator, supertype, annotation, ...
        path: only documents that match this glob
        tests: references in test files
        possible: also unresolved identifiers of that name, marked as possible
        limit: references shown
        cursor: next_cursor of the previous answer
        symbol_file: as file_path: the document that the symbol is in
        consumer_roots: only these consumers: paths or names of workspace folders, or folders below them; default all
    """

def get_diagnostics(
    index: Index,
    file_path: str = "",
    *,
    path: str = "",
    severity: list[str] | None = None,
    limit: int = 200,
    cursor: str = "",
    live: bool = False,
    offline: bool = False,
) -> Answer[Diagnostics]:
    """Errors, warnings and hints of one document or of all: as of the index, or live for a document that has changed since.

    Args:
        file_path: only this document; all by default
        path: only documents that match this glob or are below this folder
        severity: only these: error, warning, information, hint, or 1 to 4; all by default
        limit: diagnostics shown
        cursor: next_cursor of the previous answer
        live: ask a running language server about file_path now; also done where that file has changed since
        offline: start no language server, whatever has changed
    """

def get_document_highlights(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    live: bool = False,
    limit: int = 1000,
    cursor: str = "",
) -> Answer[Highlights]:
    """All occurrences of a symbol in one document: text, read or write.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        live: ask a running server about the file as it is now, in place of the index
        limit: occurrences shown
        cursor: next_cursor of the previous answer
    """

def get_editing_context(
    index: Index, file_path: str = "", *, if_none_match: str = "", limit: int = 5, budget: int = 0, cursor: str = ""
) -> Answer[EditingContext]:
    """Before editing a file: its symbols with signatures and risk, their callers in and outside tests, callees and imports.

    Args:
        file_path: document, relative to the workspace root or to here, or absolute
        if_none_match: etag of an earlier answer: if it still holds, not_modified is all
        limit: callers and callees shown of each symbol; counts are exact
        budget: tokens (characters / 4) that the answer's text may have: fewer callers, then fewer symbols; 0: as many as the file has, at
            least 1000
        cursor: next_cursor of the previous answer
    """

def get_inlay_hints(
    index: Index | None,
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    limit: int = 1000,
    cursor: str = "",
) -> Answer[list[InlayHint]]:
    """Inferred types and names of parameters in a range, as editors show them within the lines.

    Args:
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        limit: hints shown
        cursor: next_cursor of the previous answer
    """

def get_semantic_tokens(
    index: Index | None,
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    limit: int = 1000,
    cursor: str = "",
) -> Answer[list[SemanticToken]]:
    """Every token of a range with what the server takes it for: function, parameter, type, and whether it is declared or read-only.

    Args:
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        limit: tokens shown
        cursor: next_cursor of the previous answer
    """

def get_server_capabilities(index: Index, *, language: str = "", live: bool = False) -> Answer[list[ServerCapabilities]]:
    """What each language server could do when the index was made, and which tools can answer for its language.

    Args:
        language: only the server of this language
        live: of the servers that run now, started if none does, in place of the crawl's
    """

def get_signature_help(
    index: Index | None, file_path: str = "", *, line: int = 0, column: int = 0, position_pattern: str = ""
) -> Answer[SignatureHelp]:
    """Signatures of the call around a place, all overloads, and which parameter the place is at.

    Args:
        file_path: the file, absolute or from the workspace's root
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
    """

def get_skill_phase(index: Index | None) -> Answer[SkillPhase]:
    """The phase of the skill that was activated here, with its tools and what was called; without one, all skills with their purpose."""

def get_symbol_documentation(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    language_id: str = "",
    source: Literal["auto", "index", "toolchain"] = "auto",
    format: Literal["text", "markdown"] = "text",
) -> Answer[Documentation]:
    """Documentation and signature of a symbol of the workspace or a dependency: as stored, else by go doc, pydoc or rustdoc's pages.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        language_id: only symbols of this language, e.g. go, rust, python; any by default
        source: auto: a qualified name that the index does not know is looked up by go doc, pydoc (of the machine's Python) or in the pages
            of rustdoc; toolchain: at once, for Python in the project's own environment; pydoc imports the module
        format: markdown: the signature in a fenced code block
    """

def get_symbol_source(
    index: Index, symbol: str = "", *, file_path: str = "", line: int = 0, column: int = 0, position_pattern: str = ""
) -> Answer[list[Source]]:
    """The source text of a symbol, or of the innermost definition around a position.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
    """

def get_tests_for_file(index: Index, file_path: str = "", *, depth: int = 3, limit: int = 50, cursor: str = "") -> Answer[TestsForFile]:
    """Test files that exercise a source file, by who really calls or imports it, then by name, each with why and its test functions.

    Args:
        file_path: the source file
        depth: 1: tests that use its symbols themselves; more: through other code
        limit: test files shown
        cursor: next_cursor of the previous answer
    """

def go_to_declaration(
    index: Index, symbol: str = "", *, file_path: str = "", line: int = 0, column: int = 0, position_pattern: str = "", live: bool = False
) -> Answer[list[Declaration]]:
    """Where a symbol is declared: the header's prototype in C and C++, elsewhere the definition, marked as one.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        live: ask a running language server, which sees unsaved and new code, instead of the index
    """

def go_to_definition(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    show_source: bool = True,
    live: bool = False,
) -> Answer[list[Definition]]:
    """Where a symbol, or the identifier at a position, is defined.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        show_source: with the line of each definition
        live: ask a running language server, which sees unsaved and new code, instead of the index
    """

def go_to_implementation(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    transitive: bool = True,
    limit: int = 500,
    cursor: str = "",
    live: bool = False,
) -> Answer[list[Implementation]]:
    """Types that implement or extend a type, members that override a member; what is concrete and has none, itself.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        transitive: also what is below the types and members directly below
        limit: implementations shown
        cursor: next_cursor of the previous answer
        live: ask a running language server, which sees unsaved and new code, instead of the index
    """

def go_to_symbol(index: Index, symbol_path: str = "", *, workspace_root: str = "", language: str = "") -> Answer[list[Definition]]:
    """The places of a symbol by its dotted name, without a file or a position.

    Args:
        symbol_path: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it, e.g. MyClass.method or
            pkg.Function
        workspace_root: only below this folder of the workspace, or in the folder of this name
        language: only symbols of this language
    """

def go_to_type_definition(
    index: Index, symbol: str = "", *, file_path: str = "", line: int = 0, column: int = 0, position_pattern: str = "", live: bool = False
) -> Answer[list[TypeDefinition]]:
    """Where the type of a variable, parameter, field or result is defined, as far as the index knows it; each with its evidence.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        live: ask a running language server, which sees unsaved and new code, instead of the index
    """

def import_cache(index: Index | None, src_path: str = "", *, apply: bool = False) -> Answer[Exchanged]:
    """Checks all of an artifact as an attacker's and says what fits; with apply makes it the index here, in place of the present one.

    Args:
        src_path: folder or file that export_cache has written
        apply: write it; without it nothing is written, and what would be is shown
    """

def index_status(
    index: Index, file_path: str = "", *, language: str = "", method: str = "", details: bool = False, limit: int = 200, cursor: str = ""
) -> Answer[Status]:
    """What the index covers and what it lacks, by file, language and method; of everything, one folder or one file.

    Args:
        file_path: only this file, or what is below this folder; all by default
        language: only this language
        method: only this method, e.g. textDocument/definition or syntax
        details: also how the index was made and what the workspace lacks, as lspidx status prints it
        limit: entries shown of each list
        cursor: next_cursor of the previous answer
    """

def insert_after_symbol(
    index: Index | None, symbol_path: str = "", *, file_path: str = "", apply: bool = False, plan: str = "", code: str = ""
) -> Answer[Edited]:
    """Puts code on the lines after a symbol; text without indentation is indented.

    Args:
        symbol_path: name in dot notation: MyFunc, MyClass.method
        file_path: the file that defines it; without it the index says which
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
        code: text to put after it, with the blank lines that it shall have
    """

def insert_before_symbol(
    index: Index | None, symbol_path: str = "", *, file_path: str = "", apply: bool = False, plan: str = "", code: str = ""
) -> Answer[Edited]:
    """Puts code on the lines before a symbol, above its decorators; text without indentation is indented.

    Args:
        symbol_path: name in dot notation: MyFunc, MyClass.method
        file_path: the file that defines it; without it the index says which
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
        code: text to put before it, with the blank lines that it shall have
    """

def inspect_symbol(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    live: bool = False,
    offline: bool = False,
) -> Answer[Inspection]:
    """Signature, documentation and the server's hover of a symbol: as indexed, or live where the index has none that is valid.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        live: ask a running language server even where the index knows
        offline: start no language server, whatever the index lacks
    """

def list_symbols(
    index: Index,
    file_path: str = "",
    *,
    depth: int = 10,
    locals: bool = False,
    top_level_only: bool = False,
    format: Literal["json", "outline"] = "json",
) -> Answer[list[OutlineItem]]:
    """All symbols of a document, as a tree.

    Args:
        file_path: document, relative to the workspace root or to here, or absolute
        depth: levels shown; 1 is the top level only
        locals: also parameters and local variables
        top_level_only: the same as depth 1
        format: outline: name, kind and line only, about a fifth of the tokens
    """

def list_workspace_folders(index: Index) -> Answer[list[WorkspaceFolder]]:
    """The workspace folders of the index, with their commits and how many documents each has."""

def move_symbol(
    index: Index, symbol: str = "", to: str = "", *, keep: bool = False, anyway: bool = False, apply: bool = False, plan: str = ""
) -> Answer[MovedSymbol]:
    """Moves a function, class, type or variable to another module or file, with imports and users mended: Python, TypeScript, Go.

    Args:
        symbol: a function, class, type or variable at the top level of its file: Python, TypeScript, Go
        to: the file that gets it, in Python also the dotted name of a module; a new file is made
        keep: the old module goes on having the name, by importing it from the new one
        anyway: write it also where uses may be left that are not known, or something else stands against it
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
    """

def open_document(index: Index | None, file_path: str = "") -> Answer[Session]:
    """Keeps a file open in its language server until close_document; every question opens what it needs by itself.

    Args:
        file_path: the file, absolute or from the workspace's root
    """

def prepare_rename(
    index: Index | None, symbol: str = "", *, file_path: str = "", line: int = 0, column: int = 0, position_pattern: str = ""
) -> Answer[Renameable]:
    """Whether the name at a place can be renamed, as a running language server says.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: the file, absolute or from the workspace's root
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
    """

def preview_edit(
    index: Index | None,
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    old_text: str = "",
    new_text: str = "",
    session_id: str = "",
    workspace_root: str = "",
    language: str = "",
    scope: Literal["file", "workspace"] = "workspace",
    timeout_ms: int = 0,
    include_warnings: bool = False,
) -> Answer[Evaluation]:
    """Errors that one edit would bring and take away; nothing is written. With session_id the edit stays in that session.

    Args:
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        old_text: in place of a range: text that occurs exactly once; else, whole lines that differ in white space
        new_text: text in its place; empty removes it
        session_id: session_id that create_simulation_session gave
        workspace_root: root of the workspace that is meant, where several are served; else this one
        language: the language, by its own name or LSP's; which server judges a file, its name says
        scope: file: the edited files; workspace: also the files that depend on them, as the index knows
        timeout_ms: how long to wait for diagnostics; 0: 3000 for file, 8000 for workspace
        include_warnings: list warnings too; net_delta and safe are about errors
    """

def remove_workspace_folder(index: Index, path: str = "") -> Answer[Folders]:
    """Removes a folder from the workspace; its files stay, its facts are no longer in the index.

    Args:
        path: folder to remove, by its path or by its name in the index
    """

def rename_symbol(
    index: Index | None,
    symbol: str = "",
    new_name: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    apply: bool = False,
    plan: str = "",
    exclude_globs: list[str] | None = None,
    sites: Literal["ask", "server", "both", "possible"] = "ask",
) -> Answer[Renamed]:
    """Renames a symbol everywhere, as a running language server says, held against the index; shows the edit, or writes it with apply.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        new_name: the name to give it
        file_path: the file, absolute or from the workspace's root
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
        exclude_globs: files to leave alone: vendor/**, **/*_gen.go, *.pb.go
        sites: where server and index disagree (uses that only the index knows, overriding members, files outside), or uses may be left that
            neither knows: ask: show it, and refuse to write; server: do as the server says; both: rename what the index knows too;
            possible: and what only has that name and could not be resolved
    """

def replace_symbol_body(
    index: Index | None, symbol_path: str = "", *, file_path: str = "", apply: bool = False, plan: str = "", new_body: str = ""
) -> Answer[Edited]:
    """Replaces the whole definition of a symbol, found by name in the file as it is now; text without indentation is indented.

    Args:
        symbol_path: name in dot notation: MyFunc, MyClass.method
        file_path: the file that defines it; without it the index says which
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
        new_body: the whole definition, signature included; decorators stay, unless it begins with some
    """

def repository_map(
    index: Index,
    path: str = "",
    *,
    focus: list[str] | None = None,
    budget: int = 6500,
    tests: Literal["include", "exclude", "only"] = "exclude",
    cursor: str = "",
) -> Answer[Map]:
    """A map of the repository within a budget: folders, files and their most used symbols with signatures.

    Args:
        path: only a folder, a file, or documents that match this glob
        focus: symbols, files or folders that come first, then what they use and are used by
        budget: characters of the map as text, completeness not counted
        tests: symbols of tests, and uses in tests
        cursor: next_cursor of the previous answer
    """

def restart_lsp_server(index: Index | None, *, root_dir: str = "") -> Answer[Session]:
    """Ends the language servers that run and starts them again; documents that were opened are closed.

    Args:
        root_dir: the workspace; only the one that is served here; empty: that one
    """

def run_build(
    index: Index | None, path: str = "", *, workspace_dir: str = "", language: str = "", timeout_s: int = 600
) -> Answer[BuildResult]:
    """Builds or type-checks the project with its own tools (this runs its code), and says where it fails.

    Args:
        path: only this folder or file, relative to workspace_dir, where the tool can; else its project
        workspace_dir: root of the project; empty: the current folder
        language: c, cpp, csharp, go, java, javascript, kotlin, python, rust, swift, typescript, zig; by default what project files and
            sources say; tested: go build 1.26, cargo build 1.95, tsc 7.0, npm run build 11, mypy 2.4, basedpyright 1.40, ty 0.0.105, syntax
            check 3.11, cmake --build 3.25, make 4.3; untested: pyright, maven, gradle, dotnet build, swift build, zig build
        timeout_s: after which the build is ended
    """

def run_tests(
    index: Index | None,
    path: str = "",
    *,
    workspace_dir: str = "",
    language: str = "",
    selectors: list[str] | None = None,
    timeout_s: int = 600,
) -> Answer[TestRun]:
    """Runs the project's tests with its own runner (this runs its code): counts, and each failure with its place.

    Args:
        path: only this folder or file, relative to workspace_dir, where the runner can; else its project
        workspace_dir: root of the project; empty: the current folder
        language: c, cpp, csharp, go, java, javascript, kotlin, php, python, rust, swift, typescript, zig; by default what project files and
            sources say; tested: go test 1.26, cargo test 1.95, node --test 20, npm test 11, pytest 9, ctest 3.25, make test 4.3, phpunit
            9.6, maven 3.8, gradle 4.4; tested on recorded reports: vitest, jest; untested: dotnet test, swift test, zig build test
        selectors: only these tests, as detect_changes names them: tests/test_a.py::test_b, TestB/TestC, geo::tests::adds, a.test.ts
        timeout_s: after which the run is ended
    """

def safe_apply_edit(
    index: Index | None,
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    old_text: str = "",
    new_text: str = "",
    scope: Literal["auto", "file", "workspace"] = "auto",
    timeout_ms: int = 0,
    allow_warnings: bool = True,
    apply: bool = False,
    plan: str = "",
) -> Answer[SafelyApplied]:
    """Tries an edit in memory and shows it; with apply it is written, if a language server says in time that it introduces no error.

    Args:
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        old_text: in place of a range: text that occurs exactly once; else, whole lines that differ in white space
        new_text: text in its place; empty removes it
        scope: whose errors count; auto: also files that depend on the edited one, where there is an index that knows them
        timeout_ms: how long to wait for diagnostics; 0: 3000 for file, 8000 for workspace
        allow_warnings: write it also where it brings warnings
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
    """

def safe_delete_symbol(index: Index, symbol_path: str = "", *, file_path: str = "", apply: bool = False, plan: str = "") -> Answer[Edited]:
    """Removes a symbol, its decorators and the comments right above it; refuses while anything refers to it or may, as far as is known.

    Args:
        symbol_path: name in dot notation: MyFunc, MyClass.method
        file_path: the file that defines it; without it the index says which
        apply: write it; without it nothing is written, and what would be is shown
        plan: plan of the answer that showed it: refused if what would be written is something else by now
    """

def search_tools(index: Index | None, query: str = "", *, max_results: int = 5, output_schema: bool = False) -> Answer[Found]:
    """Further tools by name or keywords, with their schemas; all that it finds can be called at once.

    Args:
        query: keywords (+word: must fit), or select:name,name for tools by name
        max_results: declarations shown
        output_schema: also the schemas of the answers
    """

def set_log_level(
    index: Index | None, level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] = "info"
) -> Answer[Session]:
    """How much lspidx itself logs from now on; what servers log is their own.

    Args:
        level: the least severe that is logged
    """

def simulate_chain(
    index: Index | None,
    session_id: str = "",
    *,
    edits: list[OneEdit] | None = None,
    scope: Literal["file", "workspace"] = "workspace",
    timeout_ms: int = 0,
) -> Answer[Chain]:
    """Adds edits to a session one after the other, judges it after each, and says through which of them it is safe to go.

    Args:
        session_id: session_id that create_simulation_session gave
        edits: as simulate_edit takes them; each means the text after those before it
        scope: file: the edited files; workspace: also the files that depend on them, as the index knows
        timeout_ms: how long to wait for diagnostics; 0: 3000 for file, 8000 for workspace
    """

def simulate_edit(
    index: Index | None,
    session_id: str = "",
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    old_text: str = "",
    new_text: str = "",
) -> Answer[Simulated]:
    """Adds an edit to a session, in memory: a range of the session's text, or the one occurrence of old_text, becomes new_text.

    Args:
        session_id: session_id that create_simulation_session gave
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        old_text: in place of a range: text that occurs exactly once; else, whole lines that differ in white space
        new_text: text in its place; empty removes it
    """

def start_lsp(
    index: Index | None, root_dir: str = "", *, language_id: str = "", connect: str = "", ready_timeout_seconds: int = 0
) -> Answer[Session]:
    """Starts language servers before they are needed, or connects to one; those that ran for the language end first.

    Args:
        root_dir: the workspace; only the one that is served here; empty: that one
        language_id: only the server of this language; default: those of all languages here
        connect: host:port of a server that runs already, in place of a new one
        ready_timeout_seconds: wait so long for it to load the workspace; 0: the first question waits
    """

def suggest_fixes(
    index: Index | None,
    file_path: str = "",
    *,
    start_line: int = 0,
    start_column: int = 0,
    end_line: int = 0,
    end_column: int = 0,
    only: list[str] | None = None,
    limit: int = 50,
    cursor: str = "",
) -> Answer[list[Fix]]:
    """Quick fixes and refactorings for a range of a file, each with the edit that it would make.

    Args:
        file_path: the file, absolute or from the workspace's root
        start_line: 1-based
        start_column: 1-based, in UTF-16 code units
        end_line: 1-based
        end_column: 1-based, exclusive
        only: only these kinds, e.g. quickfix, refactor, source.organizeImports
        limit: actions shown, and asked for their edits
        cursor: next_cursor of the previous answer
    """

def type_hierarchy(
    index: Index,
    symbol: str = "",
    *,
    file_path: str = "",
    line: int = 0,
    column: int = 0,
    position_pattern: str = "",
    direction: Literal["supertypes", "subtypes", "both"] = "both",
    depth: int = 1,
    limit: int = 500,
    cursor: str = "",
) -> Answer[list[TypeRelation]]:
    """Supertypes and subtypes of a class, interface or struct, to any depth.

    Args:
        symbol: bare name, dotted name, path, path:line, path:line:col, or a symbol as any tool prints it
        file_path: with line and column, or with position_pattern, instead of a name
        line: 1-based
        column: 1-based, in UTF-16 code units
        position_pattern: text of the file with one @@ at the place meant
        direction: which way
        depth: levels; 1: direct only
        limit: types shown
        cursor: next_cursor of the previous answer
    """

def unreferenced(
    index: Index,
    path: str = "",
    *,
    kind: list[str] | None = None,
    include_exported: bool = False,
    confidence: Literal["all", "certain", "maybe"] = "all",
    tests: Literal["include", "exclude", "only"] = "exclude",
    limit: int = 100,
    cursor: str = "",
) -> Answer[list[UnreferencedSymbol]]:
    """Symbols that nothing in the workspace refers to, certain ones first; public ones only on demand.

    Args:
        path: only documents that match this glob or lie below this folder
        kind: only these kinds; default function, method, property, class, interface, struct, enum, constant, variable; also: field
        include_exported: also what the outside may use: public names; they are `maybe`, reason exported
        confidence: only rows of this confidence
        tests: symbols defined in tests
        limit: symbols shown
        cursor: next_cursor of the previous answer
    """

def untested(
    index: Index, path: str = "", *, kind: list[str] | None = None, depth: int = 5, limit: int = 100, cursor: str = ""
) -> Answer[UntestedResult]:
    """Functions, methods and types that no test reaches over calls and references, most called first.

    Args:
        path: only documents that match this glob or lie below this folder
        kind: only these kinds; default function, method, class and other types
        depth: steps of calls and references from a test that still count
        limit: symbols shown
        cursor: next_cursor of the previous answer
    """

def why(
    index: Index,
    source: str = "",
    target: str = "",
    *,
    via: Literal["calls", "references", "types", "any"] = "calls",
    depth: int = 20,
    tests: Literal["include", "exclude"] = "include",
) -> Answer[WhyResult]:
    """The shortest path of evidence from one symbol to another, over calls, references or types; or how far was looked without one.

    Args:
        source: the symbol that depends, as every tool takes one
        target: the symbol that it depends on
        via: calls: caller to callee; references: any use; types: subtype to supertype; any: all
        depth: steps of the longest path looked for
        tests: steps that tests take
    """
