; C, and what C++ has of it.

(identifier) @token.value
[(type_identifier) (field_identifier)] @token
(preproc_params (identifier) @drop)
(attribute_specifier (argument_list (identifier) @drop))

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

; ---- strings that may name something (`strings.py`)

(string_literal (string_content) @string)
