"""Edits that follow a symbol: rename, edits of symbols, simulation; each is judged against the index before it is written."""
