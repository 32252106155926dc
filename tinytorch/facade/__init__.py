"""Look-up of public names: in the index of operations, in modules, in a backend's library."""
