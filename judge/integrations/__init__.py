"""Judge in other tools: one module a tool, the only one that imports it."""
