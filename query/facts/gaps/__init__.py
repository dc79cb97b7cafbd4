"""Why an answer about the uses of symbols may lack some: one module for each condition of the promise (ADR 0040)."""
