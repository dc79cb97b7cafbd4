"""How a tool is declared, called, searched, cut to a budget, rendered, and described in generated documents."""
