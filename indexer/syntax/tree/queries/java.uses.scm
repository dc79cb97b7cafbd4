; Java.

(identifier) @token.value
(type_identifier) @token
((type_identifier) @drop (#eq? @drop "var"))
(labeled_statement (identifier) @drop)
(break_statement (identifier) @drop)
(continue_statement (identifier) @drop)
(package_declaration [(scoped_identifier) (identifier)] @drop.names)
(import_declaration (_) @import.names)

(scoped_identifier (identifier) @ask)
(field_access field: (identifier) @ask)
(method_invocation name: (identifier) @ask)
(method_reference (identifier) @ask)
(switch_label (identifier) @ask)

(type_identifier) @type
(marker_annotation name: (identifier) @decorator)
(annotation name: (identifier) @decorator)
(marker_annotation name: (scoped_identifier name: (identifier) @decorator))
(annotation name: (scoped_identifier name: (identifier) @decorator))
(element_value_pair key: (identifier) @keyword)

(method_invocation name: (identifier) @call)
(object_creation_expression type: [
  (type_identifier) @call
  (generic_type (type_identifier) @call)
  (scoped_type_identifier (type_identifier) @call .)
  (generic_type (scoped_type_identifier (type_identifier) @call .))
])
(explicit_constructor_invocation constructor: [(this) (super)] @token @ask @call)
(argument_list (identifier) @argument)
(argument_list (method_reference (_) (identifier) @argument))

(assignment_expression left: [(identifier) @write (field_access field: (identifier) @write)] operator: "=")
(assignment_expression
  left: [(identifier) @update (field_access field: (identifier) @update)]
  operator: ["+=" "-=" "*=" "/=" "%=" "&=" "|=" "^=" "<<=" ">>=" ">>>="])
(update_expression [(identifier) @update (field_access field: (identifier) @update)])

(superclass [
  (type_identifier) @base
  (scoped_type_identifier (type_identifier) @base .)
  (generic_type [(type_identifier) @base (scoped_type_identifier (type_identifier) @base .)])
])
(super_interfaces (type_list [
  (type_identifier) @base
  (scoped_type_identifier (type_identifier) @base .)
  (generic_type [(type_identifier) @base (scoped_type_identifier (type_identifier) @base .)])
]))
(extends_interfaces (type_list [
  (type_identifier) @base
  (scoped_type_identifier (type_identifier) @base .)
  (generic_type [(type_identifier) @base (scoped_type_identifier (type_identifier) @base .)])
]))

; ---- strings that may name something (`strings.py`)

(string_literal (string_fragment) @string)
((method_invocation name: (_) @_by arguments: (argument_list . (binary_expression left: (string_literal)) @made_lookup))
  (#match? @_by "^get(Declared)?(Method|Field)$"))

; ---- values that go nowhere: a member is taken of them

(method_invocation object: (identifier) @confined)
(field_access object: (identifier) @confined)
(method_reference . (identifier) @confined (identifier))
