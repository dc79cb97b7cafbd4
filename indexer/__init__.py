"""Makes indexes: drives language servers over workspace folders and stores what they say as Parquet and DuckDB.

Start reading in `indexer.crawl.run` (one crawl from plan to published index); the words are in `indexer.model`.
This package never imports `query`. Importing it loads nothing, so that a pure module stays light.
"""
