"""Kinds of differences that are known, each with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Known:
    """A kind of difference.

    Attributes:
        source: ``"programs"`` or ``"calls"``.
        kind: Pattern of the difference's kind.
        pattern: Pattern in the lines and the text of the difference.
        reason: Why it is known.
        proof: An expression that is true under PyTorch where the fault is PyTorch's own.
    """

    source: str
    kind: str
    pattern: str
    reason: str
    proof: str = ""


#: Only places of infinities and NaN differ, no number from another one.
_INF_NAN = r"\((inf/nan|nan/inf|inf/nan, nan/inf)\)$"

KNOWN = [
    # PyTorch's own faults.
    Known("programs", "value", r"\(both refuse ",
          "PyTorch has written before it raises (too short a source, an index)",
          "[x := L.zeros(3), raises(lambda: x.masked_scatter_(x == 0, L.ones(2)))]"
          " and x.tolist() != [0, 0, 0]"),
    Known("programs", "value", r"\[4\] ours 0, PyTorch [12]",
          "PyTorch counts writes to results that it computes into"),
    Known("programs", "value", r"(?s)fill_\(.*\[3\] ours False, PyTorch True",
          "fill_ with a tensor that requires grad makes integers require grad",
          "L.ones(2, dtype=L.int64).fill_(L.tensor(1.0, requires_grad=True)).requires_grad"),
    Known("programs", "value", r"(?s)prod\(.*\[3\] ours True, PyTorch False",
          "the gradient of a 0-d prod is a constant in PyTorch"),
    Known("programs", "raises", r"(?s)(copy_\(|\] = ).*more than one element of the written-to",
          "PyTorch lets an expanded tensor be copied onto itself",
          "(x := L.ones(1).expand(3)).copy_(x) is x"),
    Known("programs", ".*", r"inference_mode\(\): \w+\.detach_\(\)",
          "in inference mode PyTorch's detach_ leaves the history"),
    Known("calls", "value", r"((var|std)_mean|native_(layer|group)_norm)\((?s:.*)\[1\] ours"
          r"(?s:.*)\(inf/nan\)$",
          "PyTorch's running mean of infinities is nan where mean() is infinite",
          "L.var_mean(L.tensor([inf, 1.0]))[1].isnan() and L.tensor([inf, 1.0]).mean() == inf"),
    Known("calls", "value", r"(instance|batch|group)_norm\((?s:.*)\((inf|number)/nan\)$",
          "PyTorch folds statistics into one factor and one summand: nan for an infinite factor",
          "F.batch_norm(L.ones(1, 1), L.zeros(1), L.ones(1), L.tensor([inf])).isnan()"),
    Known("calls", "value", r"native_group_norm\((?s:.*)\.expand\(",
          "native_group_norm reads past the memory of an expanded weight",
          "(w := L.tensor([-8.0, 2.0])[:1].expand(2)) is not None and not L.equal(*(L."
          "native_group_norm(L.tensor([[-1.0, 2.0]]), v, None, 1, 2, 1, 1, 1e-5)[0]"
          " for v in (w, w.contiguous())))"),
    Known("calls", "value", r"polygamma\((?s:.*)\((inf/number)\)$",
          "the trigamma function has poles at 0, -1, -2, …, where PyTorch computes a number",
          "L.polygamma(1, L.tensor([-8.0])).isfinite()"),
    Known("calls", "value", r"(median|kthvalue)\((?s:.*)(expand|stack|mT)(?s:.*)\[1\] ours",
          "open: the index of a median or kthvalue of equal elements; in PyTorch it depends on the"
          " layout, or on the number of threads"),
    Known("calls", "value", r"(soft_margin_loss|matrix_exp)\((?s:.*)float16(?s:.*)\(number/\w+\)$",
          "PyTorch overflows in half; here the sum is in float32",
          "F.soft_margin_loss(L.tensor(-12.0, dtype=L.float16), L.tensor(1.0, dtype=L.float16))"
          " == inf"),
    Known("programs", "value", r"(?s)(expand|broadcast_to)\(.*median\(0\)",
          "PyTorch reads past the memory of an expanded tensor in median along a dimension",
          "not L.equal((x := L.tensor([0.5, 1.5, 2.5]).expand(2, 3)).median(0)[0],"
          " x.contiguous().median(0)[0])"),
    Known("calls", "value", r"layer_norm\((?s:.*)1e\+30(?s:.*)\(number/nan\)$",
          "the variance overflows: PyTorch's moments are nan, not infinite",
          "F.layer_norm(L.tensor([1e30, 1.0]), (2,)).isnan().all()"),
    Known("calls", "value", r"_polynomial_\w+\((?s:.*)(1e\+30|inf)(?s:.*)\(nan/number\)$",
          "PyTorch converts a degree of 1e30 or infinity to an int, which is undefined",
          "L.special.hermite_polynomial_h(L.ones(()), L.tensor(1e30)) == 0"),
    # Deliberate.
    Known("programs", ".*", r"\.data = ",
          "data assigned: in PyTorch views of before keep the old memory, here their base"),
    Known("programs", ".*", r"(?s)inference_mode.*Inplace update to inference tensor",
          "detach() of an inference tensor is one here; in PyTorch it counts versions anew"),
    Known("programs", "value", r"Inference tensors do not track version counter",
          "detach() of an inference tensor is one here; in PyTorch it counts versions anew"),
    Known("programs", "raises", r"view_as_complex(?s:.*)Half", "there is no complex32"),
    Known("programs", "value", r"complex32", "there is no complex32"),
    Known("programs", "value", r"\[6\] \[\d\] ours \d+, PyTorch \d+",
          "strides of a result whose operands lie in different orders are NumPy's"),
    Known("programs", ".*", r"(L\.tensor\(1\.5,|\.(sum|mean|prod)\(\)|\[0\]|select|\.view)(?s:.*)"
          r"\.mT\b", "mT of a 0-d tensor is a view here, the tensor itself there"),
    Known("calls", "raises", r"complex32|chalf\(|scalar type: Half", "there is no complex32"),
    Known("calls", "raises", r"lu_unpack(?s:.*)pivots passed",
          "lu_unpack of sizes that do not belong together: PyTorch does not look"),
    Known("calls", "raises", r"(pinv|norm)\((?s:.*)(failed to converge|non-finite)",
          "singular values of infinities: LAPACK raises, or returns nan, as it was built"),
    Known("calls", "value", r"linalg\.\w+\((?s:.*)(nan|inf|1e\+30)(?s:.*)PyTorch(?s:.*)nan",
          "which elements of a matrix with infinities become nan depends on the LAPACK"),
    Known("calls", "value", r"(stft|fft\.\w+|householder_product|conv\w*)\((?s:.*)" + _INF_NAN,
          "infinities in products with a matrix or in a transform: their order of summation"),
    Known("calls", "value", r"bucketize\((?s:.*)nan|searchsorted\((?s:.*)nan",
          "boundaries that are not sorted, as nan is among them"),
    # Open: not mended yet.
    Known("programs", "raises", r"(?s)inference_mode\(\): \w+ = \w+\.new_ones\(2, requires_grad="
          r".*Inference tensors cannot be saved",
          "open: an operand is saved for a view whose gradient goes nowhere"),
    Known("programs", "raises", r"(?s)inference_mode\(\): x\.\w+_\(.*got a gradient of shape",
          "open: a leaf that is reshaped in inference mode takes gradients of the old shape"),
    Known("programs", "value", r"(?s)as_strided\(\(2,\), \(1,\)\).*x\n\[7\] ours",
          "open: as_strided reaches elements of the base beside the view, whose gradient is lost"),
    Known("programs", "raises", r"after [^\n]*masked_fill_(?s:.*)"
          r"more than one element of the written-to",
          "open: PyTorch warns where masked_fill_ writes to an expanded tensor"),
    Known("calls", "value", r"conv\w*\((?s:.*)bfloat16(?s:.*)(inf|nan|e\+30)(?s:.*)\(number/nan\)$",
          "open: in bfloat16 PyTorch's convolutions multiply infinities by padding, not proved"),
    Known("programs", "raises", r"(?s)L\.autograd\.grad\(.*more than one element of the written-to",
          "open: a gradient of a sum is an expanded tensor where PyTorch has made a copy"),
    Known("calls", "raises", r"(?s)^(?=.*tensor\(\[\]).*softm(in|ax)\(.*not implemented for",
          "open: PyTorch does not look at the dtype of what is empty"),
    Known("calls", "value", r"_polynomial_\w+\((?s:.*)nan(?s:.*)\(nan/number\)$",
          "open: a polynomial of nan of a degree below 1 is a constant in PyTorch"),
    Known("calls", "raises", r"cholesky\((?s:.*)\((\d+, )*0, 0\)(?s:.*)Expected out tensor",
          "open: PyTorch does not look at the dtype of out= where there are no elements"),
    Known("calls", "value", r"local_response_norm\((?s:.*)dtype=L\.u?int(?s:.*)\(number/number\)$",
          "open: PyTorch truncates the mean of integers within the window"),
    Known("calls", "error", r"multi_head_attention_forward", "open: an error of another class"),
    Known("calls", "raises", r"(batch|group)_norm\((?s:.*)should contain \d+ elements",
          "open: PyTorch does not look at the sizes of statistics of what is empty"),
    Known("calls", "raises", r"(bincount|softmin|cholesky)\w*\((?s:.*)(\[:0\]|\[\.\.\., :0\])",
          "open: PyTorch does not look at the sizes of what is empty"),
    Known("calls", "raises", r"index_add_\((?s:.*)index out of range",
          "open: PyTorch does not look at indices where there are no elements"),
    Known("calls", ".*", r"masked\.\w+\(", "open: masked reductions of integers, complex numbers"),
    Known("calls", "raises", r"(min|max)\((?s:.*)'out'", "open: min and max of one tensor, out="),
    Known("calls", "raises", r"as_strided(?s:.*)out of bounds for storage of size 0",
          "open: as_strided of an empty slice cannot reach the memory beside it"),
    Known("calls", "value", r"grid_sampl(?s:.*)(inf|nan)(?s:.*)"
          r"\((number/nan|nan/number)\)$",
          "open: an infinite neighbor with weight 0 makes nan here or in PyTorch"),
]  # fmt: skip


def reason(source: str, lines: list[str], found: Any) -> str | None:
    """Why a difference is known, or None."""
    if found.kind == "accepts":
        return "accepted here, refused by PyTorch"
    text = "\n".join((*lines, found.where, found.text))
    for known in KNOWN:
        of_kind = known.source == source and re.fullmatch(known.kind, found.kind)
        if of_kind and re.search(known.pattern, text):
            return known.reason
    return None
