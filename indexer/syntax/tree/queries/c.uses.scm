; C, and what C++ has of it.

(identifier) @token.value
[(type_identifier) (field_identifier)] @token
(preproc_params (identifier) @drop)
(attribute_specifier (argument_list (identifier) @drop))
(attribute_specifier (argument_list (call_expression function: (identifier) @drop)))

(type_identifier) @type

; What stands in brackets may be a macro's business: a member of the same name, say.
(call_expression function: (identifier) arguments: (argument_list) @unsure)

(call_expression function: (identifier) @call)
(call_expression function: (field_expression field: (field_identifier) @call))
(call_expression function: (parenthesized_expression [
  (identifier) @call
  (pointer_expression argument: (identifier) @call)
  (field_expression field: (field_identifier) @call)
  (pointer_expression argument: (field_expression field: (field_identifier) @call))
]))
(argument_list (identifier) @argument)
(argument_list (pointer_expression operator: "&" argument: (identifier) @argument))

(assignment_expression left: (identifier) @write operator: "=")
(assignment_expression left: (field_expression field: (field_identifier) @write) operator: "=")
(assignment_expression
  left: [(identifier) @update (field_expression field: (field_identifier) @update)]
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>="])
(update_expression argument: [(identifier) @update (field_expression field: (field_identifier) @update)])

(field_designator (field_identifier) @keyword)

[
  (preproc_def value: (preproc_arg) @text_of_macro)
  (preproc_function_def value: (preproc_arg) @text_of_macro)
]

; ---- strings that may name something (`strings.py`)

(string_literal (string_content) @string)

; ---- values that go nowhere: a member is taken of them, they are compared, tested, discarded

(field_expression argument: [(identifier) @confined (field_expression field: (_) @confined)])
(binary_expression) @sides.equal_fields
(unary_expression operator: "!" argument: [(identifier) @confined (field_expression field: (_) @confined)])
(sizeof_expression value: (parenthesized_expression (identifier) @confined))
(expression_statement [(identifier) @confined (field_expression field: (_) @confined)])
(cast_expression type: (type_descriptor type: (primitive_type) @_void !declarator) value: (identifier) @confined (#eq? @_void "void"))
((call_expression function: (identifier) @_function arguments: (argument_list (identifier) @confined))
  (#match? @_function "^(atexit|bsearch|pthread_create|qsort)$"))
