; What runs a member without naming it.

; What an expression gives is called. A type in brackets before the arguments is a conversion.
(call_expression function: [(call_expression) (index_expression) (type_assertion_expression)
  (parenthesized_expression [(selector_expression) (index_expression) (call_expression) (type_assertion_expression)])]
  arguments: (argument_list . "(" @unknown.call))

; A loop over a function runs it.
(range_clause right: (_) @ranged)
