"""``torch.utils.flop_counter``: counting the floating-point operations of products.

Example:
    >>> from tinytorch.utils.flop_counter import FlopCounterMode
    >>> with FlopCounterMode(display=False) as counter:
    ...     y = tt.nn.Linear(3, 4)(tt.ones(2, 3))
    >>> counter.get_total_flops()
    48
    >>> print(counter.get_table())
    Module           FLOP    % Total
    -------------  ------  ---------
    Linear             48    100.00%
     - aten.addmm      48    100.00%

A multiplication and an addition are two operations. A formula is a function with the arguments of a
counted function, which yields a ``FlopCount`` for each product of the call, under the name of
PyTorch's kernel.
"""

from __future__ import annotations

import inspect
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from ..core.tensor import Tensor
from ..nn.module.global_hooks import register_module_forward_hook, register_module_forward_pre_hook
from ..ops.linalg.einsum import from_sublists, label_sizes, make_plan
from ..overrides import TorchFunctionMode
from ..state.recorder import PROGRAM_MODULES
from ..warnings import warn
from .weak import WeakIdKeyDictionary


class FlopCount(NamedTuple):
    """Floating-point operations of one product.

    Attributes:
        name: Name of the kernel.
        flops: Number of operations.
        backward: Name of the kernel that computes its gradients.
        backward_flops: Number of operations for the gradients that are required.
    """

    name: str
    flops: int
    backward: str
    backward_flops: int


def _product(name: str, backward: str, flops: int, *factors: Tensor) -> FlopCount:
    """Count of a product, where the gradient of each factor costs as much as the product.

    Args:
        name: Name of the kernel.
        backward: Name of the kernel that computes the gradients.
        flops: Number of operations of the product.
        *factors: The factors; gradients are counted for those that require grad.
    """
    return FlopCount(name, flops, backward, flops * sum(each.requires_grad for each in factors))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Iterator[FlopCount]:
    """Formula of ``nn.functional.linear``: one product of all rows."""
    flops = 2 * input.numel() * (weight.shape[0] if weight.ndim == 2 else 1)
    yield _product("mm" if bias is None else "addmm", "mm", flops, input, weight)


def matmul(input: Tensor, other: Tensor, **_: Any) -> Iterator[FlopCount]:
    """Formula of ``matmul``, ``mm`` and ``bmm``; products with a vector on the right count 0."""
    if other.ndim < 2:
        return
    name = "bmm" if min(input.ndim, other.ndim) > 2 else "mm"
    rows = input.shape[-2] if input.ndim > 1 else 1
    batch = math.prod(_broadcast(input.shape[:-2], other.shape[:-2]))
    flops = 2 * batch * rows * other.shape[-2] * other.shape[-1]
    yield _product(name, name, flops, input, other)


def _broadcast(left: Sequence[int], right: Sequence[int]) -> list[int]:
    """Shape to which two shapes are broadcast; they are valid, since the call has returned."""
    size = max(len(left), len(right))
    pairs = zip((1,) * (size - len(left)) + tuple(left), (1,) * (size - len(right)) + tuple(right))
    return [b if a == 1 else a for a, b in pairs]


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, **_: Any) -> Iterator[FlopCount]:
    """Formula of ``addmm``."""
    for count in matmul(mat1, mat2):
        yield count._replace(name="addmm")


def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, **_: Any) -> Iterator[FlopCount]:
    """Formula of ``baddbmm``."""
    for count in matmul(batch1, batch2):
        yield count._replace(name="baddbmm")


def tensordot(a: Tensor, b: Tensor, *_: Any, out: Tensor, **__: Any) -> Iterator[FlopCount]:
    """Formula of ``tensordot``: one product of matrices."""
    if out.numel():
        contracted = math.isqrt(a.numel() * b.numel() // out.numel())
        yield _product("mm", "mm", 2 * out.numel() * contracted, a, b)


def convolution(
    input: Tensor, weight: Tensor, *_: Any, out: Tensor, **__: Any
) -> Iterator[FlopCount]:
    """Formula of ``conv1d``, ``conv2d`` and ``conv3d``: a window for each output element."""
    yield _convolution_work(input, weight, input, out)


def transposed_convolution(
    input: Tensor, weight: Tensor, *_: Any, out: Tensor, **__: Any
) -> Iterator[FlopCount]:
    """Formula of ``conv_transpose1d``, ``2d`` and ``3d``: a window for each input element."""
    yield _convolution_work(input, weight, out, input)


def _convolution_work(input: Tensor, weight: Tensor, wide: Tensor, narrow: Tensor) -> FlopCount:
    """Count of a convolution or transposed convolution.

    As in PyTorch, the gradient of the weight counts all pairs of channels, even with groups.

    Args:
        input: Input of the call.
        weight: Weight of the call.
        wide: The tensor that has the windows: the input, or the output of a transposed convolution.
        narrow: The tensor with an element for each window: the output, or else the input.
    """
    batch = narrow.shape[0] if narrow.ndim == weight.ndim else 1
    windows = 2 * batch * math.prod(narrow.shape[2 - weight.ndim :])
    flops = windows * weight.numel()
    channels = narrow.shape[1 - weight.ndim] * wide.shape[1 - weight.ndim]
    weight_flops = windows * channels * math.prod(weight.shape[2:])
    gradients = flops * input.requires_grad + weight_flops * weight.requires_grad
    return FlopCount("convolution", flops, "convolution_backward", gradients)


def attention(query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any) -> Iterator[FlopCount]:
    """Formula of ``scaled_dot_product_attention``: two products, five in the backward pass.

    These are the gradients of both factors of each product, and the scores again.
    """
    name = "_scaled_dot_product_flash_attention"
    rows = 2 * math.prod(query.shape[:-1]) * key.shape[-2]
    scores, values = rows * query.shape[-1], rows * value.shape[-1]
    requires_grad = any(each.requires_grad for each in (query, key, value))
    backward_flops = (3 * scores + 2 * values) * requires_grad
    yield FlopCount(name, scores + values, f"{name}_backward", backward_flops)


def multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int,
    in_proj_weight: Tensor | None, in_proj_bias: Tensor | None, bias_k: Any, bias_v: Any,
    add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor, out_proj_bias: Tensor | None,
    *_: Any, q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None,
    need_weights: bool = True, **__: Any,
) -> Iterator[FlopCount]:  # fmt: skip
    """Formula of ``multi_head_attention_forward``: projections, attention, a projection."""
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    weights = separate if in_proj_weight is None else in_proj_weight.chunk(3)
    for input, weight in zip((query, key, value), weights, strict=True):
        yield from linear(input, weight, in_proj_bias)
    lengths = query.shape[0] * (key.shape[0] + (bias_k is not None) + add_zero_attn)
    batch = query.shape[1] if query.ndim == 3 else 1
    flops = 2 * batch * lengths * embed_dim_to_check
    requires_grad = any(each.requires_grad for each in (query, key, value, *weights))
    if need_weights:
        for _each in range(2):
            yield FlopCount("bmm", flops, "bmm", 2 * flops * requires_grad)
    else:
        name = "_scaled_dot_product_flash_attention"
        yield FlopCount(name, 2 * flops, f"{name}_backward", 5 * flops * requires_grad)
    flops = 2 * query.numel() * embed_dim_to_check
    gradients = flops * (requires_grad + out_proj_weight.requires_grad)
    yield FlopCount("mm" if out_proj_bias is None else "addmm", flops, "mm", gradients)


def einsum(equation: Any, *operands: Any) -> Iterator[FlopCount]:
    """Formula of ``einsum``: a batched product for each pair of operands that is contracted."""
    if not isinstance(equation, str):
        equation, given = from_sublists((equation, *operands))
        operands = tuple(given)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    shapes = tuple(tuple(each.shape) for each in operands)
    plan, sizes = make_plan(equation, shapes), label_sizes(equation, shapes)
    factors = list(operands)
    for i, j, left, right, product in plan.pairs:
        pair = [factors[i], factors[j]]
        factors = [each for k, each in enumerate(factors) if k not in (i, j)]
        factors.append(next((each for each in pair if each.requires_grad), pair[0]))
        if {*left} & {*right} - {*product}:
            flops = 2 * math.prod(sizes[label] for label in {*left, *right})
            yield _product("bmm", "bmm", flops, *pair)


FORMULAS: dict[str, Callable[..., Iterator[FlopCount]]] = {
    "linear": linear,
    **dict.fromkeys(("matmul", "mm", "bmm"), matmul),
    "addmm": addmm, "baddbmm": baddbmm, "tensordot": tensordot,
    **{f"conv{n}d": convolution for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": transposed_convolution for n in (1, 2, 3)},
    "scaled_dot_product_attention": attention,
    "multi_head_attention_forward": multi_head_attention,
    "einsum": einsum,
}  # fmt: skip


def call_flops(name: str, out: Any, args: Any, kwargs: dict[str, Any]) -> list[FlopCount]:
    """Counts of the products in a call of a function with a formula in ``FORMULAS``.

    Args:
        name: Name of the function.
        out: Result of the call.
        args: Positional arguments of the call.
        kwargs: Keyword arguments of the call.
    """
    formula = FORMULAS[name]
    options = {**kwargs, "out": out} if "out" in inspect.signature(formula).parameters else kwargs
    return list(formula(*args, **options))


__all__ = ["FlopCounterMode", "count_program", "register_flop_formula"]

F = TypeVar("F", bound=Callable[..., Any])
#: Formulas that programs have registered, by the operation's name.
_REGISTERED: dict[str, Callable[..., int]] = {}


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[F], F]:
    """Decorator that registers a function as the formula of an operation's FLOPs.

    Args:
        targets: The operation or a list of operations: functions, or operators such as
            ``ops.mylib.scale``.
        get_raw: Whether the formula gets tensors, and the result as ``out_val``; by default it
            gets shapes instead of tensors, and ``out_shape``.

    Example:
        >>> from tinytorch.utils.flop_counter import FlopCounterMode, register_flop_formula
        >>> @register_flop_formula(tt.cumsum)
        ... def cumsum_flop(shape, dim, out_shape=None):
        ...     return shape.numel()
        >>> with FlopCounterMode(display=False) as counter:
        ...     y = tt.cumsum(tt.ones(5), 0)
        >>> counter.get_total_flops()
        5
    """

    def register(formula: F) -> F:
        for target in targets if isinstance(targets, (list, tuple)) else [targets]:
            _REGISTERED[_target_name(target)] = formula if get_raw else _adapt_formula(formula)
        return formula

    return register


def _target_name(target: Any) -> str:
    """Name of an operation, without underscores at its ends."""
    name = getattr(target, "__name__", None)
    if name is None:
        raise ValueError(f"expected an operation or a function, got {target!r}")
    return str(name).strip("_")


def _adapt_formula(formula: Callable[..., int]) -> Callable[..., int]:
    """Convert a formula that accepts shapes to one that accepts tensors; see ``get_raw``."""

    def to_shape(value: Any) -> Any:
        return value.shape if isinstance(value, Tensor) else value

    def raw_formula(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        shapes = {name: to_shape(value) for name, value in kwargs.items()}
        return formula(*map(to_shape, args), out_shape=to_shape(out_val), **shapes)

    return raw_formula


class FlopCounterMode(TorchFunctionMode):
    """Mode that counts the FLOPs of products, convolutions and attention.

    It counts the public functions that a program or its modules call, and their gradients in
    backward passes. As in PyTorch, pointwise operations, sums and products with a vector are not
    counted. ``scaled_dot_product_attention`` is counted as by PyTorch on a GPU; on the CPU, PyTorch
    does not count it. Second derivatives are not counted.

    Args:
        mods: Ignored, with a warning.
        depth: Depth of modules in ``get_table``. Default: 2.
        display: Whether to print the table at the end. Default: True.
        custom_mapping: Formulas of further functions, by function; see
            ``register_flop_formula``.

    Example:
        >>> from tinytorch.utils.flop_counter import FlopCounterMode
        >>> model = tt.nn.Sequential(tt.nn.Linear(3, 4), tt.nn.ReLU())
        >>> with FlopCounterMode(depth=1) as counter:
        ...     model(tt.ones(2, 3)).sum().backward()
        Module           FLOP    % Total
        -------------  ------  ---------
        Sequential         96    100.00%
         - aten.addmm      48     50.00%
         - aten.mm         48     50.00%
        >>> counter.get_flop_counts()["Sequential.0"]
        {'aten.addmm': 48, 'aten.mm': 48}
        >>> counter.get_total_flops(), counter.get_table().count("aten")
        (96, 2)
    """

    def __init__(
        self, mods: Any = None, depth: int | None = 2, display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it")
        self.depth = depth
        self.display = display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        custom = (custom_mapping or {}).items()
        adapted = {_target_name(key): _adapt_formula(value) for key, value in custom}
        self._formulas = {**_REGISTERED, **adapted}
        self._modules = _ModuleNames()
        self._active = False

    def get_total_flops(self) -> int:
        """Total number of floating-point operations."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """FLOPs by module and operation; ``Global`` is the total of all modules."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Table of the counts, of modules to a depth, by default the mode's ``depth``."""
        depth = depth or self.depth or 999999
        total = self.get_total_flops()
        names = [name for name in sorted(self.flop_counts) if name.count(".") < depth]
        names = [name for name in names if name != "Global"]
        is_covered = any(sum(self.flop_counts[name].values()) >= total for name in names)
        rows = []
        for name in names if is_covered and names else ["Global", *names]:
            indent = " " * (name.count(".") + (not is_covered and name != "Global"))
            rows.append((indent + name, sum(self.flop_counts[name].values())))
            rows += [(f"{indent} - {op}", n) for op, n in self.flop_counts[name].items()]
        return _table(rows, total)

    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self._modules.watch()
        self._active = True
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._active = False
        self._modules.unwatch()
        if self.display:
            print(self.get_table())  # noqa: T201

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call a function, and count its FLOPs."""
        given = kwargs or {}
        out = func(*args, **given)
        self._count_call(func, out, args, given, self._modules.current())
        return out

    def _count_call(
        self, func: Any, out: Any, args: Any, kwargs: dict[str, Any], modules: set[str]
    ) -> None:
        """Add the FLOPs of a call to the counts of modules.

        Args:
            func: The function.
            out: Result of the call.
            args, kwargs: Arguments of the call.
            modules: Names of the modules.
        """
        name = str(getattr(func, "__name__", "")).strip("_")
        if name in self._formulas:
            flops = self._formulas[name](*args, out_val=out, **kwargs)
            self._count(modules, name, flops)
        elif name in FORMULAS:
            self._count_products(call_flops(name, out, args, kwargs), out, modules)

    def _count_products(self, products: list[FlopCount], out: Any, modules: set[str]) -> None:
        """Add the counts of a call's products to modules.

        The counts of the gradients are added when a backward pass visits the node of the result.

        Args:
            products: The counts.
            out: Result of the call.
            modules: Names of the modules.
        """
        for product in products:
            self._count(modules, f"aten.{product.name}", product.flops)
        result = out[0] if isinstance(out, tuple) else out
        if result.grad_fn is not None:
            result.grad_fn.register_prehook(lambda grads: self._count_backward(modules, products))

    def _count_backward(self, modules: set[str], products: list[FlopCount]) -> None:
        """Add the FLOPs of the backward pass of matrix products, if the mode is active.

        Args:
            modules: Names of the modules that ran when the products were computed.
            products: The counts of the products.
        """
        for product in products if self._active else ():
            if product.backward_flops:
                self._count(modules, f"aten.{product.backward}", product.backward_flops)

    def _count(self, modules: set[str], name: str, flops: int) -> None:
        """Add operations of a kernel to the counts of modules."""
        for module in modules:
            self.flop_counts[module][name] += flops


def count_program(
    program: Any, sizes: Mapping[str, int] | None = None, *, depth: int | None = 2,
    custom_mapping: dict[Any, Any] | None = None, values: dict[str, Tensor] | None = None,
) -> FlopCounterMode:  # fmt: skip
    """Count the FLOPs of an exported program by operation and module, without running it.

    The counts are those of ``FlopCounterMode`` in a call of the model, by the same formulas.

    Args:
        program: An ``ExportedProgram``.
        sizes: Sizes of its dynamic dimensions by name. Default: those of the example.
        depth, custom_mapping: See ``FlopCounterMode``.
        values: Dict to which a tensor without values is added for each tensor of the program, by
            the name of its slot.

    Returns:
        A ``FlopCounterMode`` with the counts, which is not active.

    Raises:
        ValueError: If ``sizes`` has other names, or a size in the program is unknown for them.

    Example:
        >>> from tinytorch.utils.flop_counter import count_program
        >>> model = tt.nn.Sequential(tt.nn.Linear(3, 4), tt.nn.ReLU())
        >>> program = tt.export.export(model, (tt.ones(2, 3),), dynamic_shapes=[{0: "batch"}])
        >>> count_program(program).get_flop_counts()["Sequential.0"]
        {'aten.addmm': 48}
        >>> count_program(program, {"batch": 100}).get_total_flops()
        2400
    """
    counter = FlopCounterMode(depth=depth, display=False, custom_mapping=custom_mapping)
    for step, modules, args, options, results in program.walk(sizes, values):
        out = results[0] if len(results) == 1 else tuple(results)
        counter._count_call(step.function, out, args, options, {"Global", *modules})
    return counter


class _ModuleNames:
    """Names of the modules whose ``forward`` is running, such as ``Sequential.0``."""

    def __init__(self) -> None:
        self._names = WeakIdKeyDictionary()
        self._entered = WeakIdKeyDictionary()
        self._running: list[str] = []
        self._handles: list[Any] = []

    def current(self) -> set[str]:
        """Names of the running modules, and ``"Global"``."""
        return {"Global", *self._running, *PROGRAM_MODULES.get()}

    def watch(self) -> None:
        """Register the hooks that are called before and after each ``forward``."""
        self._handles = [
            register_module_forward_pre_hook(self._enter),
            register_module_forward_hook(self._leave, always_call=True),
        ]

    def unwatch(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self._running.clear()

    def _enter(self, module: Any, args: Any) -> None:
        """Pre-hook: at a module's first call, name it and its submodules, as ``Sequential.0``."""
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._entered:
            self._entered[module] = True
            for path, part in module.named_modules(remove_duplicate=False):
                self._names[part] = f"{name}.{path}" if path else name
        self._running.append(name)

    def _leave(self, module: Any, args: Any, result: Any) -> None:
        self._running.pop()


def _table(rows: list[tuple[str, int]], total: int) -> str:
    """Table of counts with their shares of the total.

    Args:
        rows: Pairs of a name and its FLOPs.
        total: FLOPs that are 100 %; they determine the unit.
    """
    thousands = min(4, max(0, (len(str(total)) - 1) // 3))
    suffix, unit = ("", "K", "M", "B", "T")[thousands], 1000**thousands
    texts = [("Module", "FLOP", "% Total")]
    for name, flops in rows:
        number = f"{flops / unit:.3f}{suffix}" if suffix else str(flops)
        texts.append((name, number, f"{flops / total:.2%}" if total else "0%"))
    return _align(texts)


def _align(texts: list[tuple[str, str, str]]) -> str:
    """Align columns of text, the first to the left and the others to the right."""
    first, *others = (max(map(len, column)) for column in zip(*texts))
    others = [width + 2 for width in others]
    rule = "  ".join(["-" * first, *("-" * width for width in others)])
    lines = [
        "  ".join([name.ljust(first), *(t.rjust(w) for t, w in zip(rest, others, strict=True))])
        for name, *rest in texts
    ]
    return "\n".join([lines[0], rule, *lines[1:]])
