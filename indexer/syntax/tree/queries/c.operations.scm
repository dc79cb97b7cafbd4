; What runs a member without naming it.

; What an expression gives is called.
(call_expression function: [(call_expression) (subscript_expression)
  (parenthesized_expression [(pointer_expression) (subscript_expression) (call_expression) (conditional_expression) (cast_expression)])]
  arguments: (argument_list . "(" @unknown.call))
