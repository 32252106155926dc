"""What a wrong use raises: the type, and a text with operation, argument, shapes, what to do."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS
from tinytorch.dispatch.operation import REQUIRED, Op

F = tt.nn.functional


def ones(*shape: int, **options: Any) -> tt.Tensor:
    return tt.ones(*shape, **options)


# name: (what is done, exception, phrases its text holds)
CASES: dict[str, tuple[Callable[[], Any], type[Exception], tuple[str, ...]]] = {
    "shapes do not broadcast": (
        lambda: ones(2, 3) + ones(4),
        RuntimeError,
        ("add", "The size of tensor a (3) must match the size of tensor b (4)",
         "non-singleton dimension 1", "[2, 3] and [4]"),
    ),
    "inner sizes differ": (
        lambda: ones(2, 3) @ ones(2, 3),
        RuntimeError,
        ("matmul", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)", "[2, 3] and [2, 3]"),
    ),
    "linear gets other features": (
        lambda: F.linear(ones(4, 5), ones(2, 3)),
        RuntimeError,
        ("linear", "cannot be multiplied (4x5 and 3x2)", "expected input of shape (*, 3)",
         "got [4, 5]"),
    ),
    "dtypes of a product differ": (
        lambda: ones(2, 2) @ ones(2, 2, dtype=tt.float64),
        RuntimeError,
        ("matmul", "same dtype", "float32 != float64"),
    ),
    "result does not fit in place": (
        lambda: ones(2, dtype=tt.int64).mul_(0.5),
        RuntimeError,
        ("mul_", "result type Float can't be cast to the desired output type Long"),
    ),
    "reshape to another count": (
        lambda: ones(6).reshape(4, 2),
        RuntimeError,
        ("shape '[4, 2]' is invalid for input of size 6",),
    ),
    "no such dimension": (
        lambda: ones(2, 3).sum(2),
        IndexError,
        ("sum", "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
    ),
    "index out of range": (
        lambda: ones(2, 3)[5],
        IndexError,
        ("index 5 is out of bounds for dimension 0 with size 2",),
    ),
    "too many indices": (
        lambda: ones(2)[0, 0],
        IndexError,
        ("too many indices for tensor of dimension 1",),
    ),
    "index of a number": (
        lambda: tt.tensor(3)[0],
        IndexError,
        ("invalid index of a 0-dim tensor", "tensor.item()"),
    ),
    "too many dims to permute": (
        lambda: ones(2).permute(0, 1),
        RuntimeError,
        ("permute", "input.dim() = 1 is not equal to len(dims) = 2"),
    ),
    "index tensor out of range": (
        lambda: ones(2)[tt.tensor([0, 7])],
        IndexError,
        ("index 7 is out of bounds for dimension 0 with size 2",),
    ),
    "embedding index out of range": (
        lambda: F.embedding(tt.tensor([3]), ones(3, 2)),
        IndexError,
        ("embedding", "index out of range in self", "index 3", "size 3"),
    ),
    "None for a tensor": (
        lambda: F.linear(ones(2, 2), None),
        TypeError,
        ("linear(): argument 'weight' (position 2) must be Tensor, not NoneType",),
    ),
    "cat of other sizes": (
        lambda: tt.cat([ones(2, 3), ones(2, 4)]),
        RuntimeError,
        ("cat", "Sizes of tensors must match except in dimension 0",
         "Expected size 3 but got size 4", "tensor number 1"),
    ),
    "not a tensor": (
        lambda: tt.sin("x"),
        TypeError,
        ("sin(): argument 'input' (position 1) must be Tensor, not str",),
    ),
    "unknown keyword": (
        lambda: tt.sum(ones(2), dimension=0),
        TypeError,
        ("sum() got an unexpected keyword argument 'dimension'",),
    ),
    "operator with a string": (
        lambda: ones(2) + "x",
        TypeError,
        ("unsupported operand type(s) for +: 'Tensor' and 'str'",),
    ),
    "backward without grad": (
        lambda: ones(()).backward(),
        RuntimeError,
        ("element 0 of tensors does not require grad and does not have a grad_fn",),
    ),
    "numpy of what requires grad": (
        lambda: ones(2, requires_grad=True).numpy(),
        RuntimeError,
        ("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead",),
    ),
    "truth of many elements": (
        lambda: bool(ones(2)),
        RuntimeError,
        ("Boolean value of Tensor with more than one value is ambiguous",),
    ),
    "item of many elements": (
        lambda: ones(2).item(),
        RuntimeError,
        ("a Tensor with 2 elements cannot be converted to Scalar",),
    ),
    "unknown device": (
        lambda: ones(2).to("float33"),
        RuntimeError,
        ("Expected one of cpu, cuda", "device type at start of device string: float33"),
    ),
    "unknown dtype argument": (
        lambda: tt.zeros(2, dtype="float33"),
        TypeError,
        ("float33", "float32"),
    ),
    "unknown backend": (
        lambda: tt.set_backend("numpyy"),
        ValueError,
        ("numpyy", "numpy"),
    ),
    "unknown backend argument": (
        lambda: tt.zeros(2, backend="numpyy"),
        ValueError,
        ("numpyy", "numpy"),
    ),
    "negative size": (
        lambda: tt.zeros(2, -1),
        RuntimeError,
        ("zeros", "negative dimension -1"),
    ),
    "missing state": (
        lambda: tt.nn.Linear(2, 2).load_state_dict({}),
        RuntimeError,
        ("Error(s) in loading state_dict for Linear",
         'Missing key(s) in state_dict: "weight", "bias"'),
    ),
    "bad learning rate": (
        lambda: tt.optim.SGD(tt.nn.Linear(2, 2).parameters(), lr=-1),
        ValueError,
        ("Invalid learning rate: -1",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_wrong_use_says_what_is_wrong(name: str) -> None:
    action, exception, phrases = CASES[name]
    with pytest.raises(exception) as info:
        action()
    missing = [phrase for phrase in phrases if phrase not in str(info.value)]
    assert not missing, f"{info.value} lacks {missing}"


@pytest.mark.parametrize("name", [n for n in CASES if "backend" not in n])
def test_pytorch_raises_the_same_exception_class(torch: Any, name: str) -> None:
    action, exception, _ = CASES[name]
    program = action.__code__
    environment = {
        "__builtins__": __builtins__, "tt": torch, "F": torch.nn.functional, "ones": torch.ones,
    }  # fmt: skip
    with pytest.raises(exception):
        type(action)(program, environment)()


def test_error_for_mixed_backends_names_the_operation_its_arguments_and_their_backends() -> None:
    tt.register_backend("strict", "strictcupy.backend:StrictBackend")
    x = tt.ones(2, backend="numpy")
    y = tt.ones(2, backend="strict")
    with pytest.raises(RuntimeError) as info:
        tt.mul(x, y)
    text = str(info.value)
    assert "mul" in text and "Expected all tensors to be on the same device" in text
    assert "found at least two devices, numpy (cpu) and strict (" in text
    assert "'input' is on backend 'numpy'" in text and "'other' on backend 'strict'" in text


def test_errors_name_what_was_called_not_what_it_calls() -> None:
    tt.register_backend("strict", "strictcupy.backend:StrictBackend")
    x, y = tt.ones(2, backend="numpy"), tt.ones(2, backend="strict")
    with pytest.raises(RuntimeError, match=r"^mse_loss\(\): Expected all tensors to be"):
        F.mse_loss(x, y)


def test_number_tensors_of_the_cpu_go_with_any_backend() -> None:
    tt.register_backend("strict", "strictcupy.backend:StrictBackend")
    x = tt.ones(2, backend="strict")
    out = x * tt.tensor(3.0, backend="numpy")
    assert out.backend.name == "strict"
    assert out.tolist() == [3.0, 3.0]


def test_failed_operation_leaves_no_trace() -> None:
    x = ones(2, 3)
    before = (x.tolist(), x._version, tt.get_backend(), tt.is_grad_enabled())
    for action, exception, _ in CASES.values():
        with pytest.raises(exception):
            action()
    assert (x.tolist(), x._version, tt.get_backend(), tt.is_grad_enabled()) == before


registry.load_all()

#: What does not look at its tensor when called as below, or at something else first.
INDIFFERENT = """
    conj imag index_reduce is_conj is_neg is_nonzero linalg.multi_dot nn.functional.alpha_dropout
    nn.functional.feature_alpha_dropout real resolve_conj resolve_neg scatter_reduce to
    Tensor.conjugate Tensor.cuda Tensor.is_meta Tensor.is_quantized Tensor.is_sparse
    Tensor.sparse_dim Tensor.to_dense
""".split()

#: Families of what is refused, or answered, whatever the argument is.
OF_ONE_ANSWER = ("tinytorch.ops.linalg.deprecated", "tinytorch.ops.create.unsupported_layouts")


def looks_at_tensors(name: str, op: Op) -> bool:
    family = inspect.unwrap(op.function).__module__
    return bool(op.plan.tensors) and name not in INDIFFERENT and family not in OF_ONE_ANSWER


def text_for_tensors(op: Op) -> tuple[list[Any], dict[str, Any]]:
    """Arguments of which every tensor is a text; what else is needed is True or 1."""
    values = []
    for i, default in enumerate(op.plan.defaults):
        tensor = ["text"] if i == op.plan.sequence else "text"
        needed: Any = True if op.annotations.get(op.plan.params[i]) == "bool" else 1
        values.append(
            tensor if i in op.plan.tensors else needed if default is REQUIRED else default
        )
    return values[: op.plan.positional], dict(
        zip(op.plan.params[op.plan.positional :], values[op.plan.positional :], strict=True)
    )


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize(
    "name", [k for k, op in OPS.items() if op.public and looks_at_tensors(k, op)]
)
def test_a_string_in_place_of_a_tensor_is_refused(name: str) -> None:
    op = OPS[name]
    args, options = text_for_tensors(op)
    with pytest.raises(TypeError, match=r"must be (tuple of )?Tensor|expected Tensor") as info:
        op.function(*args, **options)
    assert str(info.value).startswith(f"{op.name}(): ")
