"""Random programs of views, in-place changes, scopes, hooks and backward passes.

A program is a list of lines, executed with ``L`` as the library. After each line the error is
compared, at the end every tensor: values, dtype, strides, version, leaf, gradient, shared memory.
"""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from typing import Any

from tests.fuzz.compare import Difference, CaughtError, difference_of, error_of, error_within_limit

VIEWS = """
    {a}[0] | {a}[1:] | {a}[:, 0] | {a}[::2] | {a}.t() | {a}.mT | {a}.view(-1) | {a}.reshape(-1)
    {a}.unsqueeze(0) | {a}.squeeze() | {a}.transpose(0, -1) | {a}.expand(2, 3) | {a}.diagonal()
    {a}.narrow(0, 0, 1) | {a}.select(0, 1) | {a}[..., 1:] | {a}[None] | {a}.unbind()[0]
    {a}.split(1)[0] | {a}.chunk(2)[1] | {a}.detach() | {a}.view_as({a}) | {a}.swapaxes(0, -1)
    {a}.movedim(0, -1) | {a}.data | {a}[:] | {a}.contiguous() | {a}.flatten() | {a}.real
    {a}.unfold(0, 2, 1) | {a}.as_strided((2,), (1,)) | {a}.tensor_split(2)[0] | {a}.ravel()
    {a}.permute(*reversed(range({a}.dim()))) | {a}.view(2, -1) | {a}.unflatten(0, (1, -1))
    L.view_as_complex({a}) | {a}.conj() | {a}.imag | L.view_as_real({a}) | {a}.broadcast_to(2, 3)
"""
CHANGES = """
    {a}.mul_(2) | {a}.add_({b}) | {a}.mul_({b}) | {a}.copy_({b}) | {a}.zero_() | {a}.fill_(3)
    {a}.exp_() | {a}.sin_() | {a}[0] = 5 | {a}[0] = {b} | {a}[:] = {b} | {a}[{a} > 1] = 0
    {a} += {b} | {a} -= 1 | {a}.sub_({b}) | {a}.masked_fill_({a} > 1, 2.0) | {a}.clamp_(0, 2)
    {a}.relu_() | {a}.neg_() | {a}.t_() | {a}.unsqueeze_(0) | {a}.squeeze_() | {a}.div_(2)
    {a}.transpose_(0, -1) | {a}.fill_({b}.sum()) | {a}[..., 0] += 1 | {a}.data.mul_(2)
    {a}.lerp_({b}, 0.5) | {a}.addcmul_({b}, {b}) | {a}.tanh_() | {a}.sigmoid_()
    {a}.requires_grad_() | {a}.detach_() | {a}.cumsum_(0) | {a}.index_fill_(0, L.tensor([0]), 2.0)
    {a}.requires_grad_(False) | {a}[L.tensor([0, 1])] = {b} | {a}.index_add_(0, L.tensor([0]), {b})
    {a}.scatter_(0, L.tensor([[0]]), 1.5) | {a}.swapaxes_(0, -1) | {a}.grad = None
    {a}.pow_(2) | {a}.sqrt_() | {a}.abs_() | {a}.data = {b}.detach()
    {a}.masked_scatter_({a} > 0, {b})
"""
RESULTS = """
    {a} * {b} | {a} + {b} | {a} * 2 | {a}.exp() | {a}.sin() + 1 | {a} ** 2 | {a}.clone()
    {a}.sum(0) | {a} * {a} | {a} / 3 | {a}.sum() * {b} | {a}.relu() | L.stack([{a}, {a}])
    {a}.mean() | L.cat([{a}.reshape(-1), {b}.reshape(-1)]) | {a}.float() | {a}.to(L.complex128)
    {a}.long() | {a}.half() | {a}.max(0)[0] | {a}.median(0)[0] | {a}.cumsum(0) | {a} @ {b}
    {a}.double() | {a}.sort(0)[0] | L.where({a} > 1, {a}, {b}) | {a}.softmax(0) | {a}.prod()
    {a}.index_select(0, L.tensor([0, 0])) | {a}.abs() | {a}.new_ones(2, requires_grad=True)
    {a}.grad | {a}.bfloat16() | L.zeros_like({a}) | {a}.std(0) | {a}.flip(0) | {a}.type_as({b})
"""
PASSES = """
    {a}.sum().backward() | {a}.sum().backward(retain_graph=True) | {a}.abs().sum().backward()
    ({a} * {b}).sum().backward() | {a}.sum().backward(create_graph=True) | {a}.retain_grad()
    {a}.register_hook(lambda g: g * 2) | {a}.pow(2).sum().backward(inputs=[x]) | x.grad.mul_(2)
    {a}.backward({a}.detach()) | {a}.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(2))
    {n} = L.autograd.grad({a}.sum(), {b}, create_graph=True)[0] | x.grad.zero_() | x.grad = None
    {n} = L.autograd.grad(({a} ** 2).sum(), x, retain_graph=True, allow_unused=True)[0]
    {n} = L.autograd.grad({a}.sum(), x, materialize_grads=True)[0]
    {a}.grad_fn.register_hook(print)
"""
SCOPES = ("with L.no_grad(): ", "with L.enable_grad(): ", "with L.inference_mode(): ")
HEADS = (
    "x = L.tensor([[0.5, 1.5, 2.5], [-1.0, 0.7, 0.3]], dtype=L.float64, requires_grad=True)",
    "x = L.tensor([[1.5, 0.5], [-1.0, 0.7]], requires_grad=True)",
    "x = L.tensor([[1.5 + 1j, 0.5], [-1.0, 0.7 - 2j]], dtype=L.complex128, requires_grad=True)",
    "x = L.tensor([0.5, 1.5, 2.5], dtype=L.float64).expand(2, 3).requires_grad_()",
    "x = L.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=L.float64).t().requires_grad_()",
    "x = L.tensor(1.5, requires_grad=True)",
)


def choices(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", "|").split("|") if part.strip()]


KINDS = tuple(map(choices, (VIEWS, CHANGES, RESULTS, PASSES)))


def program(seed: int) -> list[str]:
    """Lines that begin with a leaf ``x``, a result ``y`` and a buffer ``u``."""
    r = random.Random(seed)
    lines = [r.choice(HEADS), "y = x * 1", "u = L.ones_like(x)"]
    names = ["x", "y", "u"]
    for _ in range(r.randint(5, 25)):
        a, b = r.choice(names[1:] if r.random() < 0.85 else names), r.choice(names)
        kind = r.choices(KINDS, (4, 4, 3, 1.2))[0]
        text, new = r.choice(kind), f"v{len(names)}"
        line = text.format(a=a, b=b, n=new)
        if kind in (KINDS[0], KINDS[2]):
            line = f"{new} = {line}"
        if line.startswith(new):
            names.append(new)
        lines.append(r.choice(SCOPES) + line if r.random() < 0.12 else line)
    return lines


def facts(library: Any, scope: dict[str, Any]) -> dict[str, Any]:
    """Properties of each tensor of a program to compare, and the groups that share memory."""
    tensors = {n: t for n, t in scope.items() if isinstance(t, library.Tensor)}
    found: dict[str, Any] = {}
    shared: dict[int, list[str]] = {}
    for name, t in tensors.items():
        version = error_of(lambda t=t: t._version)
        found[name] = [
            error_of(lambda t=t: t.detach().resolve_conj().resolve_neg().clone()),
            tuple(t.shape), str(t.dtype).rpartition(".")[2], error_of(lambda t=t: t.requires_grad),
            version, error_of(lambda t=t: t.is_leaf), strides(t),
            error_of(lambda t=t: t.grad),
        ]  # fmt: skip
        if t.numel():
            place = error_of(lambda t=t: t.untyped_storage().data_ptr())
            if isinstance(place, int):  # else it runs backwards through its memory
                shared.setdefault(place, []).append(name)
    found["shared memory"] = sorted(shared.values())
    return found


def narrowest(lines: list[str]) -> str:
    """The narrowest dtype that the numbers of a program have passed through."""
    text = "\n".join(lines)
    if re.search(r"\.(bfloat16|half)\(", text):
        return "bfloat16"
    return "float64" if "float64" in lines[0] and ".float()" not in text else "float32"


def strides(t: Any) -> Any:
    """The strides of dimensions that have more than one element."""
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1] if t.numel() else []


def execute(library: Any, lines: list[str]) -> Callable[[], Any]:
    """Return a function that executes one line more and returns its error, or None."""
    scope: dict[str, Any] = {"L": library, "print": lambda *_: None}
    rest = iter(lines)

    def step() -> Any:
        return error_within_limit(lambda: exec(next(rest), scope))

    step.scope = scope  # type: ignore[attr-defined]
    return step


def read_clones(lines: list[str]) -> list[str]:
    """Return the program with clones as the operands of its last line."""
    head, sign, rest = re.split(r"(_\(| = | [-+]= )", lines[-1] + " ", maxsplit=1)
    rest = re.sub(r"\b(v\d+|[xyu])\b(?!\.)", r"\1.clone()", rest)
    return [*lines[:-1], head + sign + rest.strip()]


def reads_what_it_wrote(libraries: tuple[Any, Any], lines: list[str]) -> bool:
    """Whether PyTorch gives our result if the last line, in place, is given clones."""
    if not re.search(r"_\(|\] = | [-+]= ", lines[-1]):
        return False
    return compare(libraries, lines, read_clones(lines)) is None


def writes_to_the_given_gradient(libraries: tuple[Any, Any], lines: list[str]) -> bool:
    """Whether the difference goes away if ``backward`` is given a copy of a tensor's memory.

    PyTorch makes the gradient that it is given the ``grad`` of a leaf, and adds the next one to it.
    """
    copied = [re.sub(r"(backward\(\w+\.detach\(\))\)", r"\1.clone())", line) for line in lines]
    return copied != lines and compare(libraries, copied) is None


def reshapes_a_result(torch: Any, lines: list[str]) -> bool:
    """Whether data of another shape is assigned to a tensor that an operation computed.

    The gradient of that operation is then that of no function of its inputs.
    """
    step = execute(torch, lines)
    scope = step.scope  # type: ignore[attr-defined]
    for line in lines:
        found = re.match(r"(?:with .*?: )?(v\d+|[yu])\.data = (\w+)", line)
        if found and {*found.groups()} <= scope.keys():
            target, data = scope[found[1]], scope[found[2]]
            if target.grad_fn is not None and target.shape != data.shape:
                return True
        step()
    return False


def writes_an_element_twice(torch: Any, lines: list[str]) -> bool:
    """Whether a line writes to a tensor two elements of which share memory."""
    step = execute(torch, lines)
    for line in lines:
        found = re.match(r"(?:with .*?: )?(v\d+|[xyu])\b.*?(_\(|\] = | [-+]= )", line)
        target = found and step.scope.get(found[1])  # type: ignore[attr-defined]
        if isinstance(target, torch.Tensor) and _overlaps(torch, target):
            return True
        step()
    return False


def _overlaps(torch: Any, t: Any) -> bool:
    places = torch.zeros(t.shape, dtype=torch.int64)
    for dim, (size, stride) in enumerate(zip(t.shape, t.stride(), strict=True)):
        steps = torch.arange(size) * stride
        places += steps.reshape([-1 if at == dim else 1 for at in range(t.dim())])
    return bool(places.unique().numel() < t.numel())


def compare(
    libraries: tuple[Any, Any], lines: list[str], for_torch: list[str] | None = None
) -> Difference | None:
    """The first difference of a program, or None; PyTorch may execute another one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = execute(libraries[0], lines), execute(libraries[1], for_torch or lines)
        refused = []
        for line in lines:
            one, other = ours(), theirs()
            found = difference_of(one, other, f"after {line}")
            if found is not None:
                return found
            if isinstance(other, CaughtError):
                refused.append(line)
        scopes = ours.scope, theirs.scope  # type: ignore[attr-defined]
        one, other = (facts(lib, s) for lib, s in zip(libraries, scopes, strict=True))
        for name in other:
            found = difference_of(one.get(name), other[name], name, narrowest(lines))
            if found is not None:
                said = "".join(f" (both refuse {line})" for line in refused)
                return Difference(found.kind, found.where, found.text + said)
    return None
