"""``autograd.functional``: derivatives of functions."""
