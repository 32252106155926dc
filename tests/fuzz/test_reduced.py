"""Calls and programs that the fuzzer found to differ from PyTorch's, reduced."""

from __future__ import annotations

from typing import Any

import pytest

import tinytorch as tt
from tests.fuzz import programs

CALLS = [
    # Empty matrices, indices of slices without elements, parameters of nothing.
    "L.linalg.matrix_rank(L.zeros(2, 0, 3), hermitian=True)",
    "L.linalg.pinv(L.zeros(5, 0), hermitian=True)",
    "L.linalg.pinv(L.zeros(0, 5), hermitian=True)",
    "L.nn.functional.softmin(L.tensor([], dtype=L.int64), 0)",
    "L.log_softmax(L.zeros(2, 0, dtype=L.int64), 0)",
    "L.bincount(L.tensor([], dtype=L.int64), weights=L.tensor([1.0, 2.0]), minlength=3)",
    "L.zeros(2, 0).index_add_(0, L.tensor([5]), L.zeros(1, 0))",
    "L.zeros(2, 0).index_copy_(0, L.tensor([5]), L.zeros(1, 0))",
    "L.zeros(2, 0).index_fill_(0, L.tensor([5]), 1.0)",
    *(
        f"L.zeros({shape}).index_{name}({dim}, L.tensor([5, -7]), {value})"
        for shape, dim, source, names in (
            ("0, 3", 0, "2, 3", ("add",)), ("3, 0", -1, "3, 2", ("add_",)),
            ("0, 0", 1, "0, 2", ("add", "copy_", "fill")),
            ("2, 0, 3", -1, "2, 0, 2", ("add", "copy", "fill_")), ("0", 0, "2", ("add", "copy")),
            ("0, 3", 0, "2, 3", ("copy", "fill")),
        )
        for name in names
        for value in ("1.0" if name.startswith("fill") else f"L.zeros({source})",)
    ),
    "L.nn.functional.batch_norm(L.zeros(0, 2), L.ones(3), L.ones(3))",
    *(
        f"L.nn.functional.instance_norm(L.zeros({shape}), {more})"
        for shape in ("0, 2, 3", "2, 0, 3", "2, 3, 0")
        for more in (
            "L.zeros(5), L.ones(5), use_input_stats=False", "weight=L.ones(5), bias=L.ones(7)",
            "L.zeros(5), L.ones(5), L.ones(7), use_input_stats=False",
        )
        if "weight" not in more and "7" not in more or "0, 2" not in shape
    ),
    # The mean of no elements is 0 beside a variance of NaN; sizes of what is empty.
    *(
        f"a = L.zeros({shape}).requires_grad_()\ny = {call}\ngradients(L, y, [a])"
        for shape, call in (
            ("2, 0", "L.native_layer_norm(a, (0,), None, None, 1e-5)"),
            ("2, 0, 3", "L.native_layer_norm(a, (0, 3), None, None, 1e-5)"),
            ("2, 2, 0", "L.native_group_norm(a, None, None, 2, 2, 0, 2, 1e-5)"),
            ("2, 0, 3", "L.native_group_norm(a, None, None, 2, 0, 3, 1, 1e-5)"),
            ("0, 0", "L.native_group_norm(a, L.ones(2), L.ones(2), 0, 2, 1, 1, 1e-5)"),
        )
    ),
    # The dtype of the statistics that native_batch_norm saves.
    *(
        f"L.native_batch_norm(L.tensor([[1, 2], [3, 5]], dtype=L.{dtype}), {weight}, None, "
        f"L.zeros(2), L.ones(2), {training}, 0.1, 1e-5)"
        for dtype in ("bfloat16", "float16", "float32")
        for weight in ("None", "L.ones(2)")
        for training in (True, False)
    ),
    # Casts of expanded tensors lie in the order of their dimensions.
    *(
        f"L.tensor([0, 1, 2]).expand({shape}).to(L.{dtype}).stride()"
        for shape in ("2, 3", "3, 2, 3")
        for dtype in ("bfloat16", "float8_e4m3fn", "float16", "complex64", "bool")
    ),
    # Windows over memory that an expanded tensor does not show.
    "L.as_strided_copy(L.tensor([1, 2, 3, 4], dtype=L.bfloat16)[:1].expand(4), (2,), (1,), 0)",
    # Means of integers.
    "L.nn.functional.local_response_norm(L.arange(9).reshape(1, 3, 3), 2)",
    # One number, computed from its bound as it is.
    "L.linspace(inf, -3, 1, dtype=L.complex64)",
    "L.linspace(-2.0, 4, 1, dtype=L.bool)",
    "L.logspace(0, -3, 1, 5.0, dtype=L.bool)",
    "L.logspace(0, -3, 0, 5.0, dtype=L.bool)",
    "L.linspace(0, -3, 0, dtype=L.bool)",
    "L.linspace(-2.0, 0, 0, dtype=L.uint8)",
    "L.linspace(-2.0, 0, 1, dtype=L.uint8)",
    # Tables without columns.
    *(
        f"a = L.zeros(10, 0).requires_grad_()\ny = L.nn.functional.{call}\ngradients(L, y, [a])"
        for call in (
            "embedding(L.tensor([[1, 5], [4, 5]]), a)", "embedding(L.tensor([1]), a, 1)",
            "embedding_bag(L.tensor([[1, 5], [4, 5]]), a, mode='mean', padding_idx=1)",
        )
    ),
    # Inputs without classes, all of whose targets are ignored, and empty batches of such.
    *(
        f"a = L.zeros({shape}).requires_grad_()\ny = L.nn.functional.{name}(a, L.zeros({targets}, "
        f"dtype=L.int64), {weight}ignore_index={ignored}, reduction={reduction!r})\n"
        "gradients(L, y, [a])"
        for shape, targets, ignored in (
            ("0", "()", 0), ("2, 0", "2", 0), ("2, 0", "2", 1), ("0, 0", "0", -100),
            ("2, 0, 2, 2", "2, 2, 2", 0),
        )
        for name in ("nll_loss", "cross_entropy")
        for weight in ("", "weight=L.zeros(0), ")
        for reduction in ("none", "mean", "sum")
    ),
    # NaN and infinity at the padding of a bag.
    *(
        "w = L.tensor([[1.0, 2.0], [nan, inf], [3.0, 4.0]]).requires_grad_()\n"
        "f = L.tensor([[0.5, inf], [nan, 2.0]]).requires_grad_()\n"
        f"y = L.nn.functional.embedding_bag(L.tensor([[0, 1], [1, 2]]), w, padding_idx=1, {more})"
        "\ngradients(L, y, [w" + (", f])" if "f" in more else "])")
        for more in ("mode='sum'", "mode='mean'", "mode='sum', per_sample_weights=f")
    ),
    # Infinite pixels beside the image's edge.
    *(
        f"L.nn.functional.grid_sample(L.tensor([[[[1.0, inf], [2.0, 3.0]]]]), L.tensor([[[{points}]"
        f"]]), padding_mode={padding!r}, align_corners=True, mode={mode!r})"
        for padding in ("zeros", "border", "reflection")
        for mode in ("bilinear", "nearest", "bicubic")
        for points in ("[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]", "[-0.5, -0.5], [7.0, 0.0]")
    ),
    # Masked reductions of integers and complex numbers.
    *(
        f"L.masked.{name}(L.tensor([{numbers}], dtype=L.{dtype}), {dim}, mask=L.tensor([True, False"
        f", True, True]){more})"
        for name, dim, more in (
            ("cumsum", 0, ""), ("cumprod", 0, ""), ("logsumexp", 0, ""), ("var", 0, ""),
            ("std", None, ", unbiased=False"), ("var", 0, ", dtype=L.complex128"),
            ("std", 0, ", correction=2"), ("logsumexp", None, ", dtype=L.float64"),
        )
        for dtype, numbers in (
            ("uint8", "1, 2, 3, 7"), ("int64", "-1, 2, 3, 7"),
            ("complex128", "1 + 2j, 3j, 5.0, -1.5 - 1j"), ("float32", "0.5, 1.5, -2.0, 3.0"),
        )
    ),
    # Equal elements: the deviation along a dimension is 0, and so is its gradient.
    *(
        f"a = L.full((3, 7), {number}, dtype=L.{dtype}).requires_grad_()\ny = a.{call}"
        "\ngradients(L, y, [a])"
        for number in (0.1, -7.7)
        for dtype in ("float32", "float64", "bfloat16")
        for call in ("std(1)", "std(0)", "std(1, keepdim=True, correction=0)")
    ),
    # Infinite weights do not meet the padding of a transposed convolution.
    *(
        f"L.nn.functional.conv_transpose{n}d(L.ones(1, 4, {'3, ' * n}), L.tensor([inf, -inf] + [1.0"
        f"] * {4 * out * 2**n - 2}).reshape(4, {out}, {'2, ' * n}), groups={groups}{more})"
        for n, out, groups, more in (
            (1, 2, 1, ""), (1, 2, 2, ""), (1, 1, 4, ", dilation=2"), (2, 2, 1, ""),
            (2, 2, 2, ", padding=1"), (2, 2, 2, ""), (3, 2, 2, ""),
        )
    ),
    # Normal numbers are drawn, scaled and moved in the dtype of the mean, or of the deviation.
    *(
        f"L.normal({mean}, {std})"
        for n in (5, 20)
        for mean, std in (
            (f"L.ones({n}, dtype=L.bfloat16)", "3.3"),
            ("0.1", f"L.ones({n}, dtype=L.bfloat16) * 3"),
            (f"L.ones({n}, dtype=L.bfloat16) * 0.1", f"L.ones({n}) * 3"),
            (f"L.ones({n})", f"L.ones({n}, dtype=L.bfloat16) * 3"),
            (f"L.ones({n}, dtype=L.float16)", f"L.ones({n}, dtype=L.float64) * 3"),
        )
    ),
    # Expanded tensors that these change in place.
    *(
        f"{tensor}.{call}"
        for tensor in ("L.arange(3.0).expand(3, 3)", "L.arange(3.0)[:, None].expand(3, 3)")
        for call in ("tril_()", "triu_(1)", "fill_diagonal_(5)", "relu_()")
    ),
    "L.nn.functional.threshold_(L.arange(3.0).expand(3, 3), 1.0, 5.0)",
    # The input as out=, which would be resized.
    *(
        f"(x := L.ones(3)) is None or L.{call}"
        for call in (
            "dot(x, x, out=x)", "vdot(x, x, out=x)", "linalg.vecdot(x, x, out=x)",
            "kthvalue(x, 1, out=(x, L.empty(0, dtype=L.int64)))",
            "median(x, 0, out=(x, L.empty(0, dtype=L.int64)))",
        )
    ),
    "(x := L.eye(3)) is None or L.mv(x, L.ones(3), out=x)",
]  # fmt: skip

LEAF = "x = L.ones(2, 2, requires_grad=True); y = x.flatten() * 1"
COMPLEX = "x = L.tensor([[1.5 + 1j, 0.5], [-1.0, 2j]], requires_grad=True); y = x * 1"
SQUARE = "x = L.arange(4.0).reshape(2, 2).requires_grad_(); y = x * 1"
WINDOW = f"{LEAF}; v = y[:2]; w = v.as_strided((2,), (1,), 2)"
PROGRAMS = [
    # The gradient of a window of a view reaches the base once either was written to.
    f"{WINDOW}; w.mul_(3); y.sum().backward()",
    f"{WINDOW}; y.mul_(3); (w * w).sum().backward()",
    f"{WINDOW}; (w * 3).sum().backward()",
    f"{WINDOW}; z = w[1:]; z.mul_(3); (y * y).sum().backward()",
    f"{WINDOW}; w[0] = 3; (y * y).sum().backward()",
    f"{LEAF}; w = y[1:2].expand(3).as_strided((2,), (1,), 1); w.mul_(2); y.sum().backward()",
    f"{LEAF}; w = y[:1].expand(3).as_strided((2,), (1,)); y.mul_(2); w.sum().backward()",
    "x = L.arange(4.0); v = x[4:]; w = v.as_strided((2,), (1,), 1); w.fill_(7)",
    # Writes to windows of an expanded tensor, whose library array is read-only.
    *(
        f"x = L.tensor([0.5, 1.5, 2.5]).expand(2, 3); v = x.unfold(0, 2, 1); v.{change}"
        for change in (
            "masked_fill_(v > 1, 2.0)",
            "index_fill_(0, L.tensor([0]), 1.0)",
            "index_put_((L.tensor([0]),), L.tensor(1.0))",
        )
    ),
    # Views of a view that was made before its base was reshaped in place.
    *(
        f"{LEAF}; u = L.ones(2, 2); v = u.t(); u.{change}; w = v.{view}; u.mul_(2)\n"
        "u[:] = y.reshape(u.shape); (w * w).sum().backward()"
        for change in ("unsqueeze_(0)", "t_()", "squeeze_()", "unsqueeze_(2); u.transpose_(0, 1)")
        for view in ("t()", "swapaxes(0, 1)", "unsqueeze(0)", "chunk(2)[0]", "flatten()[1:]")
    ),
    # A view's node is made again in inference mode, too.
    f"{LEAF}; v = y[:1]; v.div_(2)\nwith L.inference_mode(): v.retain_grad()",
    f"{LEAF}; v = y[:1]; v.div_(2)\nwith L.inference_mode(): z = v + y",
    "u = L.ones(2, 3); u.mul_(2); u.unsqueeze_(0); w = u.mT.as_strided((2,), (1,)); w.neg_()",
    # A lazily conjugated tensor that has the dtype is not copied.
    "x = L.tensor([1 + 1j, 2]); y = x.conj(); v = y.type_as(x); w = y.to(x.dtype); x.mul_(2)",
    # The gradient of a view that is modified goes to its base without the hooks of the view.
    f"{LEAF}; v = y[:2]; v.register_hook(lambda g: g * 2); v.mul_(2); (v * v).sum().backward()",
    f"{LEAF}; v = y[:2]; w = v[:1]; v.register_hook(lambda g: -g); w.mul_(2); y.sum().backward()",
    f"{LEAF}; v = y[:2]; w = v[:1]; v.retain_grad(); w.mul_(2); (y * y).sum().backward()",
    f"{LEAF}; v = y[:2]; v.retain_grad(); v.mul_(2); (y * v.sum()).sum().backward()",
    f"{LEAF}; y.register_hook(lambda g: g * 2); v = y[:2]; v.mul_(2); (v * v).sum().backward()",
    # The gradient of a modified view is that of its new value, which nothing may read.
    *(
        f"{LEAF}; v = y[:2]; v.retain_grad(); {change}; (y * 3).sum().backward()"
        for change in (
            "v.mul_(2)",
            "v.mul_(2); v.mul_(3)",
            "v.mul_(2); y.mul_(3)",
            "y.mul_(2); v.mul_(3)",
            "v[0] = 5",
            "v.fill_(3)",
            "w = v[:1]; w.mul_(2)",
            "v.mul_(2); z = v * 2",
        )
    ),
    # A write to a whole tensor saves nothing, so it has no part in a second backward pass.
    *(
        f"{LEAF}; u = L.ones(2, 2); u[{index}] = {value}; u.sum().backward(); u.sum().backward()"
        for index in (":", "...", "()", "0:", ":2", ":5", ":, :", ":, ...", "-2:", "None", "::1")
        for value in ("x", "x.sum()", "x[0]")
    ),
    # The gradient of a tensor without history is not retained any more.
    f"{LEAF}; y.retain_grad(); y.detach_(); y.unsqueeze_(0)",
    f"{LEAF}; y.retain_grad(); y.detach_(); y.requires_grad_(); (y * y).sum().backward()",
    # An in-place form with a bfloat16 operand saves the old value.
    f"{LEAF}; v = y.bfloat16(); w = y * 3; w.mul_(v); w.sum().backward()",
    # Data of another shape: the views keep the old memory, and the base has nothing of it.
    *(
        f"{LEAF}; v = y[:2]; {before}y.data = L.arange(6.0).reshape({shape}); {after}z = v + 1"
        for shape in ("6", "3, 2", "2, 3, 1")
        for before in ("", "y.mul_(2); ", "v.mul_(2); ")
        for after in ("", "y.data.mul_(3); ", "w = y[:1].detach(); ")
    ),
    "x = L.ones(2, 2, requires_grad=True); (x * x).sum().backward(); x.data = L.ones(3)\n"
    "x.sum().backward()",
    # A view of a leaf that is a view keeps its history where an in-place change is refused.
    "x = L.ones(3).expand(2, 3).requires_grad_(); v = x.as_strided((2,), (1,)); v.mul_(2)\n"
    "v.sum().backward()",
    # A leaf that is a view and no longer requires grad gets none.
    "x = L.ones(2, 3).t().requires_grad_(); y = x * 1; x.requires_grad_(False); y.sum().backward()",
    # Views of an inference tensor do not require grad.
    *(
        f"with L.inference_mode(): x = L.ones(4, requires_grad=True)\nv = x.{view}[0]"
        for view in ("chunk(2)", "split(2)", "unbind()", "tensor_split(2)", "view(1, 4)")
    ),
    # As PyTorch does, overlaps are looked for in memory without gaps alone.
    *(
        f"x = L.arange(6.0); v = x[{part}]; w = v.detach(); {change}"
        for part in ("::3", ":2")
        for change in (
            "w[L.tensor([0, 1])] = v",
            "v[L.tensor([0, 1])] = v",
            "w.index_copy_(0, L.tensor([0, 1]), v)",
            "w.index_add_(0, L.tensor([0, 1]), v)",
        )
    ),
    # Gradients that are recorded lie forwards in memory.
    *(
        f"{LEAF}; g = L.autograd.grad(x.{call}.sum(), x, create_graph=True)[0]"
        for call in ("cumsum(0)", "cumsum(1)", "cumprod(0)", "t().cumsum(0)", "cumsum(1).cumsum(0)")
    ),
    # A view without a gradient whose base has been modified.
    f"{LEAF}\nwith L.no_grad(): v = y[:2]\ny.mul_(2); v.retain_grad()",
    # A view that was not recorded and is reshaped requires grad as long as its base does.
    *(
        f"{LEAF}\nwith L.{mode}(): v = y[:2]\nwith L.{mode}(): v.{change}\n{after}"
        for mode in ("no_grad", "inference_mode")
        for change in ("squeeze_()", "unsqueeze_(0)", "swapaxes_(0, 0)", "mul_(2)")
        for after in ("y.detach_()", "w = v.detach() + 1")
    ),
    # The gradient of such a view goes nowhere, so its operands may be modified.
    *(
        f"{LEAF}\nwith L.{mode}(): v = y.view(2, 2).view(4)\n{change}; (y ** 2).sum().backward()"
        for mode in ("no_grad", "inference_mode")
        for change in (
            "y.addcmul_(v, v)",
            "z = v * v; y.mul_(2); y = y + z",
            "y.mul_(v)",
            "y.lerp_(v, 0.5)",
            "z = v.exp(); y.mul_(2); y = y + z",
        )
    ),
    # The last view that was written keeps its history when its base is detached.
    *(
        f"{LEAF}; u = L.ones(4); w = u[:2]; v = {view}; {change}; u.detach_(); {after}"
        for view in ("u[:].view_as(u[:])", "u[1:]", "u.view(2, 2)")
        for change in (
            "v.mul_(y.sum())",
            "v[0] = y.sum()",
            "v[:] = y.sum()",
            "v[L.tensor([0])] = y[:1]",
            "v.unsqueeze_(0); v.add_(y[:1])",
            "v.mul_(y.sum()); u.mul_(2)",
        )
        for after in (
            "(v * v).sum().backward()",
            "u.requires_grad_(); (v * v).sum().backward()",
            "w.mul_(2)",
            "z = w * 2",
        )
    ),
    # Windows by strides over an expanded tensor.
    *(
        f"x = L.ones(3{grad}); y = x * 1; v = y.expand(2, 3){window}; v.{change}"
        for grad in ("", ", requires_grad=True")
        for window, changes in (
            (".unfold(0, 2, 1)", ("fill_(3)", "zero_()")),
            (".unfold(0, 2, 1)[0]", ("fill_(3)", "mul_(2)")),
            ("[0].unfold(0, 2, 2)", ("fill_(3)", "mul_(2)", "copy_(L.tensor(3.0))")),
        )
        for change in changes
    ),
    # Memory whose size is no multiple of a view's elements.
    *(
        f"x = L.tensor([0.5, 1.5, 2.5], dtype=L.float64){part}; v = L.view_as_complex({pair})\n"
        "n = v.untyped_storage().nbytes(); m = len(v.storage()); v.mul_(2)"
        for part, pair in (("", "x[:2]"), (".expand(2, 3)", "x.diagonal()"))
    ),
    # Data of another shape or order on the same memory: views are replayed from it.
    *(
        f"{SQUARE}; u = L.ones(2, 2); v = {view}; u.data = {data}; {change}; {after}"
        for view in ("u.unsqueeze(0)", "u[0]", "u.t()", "u[:, 1]")
        for data in ("u.unsqueeze(0).detach()", "u.detach().t()", "u.detach().flatten()")
        for change in ("v.mul_(y.sum())", "u.mul_(y[0, 1])", "v[0] = y[0, 1]")
        for after in ("(u * u).sum().backward()", "(v * v).sum().backward()")
    ),
    # A lazily conjugated or negated view whose base has been modified, without gradients.
    *(
        f"{COMPLEX}; u = L.ones_like(x)\nwith L.{mode}(): v = u.conj(){part}\nu[:] = y\n"
        f"with L.{other}(): z = {call}"
        for mode in ("no_grad", "inference_mode")
        for part in ("", ".imag")
        for other in ("no_grad", "inference_mode")
        for call in ("v.mean()", "v * 2", "v @ v", "v.clone()", "v.sin_()")
    ),
    # Views of such a tensor in inference mode are no inference tensors.
    *(
        f"{COMPLEX}; v = y.conj(){part}\nwith L.inference_mode(): z = {view}\nz.mul_(2)"
        for part in ("", ".imag")
        for view in ("v[0]", "v.unsqueeze(0)", "v.conj()", "v.reshape(-1)", "v.t()")
    ),
    "u = L.ones(()); v = u.expand(2, 3).split(1)[0].detach(); v[..., 0] += 1",
    "u = L.ones(()); v = u.expand(2, 3).detach(); v.index_fill_(0, L.tensor([0]), 2.0)",
    # A tensor with the data of a view of itself, whose other views are then replayed.
    "x = L.ones(2, 2, requires_grad=True); y = x * 1; v = y.unflatten(0, (1, -1)); y -= 1; "
    "y.data = v.detach(); (v**2).sum().backward()",
    "x = L.ones(2, 3, requires_grad=True); y = x * 1; v = y.view(2, -1); v.unsqueeze_(0); "
    "y.data = v.detach(); v.pow(2).sum().backward(inputs=[x])",
]


@pytest.mark.torch
@pytest.mark.parametrize("call", CALLS)
def test_reduced_calls_have_pytorchs_outcome(torch: Any, call: str) -> None:
    from tests.fuzz import calls  # imports PyTorch

    assert calls.compare((tt, torch), call.split("\n")) is None


@pytest.mark.torch
@pytest.mark.parametrize("program", PROGRAMS)
def test_reduced_programs_have_pytorchs_outcome(torch: Any, program: str) -> None:
    assert programs.compare((tt, torch), program.replace("; ", "\n").split("\n")) is None


def test_a_gradient_retained_before_a_reshape_in_place_has_the_new_shape() -> None:
    x = tt.ones(2, 3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.t_()
    (y * tt.tensor([[1.0, 2.0]])).sum().backward()
    assert y.grad is not None and y.grad.tolist() == [[1.0, 2.0]] * 3
    assert x.grad is not None and x.grad.tolist() == [[2.0] * 3, [4.0] * 3]
