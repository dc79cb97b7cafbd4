; Items that are taken apart, of whose type nobody tells.

(formal_parameters (array_pattern) @unknown.iterate)
