"""Kinds of differences that are known, each with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Known:
    """A kind of difference.

    Attributes:
        source: Pattern of the source, ``"programs"`` or ``"calls"``.
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
_INF_NAN = r"\((inf/nan|nan/inf|inf/inf)(, \w+/(inf|nan))*\)$"

KNOWN = [
    # PyTorch's own faults.
    Known("programs", "value", r"\[[07]\] ours .*\(both refuse [^\n]*(_\(|\] = | [-+]= )",
          "PyTorch has written before it raises (too short a source, an index, inference tensors)",
          "[x := L.zeros(3), raises(lambda: x.masked_scatter_(x == 0, L.ones(2)))]"
          " and x.tolist() != [0, 0, 0]"),
    Known("programs", "value", r"\[7\] ours .*\(both refuse [^\n]*backward\(",
          "PyTorch has kept gradients before the backward pass raises"),
    Known("programs", "value", r"\[4\] ours 0, PyTorch [1-9]( \(both refuse .*)?$",
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
    Known("programs", "value", r"(?s)inference_mode\(\): (\w+) = [^\n]*requires_grad=True\)\n"
          r".*\b\1\.detach_\(\)\n.*\[3\] ours False, PyTorch True$",
          "PyTorch's detach_ of an inference tensor leaves it requiring grad"),
    Known("calls", "value", r"((var|std)_mean|native_(layer|group)_norm)\((?s:.*)\[1\] ours"
          r"(?s:.*)\(inf/nan\)$",
          "PyTorch's running mean of infinities is nan where mean() is infinite",
          "L.var_mean(L.tensor([inf, 1.0]))[1].isnan() and L.tensor([inf, 1.0]).mean() == inf"),
    Known("calls", "value",
          r"(instance|batch|group)_norm\((?s:.*)\(((inf|number)/nan(, number/nan)?|nan/inf)\)$",
          "PyTorch folds statistics into one factor and one summand: nan for an infinite factor",
          "F.batch_norm(L.ones(1, 1), L.zeros(1), L.ones(1), L.tensor([inf])).isnan()"),
    Known("calls", "value", r"native_group_norm\((?s:.*)(\.expand\(|stack|flip)",
          "native_group_norm reads a weight or bias as if it were contiguous",
          "(w := L.tensor([-8.0, 2.0])[:1].expand(2)) is not None and not L.equal(*(L."
          "native_group_norm(L.tensor([[-1.0, 2.0]]), v, None, 1, 2, 1, 1, 1e-5)[0]"
          " for v in (w, w.contiguous())))"),
    Known("calls", "value", r"(poly|di)gamma_?\((?s:.*)\((inf/number)\)$",
          "the trigamma function has poles at 0, -1, -2, …, where PyTorch computes a number",
          "L.polygamma(1, L.tensor([-8.0])).isfinite()"),
    Known("calls", "value", r"(?s)^(?=.*inf).*polygamma_?\(.*\(number/nan\)$",
          "polygamma(n, inf) is 0, where PyTorch computes inf - inf",
          "L.polygamma(2, L.tensor(inf)).isnan()"),
    Known("calls", "value", r"(?s)^(?=.*inf).*zeta\(.*\(number/nan\)$",
          "zeta(x, inf) is 0, where PyTorch computes inf - inf",
          "L.special.zeta(L.tensor(2.0), L.tensor(inf)).isnan()"),
    Known("calls", "value", r"(trapezoid|trapz)\((?s:.*)inf(?s:.*)\(inf/nan\)$",
          "PyTorch takes halves of the ends off the whole sum: inf - inf",
          "L.trapezoid(L.tensor([1.0, inf])).isnan()"),
    Known("calls", "value", r"gradient of nn.functional.kl_div(?s:.*)\(number/nan\)$",
          "PyTorch divides 0 by 0 in the gradient by a target of 0",
          "(t := L.zeros(1, requires_grad=True)) is not None and L.autograd.grad("
          "F.kl_div(L.ones(1), t, reduction='sum'), t)[0].isnan()"),
    Known("calls", "value", r"1e-30(?s:.*)\ngradient of linalg.(vector_)?norm"
          r"(?s:.*)\(number/nan\)$",
          "PyTorch's gradient of a norm of a negative order overflows by a tiny number",
          "(x := L.tensor([1.0, -1e-30], requires_grad=True)) is not None and L.autograd.grad("
          "L.linalg.norm(x, -2), x)[0].isnan().any()"),
    Known("calls", "value", r"layer_norm\([^\n]*\(1,\)(?s:.*)layer_norm\n.*"
          r"\((number|nan)/(number|inf)\)$",
          "one number less its mean is not 0 in PyTorch, but a rounding error",
          "F.layer_norm(L.tensor([-4.3], dtype=L.float16), (1,),"
          " L.tensor([inf], dtype=L.float16)).isinf()"),
    Known("calls", "value", r"\bairy_ai\((?s:.*)float64(?s:.*)\((number/nan, )?number/number\)$",
          "PyTorch's airy_ai of float64 has an error of 1e-11",
          "abs(L.special.airy_ai(L.tensor(-4.146, dtype=L.float64)) - 0.0465133354155) > 1e-11"),
    Known("calls", "value", r"\bairy_ai\((?s:.*)inf(?s:.*)\(number/nan\)$",
          "PyTorch's airy_ai(inf), which is 0, is nan", "L.special.airy_ai(L.tensor(inf)).isnan()"),
    Known("calls", "value", r"\b(all|any)\((?s:.*)out=L\.empty\(0, dtype=L\.uint8\)",
          "PyTorch converts the elements to the dtype of out= before it looks whether they are 0",
          "L.all(L.tensor([0.5, 1.0]), dim=0, out=L.empty(0, dtype=L.uint8)) == 0"),
    Known("calls", "value", r"multi(label_)?_?margin_loss\((?s:.*)nan(?s:.*)\(nan/number\)$",
          "PyTorch skips a NaN among the scores",
          "F.multi_margin_loss(L.tensor([[nan, 1.0, 2.0]]), L.tensor([1])).isfinite()"),
    Known("calls", "value", r"soft_margin_loss\((?s:.*)1e\+30(?s:.*)\(number/inf\)$",
          "PyTorch takes the logarithm of an exponential that overflows",
          "F.soft_margin_loss(L.tensor(1e30), L.tensor(-1.0)) == inf"),
    Known("calls", "value", r"logdet\((?s:.*)\(inf/nan\)$",
          "the logarithm of a complex determinant of 0 is -inf + nan j in PyTorch",
          "L.logdet(L.zeros(2, 2, dtype=L.complex64)).imag.isnan()"),
    Known("programs", "value", r"(?s)complex128.*(neg_\(|conj\().*sqrt_\(\)\n.*\(number/number\)$",
          "PyTorch negates the imaginary part 0 to -0 in single elements, and to 0 in blocks",
          "L.sqrt(-L.full((8,), 0.5, dtype=L.complex128)).imag[0] > 0"
          " > L.sqrt(-L.full((1,), 0.5, dtype=L.complex128)).imag[0]"),
    Known("programs", "value", r"(?s)retain_grad\(\).*(squeeze|t|transpose|swapaxes)_\("
          r".*\n\[7\] ours",
          "PyTorch's retained gradient has the shape from before a change of shape in place",
          "(y := L.ones(2, 3, requires_grad=True) * 1) is not None and y.retain_grad() is None and"
          " y.t_().sum().backward() is None and y.grad.shape != y.shape"),
    Known("programs", "value",
          r"(?s)\*.*\n(\w+)\.data = .*backward\(.*\n\[7\] ours .*\(number/number\)$",
          "PyTorch's gradient reads the data that was assigned after the operation",
          "[x := L.ones(1, requires_grad=True), y := x * 3, z := y ** 2,"
          " setattr(y, 'data', L.ones(1)), z.backward()] and z == 9 and x.grad.item() == 6"),
    Known("programs", "value",
          r"(?s)(no_grad|inference_mode)\(\): \w+\.(t|transpose|swapaxes)_\(.*\n\[7\] ours",
          "PyTorch's gradient of a tensor that was transposed in place in no_grad is that of the"
          " tensor before, in the places of the tensor after",
          "[x := L.ones(2, 2, requires_grad=True), y := x * L.tensor([[1.0, 2.0], [3.0, 4.0]]),"
          " L.no_grad()(lambda: y.t_())(), y[0, 1].backward()]"
          " and y[0, 1] == 3 and x.grad[0, 1] == 2 and x.grad[1, 0] == 0"),
    Known("calls", "value", r"\.expand\((?s:.*)\ngradient of std(_mean)?\n.*\(number/number\)$",
          "PyTorch's deviation of all of several equal elements is a rounding error, and divides"
          " another one",
          "(x := L.full((7,), 0.1, requires_grad=True)) is not None"
          " and L.autograd.grad(x.std(), x)[0].abs().max() > 0.1"),
    Known("calls", "value", r"\[:0\](?s:.*)\naddmv\nours \[\]",
          "PyTorch's addmv of a 0-d tensor and a matrix without rows keeps the 0-d tensor's shape",
          "L.addmv(L.tensor(1.0), L.zeros(0, 2), L.zeros(2)).dim() == 0"),
    Known("calls", "value", r"inf(?s:.*)\ngradient of nn\.functional\.soft_margin_loss"
          r"\n.*\(inf/nan(, number/nan)?\)$",
          "PyTorch divides infinity by infinity in the gradient by an infinite target",
          "(x := L.ones(1, requires_grad=True)) is not None and L.autograd.grad("
          "F.soft_margin_loss(x, L.tensor([inf])), x)[0].isnan()"),
    Known("calls", "value", r"\ngradient of mvlgamma_?\n.*\(inf/inf\)$",
          "the sign of the gradient at a pole, at -0"),
    Known("calls", "raises", r"native_batch_norm\n.*(mean|var|weight|bias) should contain",
          "PyTorch's native_batch_norm does not look at the sizes of statistics"),
    Known("programs", "value", r"(?s)\bx\.data = .*\nx\n\[7\] ours",
          "data of another shape assigned to a leaf between passes: its gradient has that shape"),
    Known("programs", "value", r"(?s)(\w+)\.backward\(\1\.detach\(\)\).*backward\(.*"
          r"\n\1\n\[0\] ours",
          "PyTorch accumulates gradients into the memory of the gradient that backward() was given",
          "(x := L.ones(2, requires_grad=True)) is not None and (y := L.cat([x.reshape(-1)]))"
          ".backward(y.detach()) is None and L.cat([x]).sum().backward() is None"
          " and y.tolist() == [2, 2]"),
    Known("programs", "value",
          r"(?s)\.data = .*\n\w+\n(\[3\] ours False, PyTorch True|\[7\] ours None)",
          "PyTorch takes a view for one of its base's new data, of which it has nothing",
          "[x := L.ones(1, requires_grad=True), u := L.zeros(2), v := u[:1],"
          " setattr(u, 'data', L.ones(3)), u.mul_(x), v.sum().backward()] and v.tolist() == [0]"
          " and x.grad.item() == 1"),
    Known("calls", "value", r"(nan|inf)(?s:.*)\nlinalg\.slogdet\n"
          r"(\[0\] ours|\[1\] .*\(nan/inf\)$)",
          "the sign of the determinant of a matrix with infinities or NaN depends on the LAPACK"),
    Known("programs", "raises", r"(?s)inference_mode.* @ .*Inference tensors cannot be saved",
          "PyTorch saves a copy of an inference tensor whose batch it folds, here it is refused"),
    Known("programs", "value", r"\[5\] PyTorch: RuntimeError: (new_fn INTERNAL ASSERT FAILED"
          r"|Tensor must have a last dimension with stride 1)",
          "PyTorch cannot make the node of a view of a modified complex tensor again"),
    Known("programs", "raises", r"(?s)\.data = .*(as_strided\(.*storage offset -?\d+.*out of bounds"
          r"|memory cannot be reached from here)",
          "data assigned to a base: the memory of its views is not reached"),
    Known("programs", "value", r"(?s)(expand|broadcast_to|autograd\.grad)\(.*median\(0\)",
          "PyTorch reads past the memory of an expanded tensor in median along a dimension",
          "not L.equal((x := L.tensor([0.5, 1.5, 2.5, -9, -9])[:3].expand(2, 3)).median(0)[0],"
          " x.contiguous().median(0)[0])"),
    Known("calls", "value", r"\.expand\((?s:.*)\n((nan)?median_?\n\[0\] ours|masked\.median\n)",
          "PyTorch reads past the memory of an expanded tensor in median along a dimension",
          "not L.equal((x := L.tensor([0.5, 1.5, 2.5, -9, -9])[:3].expand(2, 3)).nanmedian(0)[0],"
          " x.contiguous().nanmedian(0)[0])"),
    Known("calls", "value", r"\n(linalg\.)?cholesky_ex\n\[0\] ours.*\(nan/\w+(, nan/\w+)*\)$",
          "what a factorization leaves of a matrix that is not positive definite is not defined"),
    Known("calls", "value", r"\nlinalg\.cond\n.*\((number/inf|inf/number)\)$",
          "the condition number of a singular matrix is infinite, or a rounding error's inverse"),
    Known("calls", "value", r"1e\+30(?s:.*)\nlinalg\.cond\n.*\(number/number\)$",
          "a condition number beyond 1e16 is a rounding error's inverse"),
    Known("calls", "value", r"\ngradient of linalg\.cond\n.*\((inf/nan|nan/inf)(, \w+/\w+)*\)$",
          "the gradient of the condition number of a singular matrix"),
    Known("calls", "value", r":0\](?s:.*)\ngradient of linalg\.(cond|matrix_norm|norm)\n"
          r"ours \(\[True\], .*PyTorch \[False\]$",
          "PyTorch's condition numbers and norms of empty matrices have no history"),
    Known("calls", "value", r"layer_norm\((?s:.*)1e\+30(?s:.*)\(number/nan\)$",
          "the variance overflows: PyTorch's moments are nan, not infinite",
          "F.layer_norm(L.tensor([1e30, 1.0]), (2,)).isnan().all()"),
    Known("calls", "value", r"_polynomial_\w+\((?s:.*)nan(?s:.*)\(nan/number(, \w+/number)*\)$",
          "PyTorch's polynomials of NaN of a degree above 1 are memory that was never written",
          "L.special.laguerre_polynomial_l(L.tensor(nan), L.tensor(3.0)).isfinite()"),
    Known("calls", "value", r"_polynomial_\w+\((?s:.*)(1e\+30|inf)(?s:.*)"
          r"\((nan|inf)/(nan|number)(, \w+/number)*\)$",
          "PyTorch converts a degree of 1e30 or infinity to an int, which is undefined",
          "L.special.hermite_polynomial_h(L.ones(()), L.tensor(1e30)) == 0"),
    Known("calls", "value",
          r"\bcov\((?s:.*)\ngradient of cov\n\[1\] \[\d\] ours \[-?[\d.]+e-0[5-9]",
          "the gradients of the weights of two observations are 0, up to rounding errors"),
    Known("calls", "value",
          r"\.expand\((?s:.*)'nuc'(?s:.*)\ngradient of (linalg\.)?(matrix_)?norm\n",
          "the gradient of the nuclear norm of a singular matrix is not unique"),
    Known("calls", "value", r"(1e-30|0\.0)(?s:.*)\ngradient of nn\.functional\.cosine_similarity\n",
          "PyTorch's gradient of cosine_similarity is not that of its norms, which eps bounds",
          "(y := L.tensor([1e-9], requires_grad=True)) is not None and L.autograd.grad("
          "F.cosine_similarity(L.ones(1), y, 0), y)[0].item() < 0.95e8"),
    Known("calls", "value", r"(stack|flip|expand)(?s:.*)\ngradient of nn\.functional\.batch_norm\n",
          "PyTorch's gradient of batch_norm reads strided weights and variances as contiguous",
          "(v := L.tensor([1.0, 9.0, 4.0, 9.0])[::2]) is not None and (x := L.tensor([[1.0, 2.0],"
          " [3.0, 7.0]], requires_grad=True)) is not None and not L.equal(*(L.autograd.grad((F."
          "batch_norm(x, L.zeros(2), u) * x.detach()).sum(), x)[0] for u in (v, v.clone())))"),
    Known("programs", "raises", r"(?s)(v\d+)\.register_hook\(.*\1\.register_hook\(.*"
          r"returns multiple views",
          "PyTorch looks at the node of a modified view where its first hook is registered alone"),
    Known("programs", "value", r"(?s)inference_mode\(\): \w+ = [^\n]*requires_grad=True\)"
          r".*\[3\] ours True, PyTorch False$",
          "PyTorch does not record an operation whose tensors are all inference tensors",
          "not in_inference(lambda: L.ones(2, requires_grad=True)).exp().requires_grad"),
    Known("programs", "raises", r"(?s)inference_mode\(\): \w+ = [^\n]*requires_grad=True\)"
          r".*(Inference tensors cannot be saved|requires_grad flags of leaf)",
          "PyTorch does not record an operation whose tensors are all inference tensors",
          "not in_inference(lambda: L.ones(2, requires_grad=True)).exp().requires_grad"),
    Known("programs", "raises", r"(?s)inference_mode\(\): (\w+) = .*\.data = \1\b.*"
          r"Inference tensors cannot be saved",
          "PyTorch does not record an operation whose tensors are all inference tensors",
          "not in_inference(lambda: L.ones(2, requires_grad=True)).exp().requires_grad"),
    Known("programs", "raises", r"(?s)inference_mode\(\): x\.\w+_\(.*got a gradient of shape",
          "the gradient of a leaf that is reshaped in inference mode has its old shape in PyTorch",
          "[x := L.ones(3).expand(2, 3).requires_grad_(), y := x * 1, in_inference(lambda: x.t_()),"
          " y.sum().backward()] and x.grad.shape != x.shape"),
    Known("calls", "value", r"[\[ ][01]\.0[\],](?s:.*)float64(?s:.*)\ngradient of nn\.functional\."
          r"binary_cross_entropy\n.*\(number/number\)$",
          "PyTorch bounds the denominator of the gradient by 1e-12 as a float32",
          "(x := L.zeros(1, dtype=L.float64, requires_grad=True)) is not None and L.autograd.grad("
          "F.binary_cross_entropy(x, L.ones_like(x)), x)[0] != -1e12"),
    Known("calls", "value", r"float64(?s:.*)\ngradient of nn\.functional\.hardsigmoid\n",
          "PyTorch's gradient of hardsigmoid in float64 has 1/6 as a float32",
          "(x := L.zeros(1, dtype=L.float64, requires_grad=True)) is not None and"
          " L.autograd.grad(F.hardsigmoid(x), x)[0] != 1 / 6"),
    Known("calls", "value", r"(igammac|gammaincc)\((?s:.*)nan(?s:.*)\(nan/number\)$",
          "PyTorch's igammac(nan, 0) is 1",
          "L.igammac(L.tensor(nan), L.tensor(0.0)) == 1"),
    Known("calls", "raises", r":0\](?s:.*)\bcholesky\n.*must be batches of square matrices",
          "PyTorch's cholesky does not look at the sizes of a matrix without elements",
          "L.cholesky(L.zeros(5, 0)).shape == (5, 0)"),
    Known("calls", "value", r"lu_unpack\((?s:.*):0\]",
          "lu_unpack of sizes that do not belong together: PyTorch does not look",
          "L.lu_unpack(L.zeros(2, 3, 3), L.zeros(0, 3, dtype=L.int32))[0].shape[0] == 2"),
    Known("calls", "value", r"grid_sampler?(_3d)?\((?s:.*)nan(?s:.*)\((number/number|\w+/nan)\)$",
          "in three dimensions PyTorch takes a NaN coordinate for the last voxel, in two for the"
          " first pixel",
          "F.grid_sample(L.tensor([1.0, 2.0]).reshape(1, 1, 1, 1, 2), L.full((1, 1, 1, 1, 3), nan),"
          " padding_mode='border', align_corners=False) == 2"),
    Known("calls", "value", r"conv\w*\((?s:.*)b?float16(?s:.*)(inf|nan|e\+30)(?s:.*)"
          r"\((number|inf)/nan(, (number|inf)/nan)*\)$",
          "PyTorch's convolutions in 16 bits multiply infinite weights by places outside the input",
          "[c := lambda step, dtype: F.conv_transpose1d(L.ones(1, 1, 3, dtype=dtype), L.tensor([[["
          "inf, 1, 2]]], dtype=dtype), stride=step).isnan().any()] and any(c(step, L.bfloat16)"
          " > c(step, L.float32) for step in (1, 2))"),
    Known("calls", "value", r"conv\d\w*\((?s:.*)(inf|nan|e\+30)(?s:.*)"
          r"\(nan/(number|inf)(, nan/(number|inf))*\)$",
          "zeros of the padding times an infinite weight are nan, in PyTorch in float64 alone",
          "[c := lambda dtype: F.conv1d(L.ones(2, 1, 3, dtype=dtype), L.tensor([[[inf, 1, 1]]] * 2,"
          " dtype=dtype), padding=1)] and c(L.float64).isnan().any() > c(L.float32).isnan().any()"),
    Known("calls", "value", r"embedding_bag\((?s:.*)include_last_offset=True",
          "PyTorch's sums of float64 go to the end where the last offset does not, not of float32",
          "[bag := lambda dtype: F.embedding_bag(L.tensor([0, 1]), L.ones(2, 3, dtype=dtype), "
          "L.tensor([0, 0]), mode='sum', include_last_offset=True).sum()]"
          " and bag(L.float64) != bag(L.float32)"),
    Known("programs", "value", r"(?s)(\w+) = .*\.(mul|add|sub|div|copy)_\(.*\1\.retain_grad\(\)"
          r".*\n\1\n\[7\] ours [^\n]*, PyTorch None$",
          "PyTorch keeps no gradient of a view whose base was modified before retain_grad()",
          "[u := L.ones(2), v := u[:1], u.mul_(L.ones(2, requires_grad=True)), v.retain_grad(),"
          " v.sum().backward()] and v.grad is None"),
    Known("programs", "value", r"\[5\] PyTorch: .*out != nullptr INTERNAL ASSERT FAILED",
          "PyTorch fails where a view with a retained gradient is reshaped in place"),
    Known("calls", "value", r"\ngradient of (linalg\.)?(vector_)?norm\n.*\(number/nan\)$",
          "PyTorch's gradient of a norm of negative order is 0 * inf next to 0",
          "[a := L.tensor([1e-30, 1.0], requires_grad=True), a.norm(-2).backward()]"
          " and a.grad.isnan().any()"),
    Known("calls", "value", r"'nuc'(?s:.*)\ngradient of (linalg\.matrix_)?norm\n",
          "singular vectors of a singular value 0 have no sign"),
    Known("calls", "value", r"reshape\(\(\d+, 0\)\)(?s:.*)"
          r"\ngradient of lu_solve\n.*\(number/nan\)$",
          "PyTorch reads memory past an empty LU of a matrix that is not square"),
    # Deliberate.
    Known("programs", "value", r"(?s)\.data = .*\n\[4\] ours \d+, PyTorch \d+$",
          "data of another shape assigned to a base: versions of its views are counted apart"),
    Known("programs", "value", r"(?s)\.data = .*\nshared memory\n",
          "data assigned to a view or its base: the storage of a view is its base's here"),
    Known("programs", ".*", r"(?s)inference_mode.*(detach\(\)|\.data\b).*Inplace update to",
          "detach() of an inference tensor is one here; in PyTorch it counts versions anew"),
    Known("programs", "value", r"(?s)(detach\(\)|\.data\b).*Inference tensors do not track",
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
    Known("calls", "value", r"\bcomplex\((?s:.*)torch\.complex32", "there is no complex32"),
    Known("calls", "raises", r"(?s)(nan|inf|1e\+30).*(pinv|pinverse|norm|matrix_rank|cond|eigh"
          r"|eigvalsh)\b.*(failed to converge|non-finite)",
          "singular values of infinities: LAPACK raises, or returns nan, as it was built"),
    Known("calls", "value", r"linalg\.\w+\((?s:.*)(nan|inf|1e\+30)(?s:.*)"
          r"\((number|inf)/nan(, (number|inf)/(nan|inf))*\)$",
          "which elements of a matrix with infinities become nan depends on the LAPACK"),
    Known("calls", "value", r"householder_product\((?s:.*)(inf|nan|e\+30)(?s:.*)"
          r"\((inf|nan)/\w+(, (inf|nan)/\w+)*\)$",
          "infinities reach all columns of a product of reflections, in LAPACK those behind"),
    Known("calls", "value", r"cholesky_inverse\((?s:.*)(nan|inf|1e\+30)(?s:.*)"
          r"\(nan/\w+(, nan/\w+)*\)$",
          "which elements of a matrix with infinities become nan depends on the LAPACK"),
    Known("calls", "value", r"(stft|fft\.\w+|conv\w*)\((?s:.*)" + _INF_NAN,
          "infinities in products with a matrix or in a transform: their order of summation"),
    Known("calls", "value", r"bucketize\((?s:.*)\[[^\]]*nan[^\]]*\](?s:.*)\(number/number\)$",
          "nan among the boundaries lies after all numbers, as sort orders them",
          "L.bucketize(L.tensor(0.0), L.tensor([1.0, nan])) == 2"),
    Known("calls", "value", r"searchsorted\((?s:.*)\[[^\]]*nan[^\]]*\](?s:.*)\(number/number\)$",
          "nan among the boundaries lies after all numbers, as sort orders them",
          "L.searchsorted(L.tensor([1.0, nan]), L.tensor(0.0)) == 2"),
    Known("programs", "value", r"(?s)softmax\(0\).*std\(0\).*> 0",
          "whether a standard deviation is 0 or a rounding error"),
    Known("programs", "raises", r"(?s)(masked|index)_fill_.*one element of the written-to",
          "the gradient of what masked_fill_ writes to an expanded tensor is refused at the write,"
          " by PyTorch in the backward pass",
          "(y := L.ones(1, requires_grad=True) * 1) is not None and (z := y.expand(3).masked_fill_("
          "L.tensor([True, False, False]), 5.0)) is not None and raises(z.sum().backward)"),
    Known("programs", "raises",
          r"(?s)\.data = .*(got a gradient of shape|ValueError: cannot reshape array of size)",
          "data of another shape assigned to a view: its gradient does not fit its base"),
    Known("calls", "value", r"\bnormal\((?s:.*)out=L\.empty\(0, dtype=L\.complex",
          "random numbers in the dtype of the mean, where PyTorch draws complex ones"),
    Known("calls", "value", r"(?s)(?=.*\.mT)(?=.*multinomial\()(?!.*replacement=True)",
          "draws in row-major order, where PyTorch fills a strided tensor in the order of memory"),
    Known("calls", "value", r"\[:0\](?s:.*)gradient of block_diag",
          "PyTorch's gradient of block_diag ignores the row of an empty 1-d tensor",
          "[a := L.ones(1, requires_grad=True), (L.block_diag(L.ones(0), a) * L.tensor([[2.0], "
          "[3.0]])).sum().backward()] and a.grad.item() == 2"),
    Known("calls", "value", r"gradient of polar",
          "PyTorch's gradient of polar by a radius is 0 at 0, and has the wrong sign below 0",
          "[r := L.zeros(1, requires_grad=True), L.polar(r, L.zeros(1)).real.sum().backward()] "
          "and r.grad.item() == 0"),
    Known("calls", "value", r"\.expand\((?s:.*)gradient of stft",
          "PyTorch's stft reads an expanded signal by strides, so its gradient is the mean of all"),
    Known("programs", "value", r"complex(?s:.*)\.std\((?s:.*)\(number/nan\)$",
          "PyTorch multiplies a real summand by a complex 1, which makes both parts of NaN NaN"),
    Known("calls", "value", r"cholesky_inverse(?s:.*)complex",
          "a factor whose diagonal is not real is no factor of Cholesky's"),
    Known("calls", "raises", r"\bcholesky\((?s:.*)Expected out tensor to have dtype",
          "cholesky of real numbers writes to a complex out= in PyTorch"),
    Known("calls", "value", r"igammac?_?\((?s:.*)\(nan/number\)$",
          "P(NaN, 0) is NaN here and in SciPy, PyTorch looks at the 0 alone",
          "L.special.gammainc(L.tensor(nan), L.tensor(0.0)) == 0"),
    Known("calls", "raises", r"inner\((?s:.*)Expected out tensor to have dtype",
          "inner with a 0-d tensor writes to another dtype in PyTorch, as a product"),
    Known("calls", "value", r"float16(?s:.*)gradient of nn\.functional\.normalize",
          "gradients of a quotient that is ±1 are 0 but for rounding errors, in half precision"),
    Known("programs", "value", r"\.exp(?s:.*)\.exp(?s:.*)\.(sin|cos|tan)_?\(",
          "the sine of a large number has the error of the number"),
    Known("programs", "value", r"\.ravel\(\)(?s:.*)requires_grad_\((?s:.*)\[3\] ours True, PyTorch"
          " False$",
          "what ravel copies is a tensor here, in PyTorch a view of a copy that has no name",
          "L.ones(2, 3).t().ravel()._is_view()"),
    Known("programs", "raises", r"conj\(\)(?s:.*)inference_mode\(\): (\w+) = \w+\.ravel\(\)"
          r"(?s:.*)\1\.requires_grad_\(\)", "ravel of a lazily conjugated tensor copies it here"),
    Known("calls", "value", r"\bnormal\((?s:.*)float16(?s:.*)out=L\.empty\(0, dtype=L\.float",
          "random numbers in the dtype of the mean, where PyTorch draws in that of out="),
    Known("calls", "raises", r"logsumexp\((?s:.*)Complex\w+ can't be cast to the desired output",
          "logsumexp of complex numbers drops the imaginary part in a real out= of PyTorch"),
    Known("programs", "raises", r"\.data = (?s:.*)Mismatch in shape: grad_output",
          "the gradient of a tensor whose data was replaced has the shape of the new data here"),
    Known("calls|programs", "raises", r"as_strided(?s:.*)out of bounds for storage of size 0",
          "NumPy forgets where an empty slice begins: a window that starts there is refused rather"
          " than read from another place"),
]  # fmt: skip


def reason(source: str, lines: list[str], found: Any) -> str | None:
    """Reason for which a difference is known, or None."""
    if found.kind == "accepts":
        return "accepted here, refused by PyTorch"
    text = "\n".join((*lines, found.where, found.text))
    for known in KNOWN:
        of_source = re.fullmatch(known.source, source)
        of_kind = of_source and re.fullmatch(known.kind, found.kind)
        if of_kind and re.search(known.pattern, text):
            return known.reason
    return None
