"""Language servers as data: `servers.toml` is the table, `registry` its typed reader."""
