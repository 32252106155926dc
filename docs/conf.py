"""Configuration of Sphinx for `make docs`. It needs no network; a warning is an error."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tinytorch  # noqa: E402

project = "tinytorch"
copyright = "tinytorch contributors"
author = "tinytorch contributors"
version = release = tinytorch.__version__

extensions = [
    "builder.extension",
    "myst_parser",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
]
exclude_patterns = ["browser", "builder", "generated/*.md"]
nitpicky = True
# Type variables and aliases, which annotations use and no page describes.
# Names of other libraries that are not in their inventories.
nitpick_ignore_regex = [("py:class", r"[^.]*|typing\..*"), ("py:obj", r"(?!tinytorch\b).*")]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3

# Copies of the inventories of the two sites, with Python's objects alone.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", str(HERE / "inventories" / "python.inv")),
    "numpy": ("https://numpy.org/doc/stable", str(HERE / "inventories" / "numpy.inv")),
}

add_module_names = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 160
toc_object_entries = False
highlight_language = "none"
pygments_style = "default"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_additional_pages = {"search": "search.html"}
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_title = f"tinytorch {version}"
html_copy_source = False
html_show_sphinx = False
html_use_index = True
html_domain_indices = False
html_theme_options = {"navigation_with_keys": True}

# Copying a session takes the lines that begin with a prompt, without the prompt.
copybutton_prompt_text = r">>> |\.\.\. ?"
copybutton_prompt_is_regexp = True
