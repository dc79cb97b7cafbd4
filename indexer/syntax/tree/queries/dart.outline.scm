; Dart: the body of a function stands beside its head, not in it.

[(comment) (documentation_comment)] @comment

(class_definition name: (identifier) @name body: (_) @body) @def.class
(mixin_declaration (identifier) @name (class_body) @body) @def.class
(enum_declaration name: (identifier) @name body: (_) @body) @def.enum
(enum_constant name: (identifier) @name) @def.member
(extension_declaration name: (identifier) @name body: (_) @body) @def.class
(type_alias . (type_identifier) @name) @def.alias

(program (function_signature name: (identifier) @name) @def.function)
(method_signature (function_signature name: (identifier) @name) @def.method)
(declaration (function_signature name: (identifier) @name) @def.method)
(getter_signature name: (identifier) @name) @def.property
(setter_signature name: (identifier) @name) @def.property
(constructor_signature name: (identifier) @name .  parameters: (_)) @def.constructor
(factory_constructor_signature (identifier) @name . (formal_parameter_list)) @def.constructor
(declaration (initialized_identifier_list (initialized_identifier . (identifier) @name)) @def.field)
(static_final_declaration . (identifier) @name) @def.constant

; uses
[(identifier) (type_identifier)] @token
((identifier) @call . (selector (argument_part)))
((selector (unconditional_assignable_selector (identifier) @call)) . (selector (argument_part)))
