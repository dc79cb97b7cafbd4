; What runs a member without naming it.

(for_in_statement operator: "of" right: (_) @typed.iterate)
(array (spread_element (_) @typed.iterate))
(arguments (spread_element (_) @typed.iterate))
(variable_declarator name: (array_pattern) value: (_) @typed.iterate)
(assignment_expression left: (array_pattern) right: (_) @typed.iterate)
(yield_expression "*" (_) @typed.iterate)
(template_substitution (_) @typed.text)
((subscript_expression
  object: (_) @typed.iterate index: (member_expression object: (identifier) @_symbol property: (_) @_iterator))
  (#eq? @_symbol "Symbol") (#match? @_iterator "^(iterator|asyncIterator)$"))

; Items that are taken apart, of whose type nobody tells.
(for_in_statement left: (array_pattern) @unknown.iterate)
(array_pattern (array_pattern) @unknown.iterate)

; A member by a name that is made, which is called.

(call_expression function: (subscript_expression
  object: (_) @typed.look_up
  index: [(identifier) (member_expression) (subscript_expression) (binary_expression) (call_expression) (template_string) (ternary_expression)]))

; What an expression gives is called.
(call_expression function: [(subscript_expression) (call_expression) (ternary_expression) (await_expression)
  (parenthesized_expression [(binary_expression) (ternary_expression) (call_expression) (subscript_expression) (await_expression)])]
  . (arguments . "(" @unknown.call))
