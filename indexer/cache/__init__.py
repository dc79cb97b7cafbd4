"""The index as something that travels: a folder to commit or a file to publish, the same bytes from the same index.

- artifact: the format; names, sizes and digests of an attacker's. rows: every row. relative: positions as differences.
- signature: who made it. remote: a folder, an S3 store or a web server as one kind of place. exchange: push and pull, by pointers.
- pack: an index to an artifact. unpack: an artifact to an index of this very work tree, by a process of its own (reader).

An artifact holds the facts of each source file, not a database: it is merged here, as shards of a crawl are, so no DuckDB file of another
machine is ever opened. What it says of a file holds only where the file here has the content that it was made from; queries see that by
the digests, so an artifact of another commit is no lie, only less.
"""
