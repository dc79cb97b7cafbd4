; Go. Predeclared types are keywords to us.

(identifier) @token.value
[(type_identifier) (field_identifier) (package_identifier)] @token
(package_clause (package_identifier) @drop)
((type_identifier) @drop (#any-of? @drop
  "any" "bool" "byte" "comparable" "complex128" "complex64" "error" "float32" "float64" "int" "int16" "int32" "int64" "int8"
  "rune" "string" "uint" "uint16" "uint32" "uint64" "uint8" "uintptr"))

(type_identifier) @type
(qualified_type package: (package_identifier) @type)
(composite_literal type: [
  (type_identifier) @value
  (qualified_type package: (_) @value name: (_) @value)
  (generic_type type: [(type_identifier) @value (qualified_type package: (_) @value name: (_) @value)])
])

; ---- calls

(call_expression function: (identifier) @call)
(call_expression function: (selector_expression field: (_) @call))
(call_expression function: (parenthesized_expression [(identifier) @call (selector_expression field: (_) @call)]))
(call_expression function: (parenthesized_expression
  (unary_expression operator: "*" operand: [(identifier) @call (selector_expression field: (_) @call)])))
(call_expression function: (index_expression operand: [(identifier) @call (selector_expression field: (_) @call)]))
(call_expression function: (type_instantiation_expression type: [(type_identifier) @call (qualified_type name: (_) @call)]))
(type_conversion_expression type: [
  (type_identifier) @call
  (qualified_type name: (_) @call)
  (generic_type type: [(type_identifier) @call (qualified_type name: (_) @call)])
])
(argument_list [(identifier) @argument (selector_expression field: (_) @argument)])

; ---- assignments

(assignment_statement left: (expression_list [(identifier) @write (selector_expression field: (_) @write)]) operator: "=")
(assignment_statement
  left: (expression_list [(identifier) @update (selector_expression field: (_) @update)])
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" "&^="])
(inc_statement [(identifier) @update (selector_expression field: (_) @update)])
(dec_statement [(identifier) @update (selector_expression field: (_) @update)])
(range_clause left: (expression_list [(identifier) @write (selector_expression field: (_) @write)]) . "=")
(receive_statement left: (expression_list [(identifier) @write (selector_expression field: (_) @write)]) "=")

(keyed_element key: (literal_element (identifier) @keyword))

; ---- types

(field_declaration !name type: [
  (type_identifier) @base.embedded
  (qualified_type name: (_) @base.embedded)
  (generic_type type: [(type_identifier) @base.embedded (qualified_type name: (_) @base.embedded)])
])
(interface_type (type_elem . [
  (type_identifier) @base.embedded
  (qualified_type name: (_) @base.embedded)
  (generic_type type: [(type_identifier) @base.embedded (qualified_type name: (_) @base.embedded)])
] .))

(import_spec name: (package_identifier) @import)

; What an import names: the answer to its path is the package, to which uses of its name lead by way of the import.
(import_spec path: (interpreted_string_literal) @token @import @imported) @importing
(import_spec path: (interpreted_string_literal (interpreted_string_literal_content) @source))
(import_spec name: (package_identifier) @alias)

; ---- strings that may name something (`strings.py`)

(interpreted_string_literal (interpreted_string_literal_content) @string)
(raw_string_literal (raw_string_literal_content) @string)
((call_expression
  function: (selector_expression field: (_) @_by)
  arguments: (argument_list . [(identifier) (selector_expression) (index_expression) (call_expression) (binary_expression)] @made_lookup .))
  (#eq? @_by "MethodByName"))

; ---- values that go nowhere: a member is taken of them, they are compared, tested, discarded

(selector_expression operand: [(identifier) @confined (selector_expression field: (_) @confined)])
(binary_expression) @sides.equal_selectors
(assignment_statement
  left: (expression_list . (identifier) @_blank .)
  right: (expression_list . [(identifier) @confined (selector_expression field: (_) @confined)] .)
  (#eq? @_blank "_"))
(var_spec name: (identifier) @_blank value: (expression_list . [(identifier) @confined (selector_expression field: (_) @confined)] .)
  (#eq? @_blank "_"))
