"""Edits of the work tree: what a WorkspaceEdit would make of the files, and making it so, all or nothing."""
