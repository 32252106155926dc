"""Kinds of differences that are known, each with the reason."""

from __future__ import annotations

import re
from typing import Any

#: ``(programs or calls, kind of difference, pattern in its lines or its text, reason)``.
KNOWN: list[tuple[str, str, str, str]] = [
    # PyTorch's own faults, and what it leaves open.
    ("programs", "value", r"\(both refuse ",
     "PyTorch had written before it raised (an inference tensor, too short a source, an index)"),
    ("programs", "value", r"\[4\] ours 0, PyTorch [12]",
     "PyTorch counts writes to results that it computes into"),
    ("programs", "value", r"(?s)fill_\(.*\[3\] ours False, PyTorch True",
     "fill_ with a tensor that requires grad makes integers require grad"),
    ("programs", "value", r"(?s)prod\(.*\[3\] ours True, PyTorch False",
     "the gradient of a 0-d prod is a constant in PyTorch"),
    ("programs", "value", r"unfold\(|as_strided\(|broadcast_to\(|expand\(",
     "places written twice through a view that overlaps itself, which PyTorch does not see"),
    ("programs", "raises", r"more than one element of the written-to tensor",
     "PyTorch lets an expanded tensor be copied onto itself"),
    ("programs", ".*", r"inference_mode\(\): \w+\.detach_\(\)",
     "in inference mode PyTorch's detach_ leaves the history"),
    ("calls", "value", r"var_mean\((?s:.*)inf(?s:.*)PyTorch",
     "PyTorch's mean of infinities is nan in var_mean and std_mean alone: its running mean"),
    ("calls", "value", r"(instance|batch)_norm\((?s:.*)(nan|inf)(?s:.*)PyTorch",
     "infinities: PyTorch folds statistics into one factor and one summand"),
    ("calls", "value", r"interpolate\((?s:.*)nearest(?s:.*)scale_factor",
     "nearest3d with scale_factor reads other places than 1-d and 2-d"),
    ("calls", "value", r"scatter_reduce(?s:.*)prod",
     "scatter_reduce prod of integers wraps otherwise"),
    ("calls", "value", r"cosine_similarity\(",
     "cosine_similarity clamps the product of squared norms, not each of them"),
    ("calls", "value", r"atan2(?s:.*)int8", "atan2 of int8 is computed in two ways by PyTorch"),
    ("calls", "value", r"median\((?s:.*)expand\(",
     "the index of a median of equal, expanded elements"),
    ("calls", "value", r"(stft|householder_product)\((?s:.*)(nan|inf)",
     "infinities and nan in a product by a matrix: which come out"),
    ("calls", "value", r"conv\w*\((?s:.*)(nan|inf)",
     "infinities in a convolution of bfloat16: PyTorch's own kernel pads columns"),
    ("calls", "value", r"out=L\.empty\(0, dtype=L\.(complex128|float64)",
     "a result in float32 that is shown in a wider out= is as near as float32's"),
    ("calls", "raises", r"logspace(?s:.*)Bool", "logspace of no bool elements"),
    ("calls", "raises", r"pinv(?s:.*)non-finite", "pinv of infinities: nan, or an error"),
    ("calls", "value", r"^L?.*fft\.(?s:.*)(nan|inf)",
     "infinities and nan in a transform: which come out"),
    # Deliberate.
    ("programs", ".*", r"\.data = ",
     "data assigned: in PyTorch views of before keep the old memory, here they keep their base"),
    ("programs", ".*", r"(?s)inference_mode.*Inplace update to inference tensor",
     "detach() of an inference tensor is one here; in PyTorch it counts versions anew"),
    ("programs", "value", r"Inference tensors do not track version counter",
     "detach() of an inference tensor is one here; in PyTorch it counts versions anew"),
    ("programs", "raises", r"view_as_complex(?s:.*)Half", "there is no complex32"),
    ("programs", "value", r"\[6\] \[\d\] ours \d+, PyTorch \d+",
     "strides of a result whose operands lie in different orders are NumPy's"),
    ("programs", ".*", r"\.mT\b", "mT of a 0-d tensor is a view here, the tensor itself there"),
    ("calls", "raises", r"complex32|chalf\(|scalar type: Half", "there is no complex32"),
    ("calls", "value", r"chebyshev|hermite|laguerre|legendre",
     "polynomials of large values in float32 grow past its digits"),
    ("calls", "raises", r"lu_unpack(?s:.*)pivots passed",
     "lu_unpack of sizes that do not belong together: PyTorch does not look"),
    ("calls", "value", r"(solve_triangular|polygamma|norm|complex|cov)\((?s:.*)(nan|inf|1e\+30)",
     "infinities and overflow: which of inf and nan comes out of a sum"),
    ("calls", "raises", r"(pinv|norm)\((?s:.*)failed to converge",
     "singular values of infinities: LAPACK raises, or gives nan"),
    ("calls", "value", r"bucketize\(|searchsorted\(", "boundaries that are not sorted: nan among"),
    ("calls", "value", r"(soft_margin_loss|matrix_exp)\((?s:.*)float16",
     "PyTorch overflows in half; here the sum is in float32"),
    ("calls", "value", r"(airy_ai|normal)\(", "other formulas, as near to the true value"),
    # Open: not mended yet.
    ("calls", "error", r"multi_head_attention_forward", "open: an inner error of another class"),
    ("calls", "raises", r"bincount|softmin|cholesky|batch_norm|group_norm",
     "open: PyTorch does not look at the sizes of what is empty"),
    ("programs", "value", r"complex32", "open: a cast to complex32 is complex64 here"),
    ("calls", ".*", r"masked\.\w+\(", "open: masked reductions of integers and complex numbers"),
    ("calls", "raises", r"(min|max)\((?s:.*)'out'", "open: min and max of one tensor with out="),
    ("calls", "raises", r"as_strided(?s:.*)out of bounds for storage of size 0",
     "open: as_strided of an empty slice cannot reach the memory beside it"),
    ("calls", "raises", r"native_batch_norm(?s:.*)should contain",
     "open: native_batch_norm takes statistics of size 0 in PyTorch"),
    ("calls", "value", r"grid_sampl(?s:.*)(nan|inf)(?s:.*)PyTorch",
     "open: an infinite neighbor with weight 0 makes nan"),
]  # fmt: skip


def reason(source: str, lines: list[str], found: Any) -> str | None:
    """Why a difference is known, or None."""
    if found.kind == "accepts":
        return "accepted here, refused by PyTorch"
    text = "\n".join((*lines, found.where, found.text))
    for where, kind, pattern, why in KNOWN:
        if where == source and re.fullmatch(kind, found.kind) and re.search(pattern, text):
            return why
    return None
