"""The Sphinx extension: writes the reference, links names in prose, adds sources and search."""

from __future__ import annotations

import builtins
import re
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from . import performance, search, sources
from .entries import SOURCES, functions
from .names import modules
from .pages import pages

LOGGER = logging.getLogger(__name__)

#: Names of the modules in the site's programs.
SHORT = {"tt": "tinytorch", "np": "tinytorch.numpy", "F": "tinytorch.nn.functional"}


def write_pages(app: Sphinx) -> None:
    """Write the reference, and the tables and plots that `performance.md` shows."""
    write(Path(app.srcdir) / "reference", {f"{path}.rst": text for path, text in pages().items()})
    write(Path(app.srcdir) / "generated", performance.files())
    app.builder.search = False  # the site has its own


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write the changed files of a folder, and remove the files that are not in ``texts``."""
    for old in [path for path in folder.rglob("*") if path.is_file()]:
        if str(old.relative_to(folder)) not in texts:
            old.unlink()
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


class NamesInProse(SphinxPostTransform):
    """Transform that replaces ``tt.name`` in texts by a link."""

    default_priority = 5

    def run(self, **kwargs: Any) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            match = re.fullmatch(r"(tt|np|F)\.([A-Za-z_][\w.]*)(\(.*\))?", literal.astext())
            if match and not isinstance(literal.parent, nodes.reference | addnodes.pending_xref):
                self.link(literal, f"{SHORT[match[1]]}.{match[2]}")

    def link(self, literal: nodes.literal, full_name: str) -> None:
        """Replace a literal by a link to an object, if the reference describes that.

        Args:
            literal: The literal.
            full_name: Full name in the text, such as ``tinytorch.nn.Linear``.
        """
        domain = self.env.domains.python_domain
        module, _, name = full_name.rpartition(".")
        target = functions(module).get(name, full_name) if module in modules() else full_name
        if target not in domain.objects:
            return
        entry = domain.objects[target]
        uri = self.app.builder.get_relative_uri(self.env.docname, entry.docname)
        reference = nodes.reference("", "", internal=True, refuri=f"{uri}#{entry.node_id}")
        literal.replace_self(reference)
        reference += literal


def find_by_full_names(app: Sphinx, doctree: nodes.document) -> None:
    """Make Sphinx look up names as they are, because the reference writes full names.

    Otherwise it searches all objects for one with that ending, a minute for the whole reference,
    and resolves the `bool` of an annotation to the dtype of that name.
    """
    if app.env.docname.startswith("reference/"):
        for reference in doctree.findall(addnodes.pending_xref):
            reference.attributes.pop("refspecific", None)
            if hasattr(builtins, reference["reftarget"]):
                reference.attributes.pop("py:module", None)


def end_sessions(app: Sphinx, doctree: nodes.document) -> None:
    """Remove the empty line at the end of a session, which is only for doctest."""
    for block in doctree.findall(nodes.literal_block):
        if block.get("language") == "pycon":
            block.rawsource = block.astext().rstrip()
            block.children = [nodes.Text(block.rawsource)]


def add_source_links(app: Sphinx, doctree: nodes.document) -> None:
    """Add a link to the line of the source after each signature."""
    for signature in doctree.findall(addnodes.desc_signature):
        location = SOURCES.get((signature["ids"] or [""])[0])
        if location is not None:
            path, line = location
            depth = "../" * app.env.docname.count("/")
            uri = f"{depth}{sources.page_of(path)}#L-{line}"
            link = nodes.reference("", "", internal=True, refuri=uri)
            link += nodes.inline("", "[source]", classes=["viewcode-link"])
            signature += link


def write_sources(app: Sphinx, exception: Exception | None) -> None:
    """Write the pages of sources to which the reference links, after a build without an error."""
    if exception is None and app.builder.format == "html":
        sources.write(Path(app.outdir), {path for path, _ in SOURCES.values()})


def write_search(app: Sphinx, exception: Exception | None) -> None:
    """Write the units of the search, and warn of addresses that the site does not have."""
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    (site / "_static" / "search_units.js").write_text(search.script(), encoding="utf-8")
    anchors: dict[str, set[str]] = {}
    for unit in search.units():
        page, _, anchor = unit[1].partition("#")
        if page not in anchors:
            anchors[page] = {"", *re.findall(r' id="([^"]+)"', (site / page).read_text("utf-8"))}
        if anchor not in anchors[page]:
            LOGGER.warning("search: %s is not on the site", unit[1])


def show_browser_page(app: Sphinx, exception: Exception | None) -> None:
    """Copy the page that runs in the browser, if it is built, with its links to this site."""
    built = Path(app.confdir).parent / "build" / "browser"
    if exception is None and app.builder.format == "html" and built.exists():
        copy = Path(app.outdir) / "browser"
        shutil.rmtree(copy, ignore_errors=True)
        page = Path(shutil.copytree(built, copy)) / "index.html"
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r'(<nav id="site"[^>]*) hidden>', r"\1>", text), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the steps of this extension with Sphinx."""
    app.connect("builder-inited", write_pages)
    app.connect("doctree-read", find_by_full_names)
    app.connect("doctree-read", end_sessions)
    app.connect("doctree-read", add_source_links)
    app.connect("build-finished", write_sources)
    app.connect("build-finished", write_search)
    app.connect("build-finished", show_browser_page)
    app.add_post_transform(NamesInProse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
