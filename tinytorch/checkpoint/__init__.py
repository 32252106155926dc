"""PyTorch's files, read and written: the archive, the pickle in it, the storages beside it."""
