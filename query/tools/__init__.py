"""One module per tool, named as the tool; each ends in `TOOL`. Nothing lists them: `query.registry` looks into this folder."""
