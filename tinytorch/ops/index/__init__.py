"""Selected elements, read and written."""
