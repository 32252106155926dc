"""ONNX's own tests of single operators, at the versions of the operators that they are for."""

from __future__ import annotations

import functools
import re
import warnings
from collections import defaultdict
from typing import Any

import numpy
import pytest

import tinytorch as tt
from tinytorch.onnx.reading import OPERATORS

onnx = pytest.importorskip("onnx", reason="the extra [onnx] is not installed")

from onnx.backend.test.case.node import collect_testcases  # noqa: E402

#: Cases that are left out: a pattern of their names, and why.
LEFT_OUT = {
    "_expanded": "the same case, by simpler operators",
    "_old|loop11": "of opset 12 or older",
    "string": "tensors of texts are not supported",
    "loop13_seq|loop16_seq|if_seq|if_opt": "sequences and optional values are not supported",
    "INT[24]|FLOAT[48]": "dtypes of four and two bits, and those of eight, are not supported",
    "resize_tf_crop": "this way to compute positions is not supported",
    "training_dropout": "the elements that are dropped are random",
}
#: Operators whose cases need sequences; ``test_loading`` has others.
WITHOUT_CASES = {"Loop", "Scatter"}


@functools.cache
def find_cases() -> dict[str, list[Any]]:
    """Return the cases by the operator of their last node; ONNX computes all of them first."""
    left_out, found = re.compile("|".join(LEFT_OUT)), defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of numbers that overflow in a cast
        cases = collect_testcases("")
    for case in cases:
        operators = [node.op_type for node in case.model.graph.node]
        if {*operators} <= OPERATORS.keys() | {"Constant"} and not left_out.search(case.name):
            found[operators[-1]].append(case)
    return found


def as_array(value: Any) -> numpy.ndarray[Any, Any]:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)  # type: ignore[no-any-return]
    return numpy.asarray(value)


def as_comparable(array: numpy.ndarray[Any, Any]) -> numpy.ndarray[Any, Any]:
    return array.astype(numpy.float32) if array.dtype.name == "bfloat16" else array


def check(case: Any) -> None:
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for each in model.opset_import:  # operators of older versions are the same in opset 13
        each.version = max(each.version, 13)
    module = tt.onnx.load(model.SerializeToString())
    for inputs, outputs in case.data_sets:
        found = module(*(tt.tensor(as_array(value)) for value in inputs))
        found = found if isinstance(found, tuple) else (found,)
        assert len(found) == len(outputs)
        for result, expected in zip(found, map(as_array, outputs), strict=True):
            given = result.detach().numpy()
            assert given.dtype == expected.dtype and given.shape == expected.shape
            numpy.testing.assert_allclose(
                as_comparable(given), as_comparable(expected), rtol=case.rtol, atol=case.atol
            )


@pytest.mark.slow
@pytest.mark.parametrize("operator", sorted(OPERATORS.keys() - WITHOUT_CASES))
def test_operators_pass_onnxs_own_tests(operator: str) -> None:
    failures = {}
    assert find_cases()[operator]
    for case in find_cases()[operator]:
        try:
            check(case)
        except Exception as error:
            failures[case.name] = repr(error)
    assert not failures


@pytest.mark.slow
def test_hundreds_of_cases_run() -> None:
    assert sum(map(len, find_cases().values())) >= 890
