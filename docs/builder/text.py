"""Docstrings as reStructuredText: sections become fields, quoted names links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

#: From what stands in double backticks to the full name of what it links to, or None.
Link = Callable[[str], str | None]

_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Warns|Yields|Examples?|References?):$")
_FIELDS = {"Args": "param", "Raises": "raises", "Warns": "warns"}
_ITEM = re.compile(r"(\S[^:`]*?): +(.*)", re.DOTALL)
_LITERAL = re.compile(r"(``.+?``)", re.DOTALL)


def convert(docstring: str, link: Link) -> list[str]:
    """The lines of a cleaned docstring, marked up."""
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


def sections(docstring: str) -> Iterator[tuple[str, str]]:
    """Yield each section's title, "" for the text before them, and its text without indent."""
    title, lines = "", list[str]()
    for line in docstring.splitlines():
        match = _SECTION.match(line)
        if match:
            yield title, "\n".join(lines)
            title, lines = match[1], []
        else:
            # A section's end is a line without indent: what follows is text again.
            if title and line and not line.startswith(" "):
                yield title, "\n".join(lines)
                title, lines = "", []
            lines.append(line.removeprefix("    ") if title else line)
    yield title, "\n".join(lines)


def items(body: str) -> list[str]:
    """What a section lists: each begins without indent, and goes on with one."""
    found = re.split(r"\n+(?=\S)", body.strip("\n"))
    return [" ".join(item.split()) for item in found if item.strip()]


def _field(kind: str, item: str, link: Link) -> str:
    """What a section lists as a field; one that names nothing has the section's name alone."""
    match = _ITEM.fullmatch(item)
    if match is None:
        return f":{kind}: {_inline(item, link)}"
    name = match[1].replace("*", r"\*")
    if kind == "raises":
        name = link(name) or name
    return f":{kind} {name}: {_inline(match[2], link)}"


def _attribute(item: str, link: Link) -> str:
    name, colon, text = item.partition(": ")
    return f"**{name}** – {_inline(text, link)}" if colon else _inline(item, link)


def _blocks(body: str, link: Link) -> list[str]:
    """Paragraphs, sessions and formulas; a formula is indented and not a session."""
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
            # A formula is a formula by its indent, whether two colons announce it or one.
            lines += _inline(re.sub(r"::$", ":", block), link).splitlines()
        lines.append("")
    return lines


def _inline(text: str, link: Link) -> str:
    """A paragraph: its literals linked, and whatever else would be mark-up taken as it stands."""
    return "".join(
        _literal(part, link) if part.startswith("``") else _escape(part)
        for part in _LITERAL.split(text)
    )


def _literal(part: str, link: Link) -> str:
    text = part.strip("`")
    target = link(text.removesuffix("()"))
    return f":py:obj:`{text} <{target}>`" if target else part


def _escape(text: str) -> str:
    text = re.sub(r"^([*-]) ", "\0\\1 ", text, flags=re.MULTILINE)  # items of a list
    text = re.sub(r"(?<!\0)[*|`\\]", r"\\\g<0>", text)
    text = re.sub(r"^(\d+)(?=[.)](\s|$))", r"\1\\", text)  # no list, but "0."
    return re.sub(r"(?<=\w)_(?!\w)", r"\\_", text).replace("\0", "")
