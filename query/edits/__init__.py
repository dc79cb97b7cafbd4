"""Edits of the work tree: what a WorkspaceEdit would make of the files, and making it so, all or nothing.

Deciding (`plan`) reads and writes nothing; doing (`apply`) writes and decides nothing:

    from query.edits.apply import apply, recover
    from query.edits.plan import plan_edit, plan_edits, plan_match, read_document, with_digests
    from query.edits.scope import Scope
    from query.edits.text import Edit

    scope = Scope(root, beside=[…])             # the workspace's folders: nothing outside of them is touched
    recover(scope)                              # undoes what a killed process has left half done
    plan = plan_edit(scope, workspace_edit)     # or plan_match(scope, "a.py", "old", "new")
    plan.changes                                # each with .status, digests before and after, and .diff
    apply(scope, plan)                          # EditRefused, if a file is not what the plan was made of

Who makes an edit and hands it out to be applied later: `with_digests(scope, edit)` of a server's WorkspaceEdit,
`plan.as_workspace_edit(scope)` of a plan; both have `lspidxDigests`, by which a file that has changed since is noticed. Who computes
positions: `read_document(scope, path)` gives the text that they mean; `Document.lines` turns offsets into positions and back,
`Document.edited(edits)` tries edits in memory, `Document.for_server` is the text to send in didOpen, `plan.documents()` are the texts
that would be there. The scope of a tool's workspace: `query.facts.folders.edit_scope`.

Modules: `text` bytes and positions, `workspace_edit` (with `snippets`) LSP's form, `scope` which files, `globs` which not, `tree`
operations on files in memory, `match` text in place of positions, `diff` (with `blocks`) previews, `plan` what would be, `apply` and its
`journal` making it so.
"""
