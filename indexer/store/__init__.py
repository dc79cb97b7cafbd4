"""Facts at rest: Parquet shards (`shard`), the DuckDB index made of them (`merge`), its publication (`generations`), its checks (`lint`)."""
