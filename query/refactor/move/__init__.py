"""A definition moved to another module: the texts that come of it, and who has the name by an import."""
