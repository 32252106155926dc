"""How a public name is found: the index, what resolves it, and the library behind a backend."""
