"""The language of the code: names, docstrings and comments, as far as they can be counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import words

FILES = [path for room in words.rooms() for path in words.files(room)]


def test_files_have_no_faults() -> None:
    assert {path: found for path in FILES if (found := words.faults(path))} == {}


def test_docstrings_of_procedures_are_in_the_imperative() -> None:
    assert words.moods(FILES) == {}


def test_private_classes_have_names_of_their_own() -> None:
    assert words.shared_class_names(FILES) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"""What it is."""', "begins 'What it is.'"),
        ("def f(x):\n    '''Those of the graph.'''", "begins 'Those of the graph.'"),
        ("def f(x) -> None:\n    '''IndexError if x.'''", "procedure begins 'IndexError if x.'"),
        ("x = 1  # Nobody reads it.", "the word 'Nobody'"),
        ("x = 'exp and its kin'", "the word 'kin'"),
        ("def somebodys_answer(): ...", "the word 'somebodys'"),
        ("# of the gamma law", "the word 'law'"),
        ("def kept(x): ...", "'kept' is named by a participle"),
        ("class C:\n    def _unwritten(self): ...", "'_unwritten' is named by a participle"),
        ("def f():\n    def wrapped(): ...", "'wrapped' is named by a participle"),
        ("def _of_some(x): ...", "'_of_some' begins with a preposition"),
    ],
)  # fmt: skip
def test_fault_is_found(text: str, found: str) -> None:
    [fault] = [
        *words.text_faults(text + "\n"),
        *words.docstring_faults(text),
        *words.name_faults(text),
    ]
    assert found in fault


@pytest.mark.parametrize(
    "text",
    [
        '"""No-op."""',
        "def f(x) -> None:\n    '''Check that x is whole.'''",
        "def f(x) -> None:\n    '''``x += 1``, element by element.'''",
        "# a power law, kind, lawn",
        "def test_nobody_is_asked(): ...",
        "def exceed(x): ...",
        "def to_array(x): ...",
        "def from_numpy(x): ...",
        "def on_close(x): ...",
        "def requires_grad(x): ...",
        "class Stream:\n    def closed(self): ...",
    ],
)
def test_what_follows_the_rules_is_no_fault(text: str) -> None:
    assert [*words.text_faults(text + "\n"), *words.docstring_faults(text)] == []
    assert [*words.name_faults(text)] == []


def test_two_private_classes_of_one_name_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    words.public_names.cache_clear()
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("class _Node: ...\n")
    found = words.shared_class_names([tmp_path / "a.py", tmp_path / "b.py"])
    assert found == ["class _Node is in a.py, b.py"]
    words.public_names.cache_clear()


def test_public_names_are_those_of_pytorch_numpy_and_python() -> None:
    assert {"zeros_like", "requires_grad_", "broadcast_to", "closed"} <= words.public_names()
    assert not {"kept", "_of_some"} & words.public_names()
