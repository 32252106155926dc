"""Tables of names that only PyTorch's programs use; see ``compat.module_tables``."""
