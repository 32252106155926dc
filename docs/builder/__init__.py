"""Extensions of Sphinx for the site: the reference of names created at run time, sources, plots."""
