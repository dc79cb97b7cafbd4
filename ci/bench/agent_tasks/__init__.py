"""Twelve pieces of work as an agent does them over MCP, each judged by what does not use lspidx, beside the same by search and reading."""
