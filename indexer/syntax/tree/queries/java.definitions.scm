; Java.

[(line_comment) (block_comment)] @comment

[(field_declaration) (local_variable_declaration)] @wrap
(modifiers . [(marker_annotation) (annotation)] @decorated)
(modifiers . [(marker_annotation) (annotation)] . [(marker_annotation) (annotation)] @decorated)
(modifiers . [(marker_annotation) (annotation)] . [(marker_annotation) (annotation)]
  . [(marker_annotation) (annotation)] @decorated)

; ---- scopes

[(method_declaration) (constructor_declaration) (compact_constructor_declaration) (lambda_expression)] @scope.function
(lambda_expression body: (block) @body.plain)
[
  (block) (for_statement) (enhanced_for_statement) (try_with_resources_statement) (catch_clause) (switch_block) (switch_rule)
] @scope
(object_creation_expression (class_body) @scope.object)

; ---- types and their members

(class_declaration name: (identifier) @name body: (_) @body) @def.class
(record_declaration name: (identifier) @name body: (_) @body) @def.class
(interface_declaration name: (identifier) @name body: (_) @body) @def.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @def.interface
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_constant name: (identifier) @name) @def.member
(enum_constant body: (class_body) @members)

(method_declaration name: (identifier) @name) @def.method
(method_declaration body: (_) @body)
(annotation_type_element_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name body: (_) @body) @def.constructor
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @def.constructor
(field_declaration (variable_declarator) @def.field)
(constant_declaration (variable_declarator) @def.field)
(record_declaration parameters: (formal_parameters (formal_parameter) @def.component))

(type_parameter (type_identifier) @name) @def.typeparam

; ---- variables

(variable_declarator name: (identifier) @name)
(variable_declarator value: (_)) @init
(local_variable_declaration (variable_declarator) @def.variable)
(formal_parameter name: (identifier) @name) @def.parameter
(spread_parameter) @def.parameter
(catch_formal_parameter name: (identifier) @name) @def.variable
(resource name: (identifier) @name) @def.variable @init
(enhanced_for_statement name: (identifier) @def.variable @name @init)
(lambda_expression parameters: (identifier) @def.parameter @name)
(inferred_parameters (identifier) @def.parameter @name)
(instanceof_expression name: (identifier) @name) @def.condition @init
(type_pattern (identifier) @name) @def.condition @init
(record_pattern_component (identifier) @name) @def.condition @init
