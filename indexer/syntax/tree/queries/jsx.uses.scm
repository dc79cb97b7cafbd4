; Components are called, elements of the page are none of our names.

(jsx_opening_element name: (identifier) @component)
(jsx_self_closing_element name: (identifier) @component)
(jsx_closing_element name: (identifier) @component)
(jsx_opening_element name: (member_expression property: (_) @call))
(jsx_self_closing_element name: (member_expression property: (_) @call))
(jsx_attribute (property_identifier) @keyword)
