; Swift. What an extension adds belongs to the type that it names.

[(comment) (multiline_comment)] @comment

(class_declaration "class" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration "actor" name: (type_identifier) @name body: (_) @body) @def.class
(class_declaration "struct" name: (type_identifier) @name body: (_) @body) @def.struct
(class_declaration "enum" name: (type_identifier) @name body: (_) @body) @def.enum
(class_declaration "extension" name: (user_type (type_identifier) @owner .) body: (_) @body) @def.impl
(protocol_declaration name: (type_identifier) @name body: (_) @body) @def.interface
(typealias_declaration name: (type_identifier) @name) @def.alias
(enum_entry name: (simple_identifier) @def.member @name)

(function_declaration name: (simple_identifier) @name) @def.function
(function_declaration body: (_) @body)
(protocol_function_declaration name: (simple_identifier) @name) @def.method
(init_declaration "init" @name) @def.constructor
(init_declaration body: (_) @body)

(source_file (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.variable)
(class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field)
(enum_class_body (property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.field)
(protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @name)) @def.property
(property_declaration computed_value: (_) @body)

; uses
[(simple_identifier) (type_identifier)] @token
(call_expression (simple_identifier) @call)
(call_expression (navigation_expression suffix: (navigation_suffix suffix: (simple_identifier) @call)))
