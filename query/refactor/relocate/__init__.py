"""A definition of TypeScript or Go moved to another file."""
