"""Names that only PyTorch's programs use, aliases of modules, and the import hook."""
