; PHP.

(name) @token
(variable_name (name) @token.value)
(dynamic_variable_name (name) @token.value)
((variable_name (name) @drop) (#eq? @drop "this"))
(namespace_name (name) @drop)
(goto_statement (name) @drop)
(named_label_statement (name) @drop)
(property_hook . (name) @drop)
((named_type (name) @drop) (#match? @drop "^(self|static|parent)$"))
((class_constant_access_expression (_) (name) @drop .) (#eq? @drop "class"))
((function_call_expression function: (name) @drop) (#match? @drop "^(isset|empty)$"))
((name) @drop (#match? @drop "^__(DIR|FILE|LINE|CLASS|FUNCTION|METHOD|NAMESPACE|TRAIT|PROPERTY)__$"))
(scoped_property_access_expression name: (variable_name (name) @ask))
(anonymous_function_use_clause (variable_name (name) @second))
(anonymous_function_use_clause (by_ref (variable_name (name) @second)))

; ---- imports

(namespace_use_clause (qualified_name) @source) @importing
(namespace_use_clause (name) @source) @importing
(namespace_use_declaration (namespace_name) @source body: (namespace_use_group)) @importing
(namespace_use_clause [(name) @import @imported (qualified_name (name) @import @imported .)])
(namespace_use_clause alias: (name) @import)

; ---- roles

(named_type [(name) @type (qualified_name (name) @type .) (relative_name (name) @type .)])
(attribute [(name) @decorator (qualified_name (name) @decorator .) (relative_name (name) @decorator .)])
(argument name: (name) @keyword)

[(function_call_expression) (member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression)] @whole.call
(object_creation_expression [(name) @call (qualified_name (name) @call .) (relative_name (name) @call .) (variable_name (name) @call)])
(argument (variable_name (name) @argument))
(argument (member_access_expression name: (name) @argument))

(scoped_call_expression scope: [(name) @confined (qualified_name (name) @confined .) (relative_name (name) @confined .)])
(scoped_property_access_expression scope: [(name) @confined (qualified_name (name) @confined .) (relative_name (name) @confined .)])

((class_constant_access_expression . [(name) @confined (qualified_name (name) @confined .)] (name) @_constant)
  (#not-eq? @_constant "class"))
(binary_expression) @sides.instanceof
; What is only asked of a type, which is named so: no value of it is made.
((attribute (name) @_told parameters: (arguments (argument (class_constant_access_expression . (name) @confined))))
  (#match? @_told "^(Covers|Uses)(Class|Trait|Method)$"))

; ---- what is written

(assignment_expression left: [
  (member_access_expression name: (name) @write)
  (nullsafe_member_access_expression name: (name) @write)
  (scoped_property_access_expression name: (variable_name (name) @write))
])
(reference_assignment_expression left: [
  (member_access_expression name: (name) @write)
  (scoped_property_access_expression name: (variable_name (name) @write))
])
(list_literal [
  (member_access_expression name: (name) @write)
  (scoped_property_access_expression name: (variable_name (name) @write))
])
(assignment_expression left: (subscript_expression . [
  (variable_name (name) @update)
  (member_access_expression name: (name) @update)
  (scoped_property_access_expression name: (variable_name (name) @update))
]))
(assignment_expression left: (subscript_expression . (subscript_expression . [
  (variable_name (name) @update)
  (member_access_expression name: (name) @update)
  (scoped_property_access_expression name: (variable_name (name) @update))
])))
(augmented_assignment_expression left: [
  (variable_name (name) @update)
  (member_access_expression name: (name) @update)
  (scoped_property_access_expression name: (variable_name (name) @update))
])
(update_expression [
  (variable_name (name) @update)
  (member_access_expression name: (name) @update)
  (scoped_property_access_expression name: (variable_name (name) @update))
])
(unset_statement [(variable_name (name) @delete) (member_access_expression name: (name) @delete)])

; ---- types above

(base_clause [(name) @base (qualified_name (name) @base .) (relative_name (name) @base .)])
(class_interface_clause [(name) @base (qualified_name (name) @base .) (relative_name (name) @base .)])
(use_declaration [(name) @base.embedded (qualified_name (name) @base.embedded .) (relative_name (name) @base.embedded .)])
