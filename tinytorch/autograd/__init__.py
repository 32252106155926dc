"""Automatic differentiation: the graph, the backward pass and what users build on them."""
