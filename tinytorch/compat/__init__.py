"""What only PyTorch *programs* ask for: names answered with "no", aliases, the import hook."""
