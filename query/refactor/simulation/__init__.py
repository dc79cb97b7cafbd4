"""Edits that are tried in memory: sessions, diagnostics before and after. Nothing is on disk until a session is committed."""
