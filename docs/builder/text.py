"""Conversion of docstrings to reStructuredText: sections become fields, quoted names links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

#: Function from the text of a literal to the full name that it links to, or None.
Link = Callable[[str], str | None]

_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Warns|Yields|Examples?|References?):$")
_FIELDS = {"Args": "param", "Raises": "raises", "Warns": "warns"}
_ITEM = re.compile(r"(\S[^:`]*?): +(.*)", re.DOTALL)
_LITERAL = re.compile(r"(``.+?``)", re.DOTALL)


def convert(docstring: str, link: Link) -> list[str]:
    """Convert a cleaned docstring to lines of reStructuredText."""
    lines: list[str] = []
    for title, body in sections(docstring):
        if title in _FIELDS:
            lines += [_field(_FIELDS[title], item, link) for item in items(body)]
        elif title == "Attributes":
            lines += [":Attributes:", *(f"   * {_attribute(item, link)}" for item in items(body))]
        elif title in ("Returns", "Yields"):
            lines.append(f":{title.lower()}: {_inline(' '.join(body.split()), link)}")
        else:
            lines += ["", *([f".. rubric:: {title}", ""] if title else []), *_blocks(body, link)]
    return [*lines, ""]


def summarize(docstring: str, link: Link) -> str:
    """The first sentence of a docstring, as a line of reStructuredText."""
    paragraphs = [" ".join(part.split()) for part in docstring.split("\n\n")]
    # NumPy's ufuncs begin with their signature.
    first = next((part for part in paragraphs if not re.match(r"\w+\(.*\)$", part)), paragraphs[0])
    sentence = re.match(r"(?:``.*?``|[^`])*?\.(?=\s|$)", first)
    return _inline(sentence[0] if sentence else first, link)


def sections(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the text of each section; the text before them has the title ""."""
    title, lines = "", list[str]()
    for line in docstring.splitlines():
        match = _SECTION.match(line)
        if match:
            yield title, "\n".join(lines)
            title, lines = match[1], []
        else:
            # A line without indent ends a section; text follows.
            if title and line and not line.startswith(" "):
                yield title, "\n".join(lines)
                title, lines = "", []
            lines.append(line.removeprefix("    ") if title else line)
    yield title, "\n".join(lines)


def items(body: str) -> list[str]:
    """The items of a section: each begins without indent, and continues with one."""
    found = re.split(r"\n+(?=\S)", body.strip("\n"))
    return [" ".join(item.split()) for item in found if item.strip()]


def _field(kind: str, item: str, link: Link) -> str:
    """Line of a field list for an item of a section.

    Args:
        kind: Name of the field in reStructuredText, such as ``"param"`` or ``"raises"``.
        item: Text of the item, such as ``"dim: The dimension."``.
        link: Returns the full name to which a literal links, or None.
    """
    match = _ITEM.fullmatch(item)
    if match is None:
        return f":{kind}: {_inline(item, link)}"
    name = match[1].replace("*", r"\*")
    if kind == "raises":
        name = link(name) or name
    return f":{kind} {name}: {_inline(match[2], link)}"


def _attribute(item: str, link: Link) -> str:
    """Item of the section of attributes, with its name in bold."""
    name, colon, text = item.partition(": ")
    return f"**{name}** – {_inline(text, link)}" if colon else _inline(item, link)


def _blocks(body: str, link: Link) -> list[str]:
    """Convert the text of a section: paragraphs, sessions of the interpreter, and formulas.

    A session has the prompt ``>>>``. A formula is an indented block without a prompt.
    """
    lines: list[str] = []
    for block in re.split(r"\n\s*\n", body.strip("\n")):
        rows = block.splitlines()
        if not rows:
            continue
        if all(row.startswith("    ") for row in rows) and ">>>" not in rows[0]:
            lines += [".. code-block:: text", "", *rows]
        elif any(row.lstrip().startswith(">>>") for row in rows):
            start = next(i for i, row in enumerate(rows) if row.lstrip().startswith(">>>"))
            lines += [*_inline("\n".join(rows[:start]), link).splitlines(), ""]
            indent = len(rows[start]) - len(rows[start].lstrip())
            lines += [".. code-block:: pycon", "", *("    " + row[indent:] for row in rows[start:])]
        else:
            # Indentation makes a formula, whether one colon or two precede it.
            lines += _inline(re.sub(r"::$", ":", block), link).splitlines()
        lines.append("")
    return lines


def _inline(text: str, link: Link) -> str:
    """Convert a paragraph: link its literals, and escape other markup."""
    return "".join(
        _literal(part, link) if part.startswith("``") else _escape(part)
        for part in _LITERAL.split(text)
    )


def _literal(part: str, link: Link) -> str:
    """Convert a literal in double backquotes: to a link if ``link`` returns a full name."""
    text = part.strip("`")
    target = link(text.removesuffix("()"))
    return f":py:obj:`{text} <{target}>`" if target else part


def _escape(text: str) -> str:
    """Escape the characters of a text that reStructuredText would read as markup."""
    text = re.sub(r"^([*-]) ", "\0\\1 ", text, flags=re.MULTILINE)  # marks items of a list
    text = re.sub(r"(?<!\0)[*|`\\]", r"\\\g<0>", text)
    text = re.sub(r"^(\d+)(?=[.)](\s|$))", r"\1\\", text)  # not a list, but "0."
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", text).replace("\0", "")
