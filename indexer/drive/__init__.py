"""The shell around `indexer.lsp`: processes and time."""
