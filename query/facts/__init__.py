"""The only reader of an index: what it says of symbols, uses, calls, types and files, and how far that is complete."""
