"""The steps of the path, pure functions in path order: an answer in, a result out."""
