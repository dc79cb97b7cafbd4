"""SCIP, the file format for indexes that other tools write and read: its messages, and what of ours stands for what of theirs."""
