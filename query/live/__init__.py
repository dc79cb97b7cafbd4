"""Questions that only a running language server can answer: hover in a dirty file, rename, completions, diagnostics of an edit."""
