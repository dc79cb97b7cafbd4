; What runs a member without naming it: the compiler tells at the sign which.

(binary_expression operator: "+" @sign.text)
(assignment_expression operator: "+=" @sign.text)
(enhanced_for_statement ":" @sign.through)
(resource_specification "(" @sign.ending)
