"""One number for many elements, and running results."""
