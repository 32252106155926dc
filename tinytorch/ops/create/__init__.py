"""Creation and conversion of tensors, and their storages."""
