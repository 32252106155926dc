"""What layers compute: activations, convolutions, normalizations, losses."""
