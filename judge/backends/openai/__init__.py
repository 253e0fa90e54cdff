"""Models and embeddings of OpenAI-compatible servers."""
