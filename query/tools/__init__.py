"""One module per tool, named as the tool; each ends in `TOOL`. Nothing lists them: `query.surface.registry` looks into this folder."""
