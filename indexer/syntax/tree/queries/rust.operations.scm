; What runs a member without naming it.

(binary_expression operator: _ @sign.binary)
(compound_assignment_expr operator: _ @sign.assigning)
(unary_expression ["-" "!" "*"] @sign.unary)
(index_expression "]" @sign.subscript)
(index_expression . (_) @typed.get_item)
(try_expression "?" @sign.unary)
(await_expression "await" @sign.unary)
(token_tree ["+" "-" "*" "/" "%" "==" "!=" "<" "<=" ">" ">=" "+=" "-=" "*=" "/=" "?"] @sign.given)
(macro_rule right: (token_tree) @made)
(token_tree (metavariable) . (token_tree . "(" @unknown.call))

(for_expression value: (_) @typed.iterate)

; What an expression gives is called.
(call_expression function: [(index_expression) (call_expression) (try_expression)
  (parenthesized_expression [(field_expression) (index_expression) (call_expression) (unary_expression) (reference_expression)])]
  arguments: (arguments . "(" @unknown.call))
