"""What the site needs besides Sphinx: the reference of names made at run time, sources, plots."""
