"""Tensors made and converted, and the memory behind them."""
