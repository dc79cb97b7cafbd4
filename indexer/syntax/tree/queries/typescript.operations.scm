; Items that are taken apart, of whose type nobody tells.

(required_parameter pattern: (array_pattern) @unknown.iterate)
