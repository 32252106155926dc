"""PyTorch's random streams, and numbers of other distributions made from them."""
