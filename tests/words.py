"""Check the language of the code, as far as it can be counted.

    python -m tests.words tinytorch/graph docs    # list the faults of folders or files
    python -m tests.words                         # count the faults of every room

`tests/test_words.py` checks that there are none.
"""

from __future__ import annotations

import ast
import builtins
import collections.abc
import contextlib
import importlib
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy

from tests.sources import parse

ROOT = Path(__file__).resolve().parent.parent
#: Folders whose own folders are counted one by one, and what else there is.
SPLIT = ("tinytorch", "tinytorch/ops")
ROOMS = ("benchmarks", "docs", "examples", "stubs", "tests", "README.md", "CHANGELOG.md")
#: Programs as users write them, each by itself: their classes may have the same names.
PROGRAMS = re.compile(
    r"(examples|tests/(clients/large|programs|typing|\w+/programs|multiprocessing))/"
)
#: Rooms of which `__all__` is not public.
INNER = ("checkpoint", "compat", "core", "dispatch", "facade", "graph", "ops", "state")

OPENINGS = re.compile(
    r"(What|Who|Whose|Whoever|Nobody|Nothing|Those|That|How|Where|When|Why|No|Not|Never)\b(?!-)"
)
#: Openings of the docstring of a procedure that are no verbs in the imperative.
NO_VERB = re.compile(
    r"[^A-Za-z`]|\w*(Error|Warning)\b|[a-z]|(After|All|As|At|Before|Both|By|Each|Every|For|From|If|In"
    r"|Its?|None|Of|On|One|Or|Some|The|There|These|They|This|To|Two|Whether|While|With|Without)\b"
)
PEOPLE = re.compile(
    r"(?i)\b(nobody|somebody|everybody|anybody|someone|everyone|anyone|whoever)(s|'s)?\b|\bkin\b"
)
LAW = re.compile(r"(?i)(?<!power[ -])(?<!Newton's )\blaws?\b(?! of large numbers)")
PREPOSITIONS = frozenset(
    """about above across after against along among around at before behind below beside between
    beyond by during for in inside into like of off onto out outside over past per since than
    through toward towards under until up upon via with within without""".split()
)
#: Names that begin with a preposition and are a verb or a noun.
PHRASES = re.compile(
    r"out_of_bounds|in_place|up_to_date|(before|after)_fork"
    r"|in_projection|outside_unstable_region$"  # PyTorch's
)
PARTICIPLES = frozenset(
    """bent begun born bought bound bred broken brought built caught chosen dealt done drawn driven
    dug fallen fed felt forgotten fought found frozen given gone got grown had heard held hidden
    hung kept known laid led left lent lost made meant met mistaken paid proven risen said seen
    sent shown sold spent spoken stolen stood struck swept taken taught thought thrown told torn
    understood woven won worn written""".split()
)
#: Verbs and nouns that end like participles.
NO_PARTICIPLES = frozenset("breed embed exceed feed need proceed seed shed speed succeed".split())
Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(place: str) -> list[Path]:
    """The sources and pages of a folder, or a file itself; of tests, the other helpers."""
    path = ROOT / place
    found = [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.md")]
    found = [path for path in found if not path.name.startswith("test_") and path != Path(__file__)]
    return sorted(path for path in found if "node_modules" not in path.parts)


def faults(path: Path) -> list[str]:
    """List the faults of one file, each with its line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return sorted(page_faults(path, text))
    return sorted({*text_faults(text), *docstring_faults(text), *name_faults(text)})


def page_faults(path: Path, text: str) -> Iterator[str]:
    """Yield the words of a page that the code does not use either; of changes, the new ones."""
    if path.name == "CHANGELOG.md":
        text = text[: re.search(r"\n## (?!Unreleased)|\Z", text).start()]  # type: ignore[union-attr]
    for number, line in enumerate(text.splitlines(), 1):
        yield from word_faults(number, line)


def word_faults(number: int, text: str) -> Iterator[str]:
    """Yield words for people, and "law" where it stands for a distribution."""
    for pattern in (PEOPLE, LAW):
        for match in pattern.finditer(text):
            at = number + text[: match.start()].count("\n")
            yield f"{at}: the word {match[0]!r}"


def text_faults(text: str) -> Iterator[str]:
    """Yield the unwanted words of comments, strings and names."""
    # Most sources have none of the words: do not tokenize them.
    if not any(pattern.search(text.replace("_", " ")) for pattern in (PEOPLE, LAW)):
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_name = token.type == tokenize.NAME
        words = token.string.replace("_", " ") if is_name else token.string
        if not words.startswith("test "):
            yield from word_faults(token.start[0], words)


def docstring_faults(text: str) -> Iterator[str]:
    """Yield docstrings whose first line begins with another word than it should."""
    for node in definitions(text):
        documentation = ast.get_docstring(node) or ""
        if not getattr(node, "name", "").startswith("test_"):
            number = getattr(node, "lineno", 1)
            if OPENINGS.match(documentation):
                yield f"{number}: a docstring begins {documentation[:50]!r}"
            elif is_procedure(node) and NO_VERB.match(documentation):
                yield f"{number}: the docstring of a procedure begins {documentation[:50]!r}"


@cache
def definitions(text: str) -> list[ast.Module | ast.ClassDef | Function]:
    """The module, the classes and the functions of a source."""
    module = parse(text)
    nodes = statements(module)
    return [module, *(node for node in nodes if isinstance(node, ast.ClassDef | Function))]


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements in the blocks of a node; expressions, most of a tree, define nothing."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            yield child
            yield from statements(child)


def is_procedure(node: ast.AST) -> bool:
    """Whether a function returns nothing."""
    return (
        isinstance(node, Function)
        and isinstance(node.returns, ast.Constant)
        and node.returns.value is None
        and not any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
    )


def name_faults(text: str) -> Iterator[str]:
    """Yield private functions that are named by a bare participle or a phrase."""
    for node in definitions(text):
        if isinstance(node, Function) and not is_exempt(node.name):
            first, *rest = node.name.strip("_").split("_")
            if not rest and is_participle(first):
                yield f"{node.lineno}: function {node.name!r} is named by a participle"
            if first in PREPOSITIONS and not PHRASES.match(node.name.strip("_")):
                yield f"{node.lineno}: function {node.name!r} begins with a preposition"


def is_exempt(name: str) -> bool:
    """Whether the name of a function is not ours to choose, or is a test's sentence."""
    return name in public_names() or name.startswith(("test_", "__", "pytest_"))


def is_participle(word: str) -> bool:
    """Whether a word is a past participle and nothing else."""
    regular = word.endswith("ed") and word not in NO_PARTICIPLES
    return regular or word in PARTICIPLES or word.removeprefix("un") in PARTICIPLES


@cache
def public_names() -> frozenset[str]:
    """The names that programs use: of the stubs, of public classes, of NumPy and of Python."""
    found: set[str] = set()
    for path in (ROOT / "stubs" / "tinytorch").rglob("*.pyi"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function | ast.ClassDef):
                found.add(node.name)
    for value in (
        numpy, numpy.ndarray, numpy.linalg, numpy.fft, numpy.random, builtins, collections.abc,
        contextlib, dict, list, str, io, io.IOBase, io.TextIOWrapper,
    ):  # fmt: skip
        found.update(dir(value))
    for module in public_modules():
        for name in module.__all__:
            found.add(name)
            found.update(n for n in dir(getattr(module, name)) if not n.startswith("_"))
    return frozenset(found)


def public_modules() -> Iterator[ModuleType]:
    """Import the modules that list what is public of them."""
    for path in (ROOT / "tinytorch").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        inner = parts[1] in INNER or path.name.startswith("_") and path.name != "__init__.py"
        if not inner and "__all__ =" in path.read_text(encoding="utf-8"):
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            with contextlib.suppress(ImportError):  # of an optional package
                yield importlib.import_module(name)


def shared_class_names(paths: Iterable[Path]) -> list[str]:
    """List private classes of one name in several files; programs of users do not count."""
    homes: dict[str, list[str]] = {}
    for path in paths:
        if path.suffix == ".py" and not PROGRAMS.match(path.relative_to(ROOT).as_posix()):
            module = definitions(path.read_text(encoding="utf-8"))[0]
            for node in module.body:
                if isinstance(node, ast.ClassDef) and node.name not in public_names():
                    homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    return [f"class {name} is in {', '.join(found)}" for name, found in homes.items() if found[1:]]


def moods(paths: list[Path]) -> dict[Path, list[str]]:
    """List, by file, the procedures whose docstring is not in the imperative to ruff."""
    command = [sys.executable, "-m", "ruff", "check", "--select", "D401", "--output-format", "json"]
    sources = [path for path in paths if path.suffix == ".py"]
    done = subprocess.run(
        [*command, *sources], cwd=ROOT, capture_output=True, text=True, check=False
    )
    found: dict[Path, list[str]] = {}
    for fault in json.loads(done.stdout):
        path, number = Path(fault["filename"]), fault["location"]["row"]
        for node in definitions(path.read_text(encoding="utf-8")):
            first = ast.get_docstring(node) or ""
            described = is_procedure(node) and node.body[0].lineno == number
            if described and not OPENINGS.match(first) and not NO_VERB.match(first):
                found.setdefault(path, []).append(f"{node.lineno}: {fault['message']}")
    return found


def main(places: list[str]) -> int:
    """Print the faults of places, or count those of every room; the exit status."""
    if places:
        found = [*everything(places)]
        print(*found, sep="\n")
        return bool(found)
    counts = Counter(dict.fromkeys(rooms(), 0))
    for fault in everything(rooms()):
        inside = (room for room in rooms() if fault.startswith((f"{room}/", f"{room}:")))
        counts[next(inside, "classes")] += 1
    print(*(f"{count:5} {room}" for room, count in sorted(counts.items())), sep="\n")
    return 0


@cache
def rooms() -> list[str]:
    """The places to count by."""
    inside = [path for folder in SPLIT for path in sorted((ROOT / folder).iterdir())]
    names = [path.relative_to(ROOT).as_posix() for path in inside if path.name[0] not in "._"]
    return [*ROOMS, *(name for name in names if name not in SPLIT and "__" not in name)]


def everything(places: list[str]) -> Iterator[str]:
    """Yield every fault of places, with its file."""
    paths = [path for place in places for path in files(place)]
    by_ruff = moods(paths)
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        yield from (f"{name}:{fault}" for fault in (*faults(path), *by_ruff.get(path, [])))
    yield from shared_class_names(paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
