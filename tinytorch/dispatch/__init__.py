"""From a kernel to its public functions: what is declared, what follows, the path of a call."""
