"""Pages of the sources: highlighted, with an anchor for each line."""

from __future__ import annotations

from html import escape
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from .names import ROOT

# Without the site's navigation, which would be most of the text of five hundred pages.
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="{top}_static/pygments.css">
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 60rem;
  padding: 0 1rem }}
pre {{ font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; padding: 1rem }}
.linenos {{ opacity: .5; user-select: none; padding-right: 1rem }}
a[id]:target + .linenos, a[id]:target {{ background: #fd04 }}
</style>
</head>
<body>
<p><a href="{top}index.html">tinytorch</a> › {title}</p>
{body}
</body>
</html>
"""


def page_of(path: str) -> str:
    """The page of a file below ``tinytorch/``, from the top of the site."""
    return f"sources/{path.removesuffix('.py')}.html"


def write(folder: Path, paths: set[str]) -> None:
    """Write the page of each file below ``tinytorch/`` into a built site."""
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", wrapcode=True)
    for path in sorted(paths):
        text = (ROOT / "tinytorch" / path).read_text(encoding="utf-8")
        body = highlight(text, PythonLexer(), formatter)
        page = folder / page_of(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        top = "../" * page_of(path).count("/")
        title = escape(f"tinytorch/{path}")
        page.write_text(_PAGE.format(title=title, top=top, body=body), encoding="utf-8")
