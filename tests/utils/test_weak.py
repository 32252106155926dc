"""Dictionaries that do not keep the tensors that are their keys, as PyTorch has them."""

from __future__ import annotations

import copy
import gc
import importlib
from typing import Any

import pytest


def weak(library: Any) -> Any:
    return importlib.import_module(f"{library.__name__}.utils.weak")


def test_entries_go_with_their_keys(lib: Any) -> None:
    x, y = lib.ones(2), lib.ones(2)
    names = weak(lib).WeakTensorKeyDictionary({x: "x"})
    names[y] = "y"
    assert names[x] == "x" and names[y] == "y" and len(names) == 2
    assert {id(key) for key in names} == {id(x), id(y)}
    assert lib.ones(2) not in names and names.get(lib.ones(2)) is None
    other = copy.copy(names)
    del names[x]
    assert x not in names and other[x] == "x" and len(names.keyrefs()) == 1
    with pytest.raises(KeyError):
        names[x]
    del y
    gc.collect()
    assert len(names) == 0 and len(other) == 1 and names.pop(x, 3) == 3
    assert names.setdefault(x, 4) == 4 and list(names.items())[0][1] == 4


def test_a_dictionary_that_is_gone_forgets_nothing(lib: Any) -> None:
    x = lib.ones(2)
    names = weak(lib).WeakIdKeyDictionary({x: 1})
    del names
    del x
    gc.collect()


def test_references_to_the_same_are_equal(lib: Any) -> None:
    x, y = lib.ones(2), lib.ones(2)
    ref = weak(lib).WeakIdRef
    assert ref(x) == ref(x) and (ref(x) == ref(y)) is False and hash(ref(x)) == hash(ref(x))
    gone = ref(y)
    del y
    gc.collect()
    assert gone() is None and gone == gone and (gone == ref(x)) is False


def test_a_tensor_weak_ref_returns_its_tensor(lib: Any) -> None:
    x = lib.ones(2)
    found = weak(lib).TensorWeakRef(x)
    assert found() is x
    with pytest.raises(AssertionError, match=r"expected torch\.Tensor"):
        weak(lib).TensorWeakRef([1])
