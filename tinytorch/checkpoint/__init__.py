"""Reading and writing of PyTorch's files: the archive, its pickle and its storages."""
