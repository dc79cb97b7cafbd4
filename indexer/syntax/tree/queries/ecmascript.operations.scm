; What runs a member without naming it.

(for_in_statement operator: "of" right: (_) @typed.iterate)
(array (spread_element (_) @typed.iterate))
(arguments (spread_element (_) @typed.iterate))
(variable_declarator name: (array_pattern) value: (_) @typed.iterate)
(assignment_expression left: (array_pattern) right: (_) @typed.iterate)
(yield_expression "*" (_) @typed.iterate)
(template_substitution (_) @typed.text)
(await_expression (_) @typed.await)
(for_in_statement "await" right: (_) @typed.await)

; Operators that make a number or a text of a value; what those between two do, says `indexer.syntax.tree.binary`.
(binary_expression) @sides.ecmascript
(unary_expression operator: ["-" "+" "~"] argument: (_) @typed.primitive)
(update_expression argument: (_) @typed.primitive)
(augmented_assignment_expression
  left: (_) @typed.primitive operator: ["+=" "-=" "*=" "/=" "%=" "**=" "<<=" ">>=" ">>>=" "&=" "|=" "^="] right: (_) @typed.primitive)

; All members of an object are read.
(object (spread_element (_) @typed.copy))
(variable_declarator name: (object_pattern (rest_pattern)) value: (_) @typed.copy)
(assignment_expression left: (object_pattern (rest_pattern)) right: (_) @typed.copy)

; A name that is made, in what is taken apart.
(variable_declarator name: (object_pattern (pair_pattern key: (computed_property_name))) value: (_) @typed.read_made)
(assignment_expression left: (object_pattern (pair_pattern key: (computed_property_name))) right: (_) @typed.read_made)

; One more of the class of a value, or of the class that `this` is.
(new_expression constructor: (this) @typed.remake)
((new_expression constructor: (member_expression object: (_) @typed.remake property: (property_identifier) @_constructor))
  (#eq? @_constructor "constructor"))
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

(subscript_expression
  object: (_) @typed.read_made
  index: [(identifier) (member_expression) (subscript_expression) (call_expression) (ternary_expression)])

; What an expression gives is called.
(call_expression function: [(subscript_expression) (call_expression) (ternary_expression) (await_expression)
  (parenthesized_expression [(binary_expression) (ternary_expression) (call_expression) (subscript_expression) (await_expression)])]
  . (arguments . "(" @unknown.call))
