; Items that are taken apart, of whose type nobody tells.

(required_parameter pattern: (array_pattern) @unknown.iterate)
(required_parameter pattern: (object_pattern (rest_pattern)) @unknown.copy)

((new_expression
  constructor: (parenthesized_expression (as_expression . (member_expression object: (_) @typed.remake property: (property_identifier) @_constructor))))
  (#eq? @_constructor "constructor"))
