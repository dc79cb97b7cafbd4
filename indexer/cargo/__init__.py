"""Cargo workspaces read from their files, without cargo: packages, what they depend on, which of it lies on this machine.

`disk.survey` reads; the other modules decide and read nothing. Start at `resolve`, then `project`, which makes rust-analyzer's project
file of it.
"""
