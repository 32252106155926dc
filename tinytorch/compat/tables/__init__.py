"""What only PyTorch's programs ask for, as tables; ``compat.rows`` says what a row is."""
