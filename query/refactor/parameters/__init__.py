"""The parameters of a function changed together with its calls: what a change means, what texts come of it, where uses are."""
