; What runs a member without naming it.

(binary_expression) @sides.sign
(compound_assignment_expr operator: _ @sign.assigning)
(unary_expression ["-" "!" "*"] @sign.unary)
(index_expression "]" @sign.subscript)
(index_expression . (_) @typed.get_item)
(try_expression "?" @sign.unary)
(await_expression "await" @sign.unary)
(token_tree ["+" "-" "*" "/" "%" "==" "!=" "<" "<=" ">" ">=" "+=" "-=" "*=" "/=" "?"] @sign.given)
(token_repetition ["+" "-" "*" "/" "%" "==" "!=" "<" "<=" ">" ">=" "+=" "-=" "*=" "/=" "?"] @sign.given)
(macro_rule right: (token_tree) @made)
[
  (token_tree (metavariable) . (token_tree . "(" @unknown.call))
  (token_repetition (metavariable) . (token_tree . "(" @unknown.call))
]

(for_expression value: (_) @typed.iterate)

; Texts in which a value of no type that is told may be of any.
[
  (function_item type_parameters: (type_parameters (type_parameter)))
  (function_item parameters: (parameters (parameter type: [
    (abstract_type) (dynamic_type) (reference_type type: [(abstract_type) (dynamic_type)])
    (generic_type type_arguments: (type_arguments (dynamic_type)))
  ])))
  (impl_item type_parameters: (type_parameters (type_parameter)))
  (trait_item)
] @generic

; What an expression gives is called.
(call_expression function: [(self) (index_expression) (call_expression) (try_expression) (macro_invocation)
  (parenthesized_expression [
    (field_expression) (index_expression) (call_expression) (unary_expression) (reference_expression) (try_expression) (macro_invocation)
    (self) (block) (unsafe_block) (if_expression) (match_expression) (loop_expression) (await_expression) (parenthesized_expression)
    (type_cast_expression)
  ])]
  arguments: (arguments . "(" @unknown.call))
