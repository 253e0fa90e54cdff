"""Judge in other people's tools: a module a tool, which alone imports what the tool is made of."""
