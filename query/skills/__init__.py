"""Skills: pieces of work in phases, as data, and the enforcement of which tools a phase allows."""
