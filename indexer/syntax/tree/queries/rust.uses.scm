; Rust.

(identifier) @token.value
[(type_identifier) (field_identifier) (shorthand_field_identifier)] @token
((type_identifier) @drop (#eq? @drop "Self"))
(lifetime (identifier) @drop)
(label (identifier) @drop)
(token_tree (identifier) @ask @unparsed)
(token_repetition (identifier) @ask @unparsed)
(scoped_identifier (identifier) @ask)
(tuple_struct_pattern type: (identifier) @ask)
(shorthand_field_initializer (identifier) @ask)
(attribute (identifier) @decorator)
(attribute (scoped_identifier name: (identifier) @decorator))

(type_identifier) @type
(scoped_type_identifier path: (identifier) @type)
(struct_expression name: [
  (type_identifier) @value
  (scoped_type_identifier path: (_) @value name: (_) @value)
  (generic_type type: (type_identifier) @value)
])
(struct_pattern type: [(type_identifier) @value (scoped_type_identifier path: (_) @value name: (_) @value)])
(generic_type_with_turbofish type: (type_identifier) @value)
(scoped_identifier path: (generic_type type: (type_identifier) @value))

(call_expression function: [
  (identifier) @call
  (parenthesized_expression [
    (identifier) @call
    (scoped_identifier name: (identifier) @call)
    (generic_function function: [(identifier) @call (scoped_identifier name: (identifier) @call)])
  ])
  (field_expression field: (field_identifier) @call)
  (scoped_identifier name: (identifier) @call)
  (generic_function function: [
    (identifier) @call
    (field_expression field: (field_identifier) @call)
    (scoped_identifier name: (identifier) @call)
  ])
])
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (identifier) @call)])
(arguments (identifier) @argument)
(arguments (scoped_identifier name: (identifier) @argument))
(arguments (reference_expression value: (identifier) @argument))

(assignment_expression left: [(identifier) @write (field_expression field: (field_identifier) @write)])
(compound_assignment_expr left: [(identifier) @update (field_expression field: (field_identifier) @update)])
(field_initializer field: (field_identifier) @keyword)
(field_pattern name: (field_identifier) @keyword)

(trait_item bounds: (trait_bounds [
  (type_identifier) @base
  (generic_type type: (type_identifier) @base)
  (scoped_type_identifier name: (type_identifier) @base)
]))

(use_declaration argument: (_) @import.names)
(extern_crate_declaration name: (identifier) @import)
(extern_crate_declaration alias: (identifier) @import)
(mod_item name: (identifier) @import !body)

(field_pattern name: (shorthand_field_identifier) @second)

; ---- strings that may name something (`strings.py`), and texts that a macro formats (`formats.py`)

(string_literal (string_content) @string)
(token_tree [(string_literal (string_content) @format) (raw_string_literal (string_content) @format)])

; ---- names that a macro puts together: `[<get_ $name>]`

((token_tree) @pasted (#match? @pasted "^\\[\\s*<"))

; ---- values that go nowhere: a member is taken of them, they are compared, discarded; and parts of a path

(field_expression value: [(identifier) @confined (field_expression field: (_) @confined)])
(scoped_identifier path: [(identifier) @confined (scoped_identifier name: (identifier) @confined)])
(binary_expression) @sides.equal_paths
(expression_statement [(identifier) @confined (scoped_identifier name: (identifier) @confined)])
((call_expression
  function: (field_expression field: (field_identifier) @_method)
  arguments: (arguments [(identifier) @confined (scoped_identifier name: (identifier) @confined)]))
  (#match? @_method "^(all|and_then|any|filter|filter_map|find_map|flat_map|for_each|is_some_and|map|map_err|map_or|map_or_else|ok_or_else|or_else|position|then|unwrap_or_else)$"))
