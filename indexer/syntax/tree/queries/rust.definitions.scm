; Rust.

[(line_comment) (block_comment)] @comment
[(attribute_item) (inner_attribute_item)] @skip

; ---- scopes: a function in a function sees none of its locals

[(function_item) (function_signature_item)] @scope.item
(closure_expression) @scope.function
(closure_expression body: (block) @body.plain)
[(block) (for_expression) (if_expression) (while_expression) (match_arm)] @scope

; ---- functions

(function_item name: (identifier) @name body: (_) @body) @def.function
(function_signature_item name: (identifier) @name) @def.function
(macro_definition name: (identifier) @name) @def.macro
(macro_definition (macro_rule right: (token_tree) @body))

; ---- types

(struct_item name: (type_identifier) @name) @def.struct
(struct_item body: (field_declaration_list) @body)
(union_item name: (type_identifier) @name body: (_) @body) @def.struct
(enum_item name: (type_identifier) @name body: (_) @body) @def.enum
(enum_variant name: (identifier) @name) @def.member
(enum_variant body: (field_declaration_list) @members)
(field_declaration name: (field_identifier) @name) @def.field
(trait_item name: (type_identifier) @name body: (_) @body) @def.interface
(type_item name: (type_identifier) @name) @def.alias
(associated_type name: (type_identifier) @name) @def.alias
(mod_item name: (identifier) @name body: (_) @body) @def.namespace

(impl_item !trait body: (_) @body) @def.impl
(impl_item trait: (_) body: (_) @body) @def.traitimpl
(impl_item type: [
  (type_identifier) @owner
  (generic_type type: (type_identifier) @owner)
  (scoped_type_identifier path: (identifier) @owner name: (type_identifier) @owner)
  (scoped_type_identifier path: (scoped_identifier name: (identifier) @owner) name: (type_identifier) @owner)
  (reference_type type: [(type_identifier) @owner (generic_type type: (type_identifier) @owner)])
])
(impl_item trait: [
  (type_identifier) @base.trait
  (generic_type type: [(type_identifier) @base.trait (scoped_type_identifier name: (type_identifier) @base.trait)])
  (scoped_type_identifier name: (type_identifier) @base.trait)
])

(type_parameter name: (type_identifier) @name) @def.typeparam
(const_parameter name: (identifier) @name) @def.typeparam

; ---- variables

(const_item name: (identifier) @name) @def.constant
(const_item value: (_)) @init
(static_item name: (identifier) @name) @def.variable
(static_item value: (_)) @init
(let_declaration) @def.variable
(let_declaration value: (_)) @init
(let_declaration pattern: (identifier) @name)
(let_condition) @def.condition @init
(let_condition pattern: (identifier) @name)
(for_expression pattern: (_) @def.variable @init)
(for_expression pattern: (identifier) @name)
(for_expression value: (_) @unsure)
(match_arm pattern: (match_pattern) @def.variable @init)
(match_pattern . (identifier) @name)

(parameter) @def.parameter
(parameter pattern: (identifier) @name)
(closure_parameters (identifier) @def.parameter @name)
(closure_parameters [(tuple_pattern) (tuple_struct_pattern) (struct_pattern) (reference_pattern)] @def.parameter)

(tuple_pattern (identifier) @name)
(tuple_struct_pattern type: (_) (identifier) @name)
(slice_pattern (identifier) @name)
(or_pattern (identifier) @name)
(mut_pattern (identifier) @name)
(ref_pattern (identifier) @name)
(reference_pattern (identifier) @name)
(captured_pattern . (identifier) @name)
(field_pattern name: (shorthand_field_identifier) @name)
(field_pattern pattern: (identifier) @name)
