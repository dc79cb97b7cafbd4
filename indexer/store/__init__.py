"""Facts at rest.

`shard`: Parquet as the crawl wrote it. `merge`: one DuckDB index made of shards. `generations`: its publication. `lint`: its checks.
"""
