"""Tools around training: ``utils.data`` loads it."""
