"""The words of an answer: envelope, style, diagnostics, advice. Nothing here knows an index."""
