"""An index as SCIP, the file format that other tools read: `export` writes it, `documents` makes its messages."""
