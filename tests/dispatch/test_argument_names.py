"""Arguments by PyTorch's own names and other spellings; factors that are complex numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import tinytorch as tt
from tests.calls import words
from tests.oracles import assert_all_close
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS, Op

Call = Callable[..., Any]

#: What PyTorch's functions call a matrix is not what its documentation calls it.
KEYWORDS: dict[str, Call] = {
    "cholesky_solve": lambda m, a: m.cholesky_solve(input=a, input2=a),
    "cholesky_inverse": lambda m, a: m.cholesky_inverse(input=a),
    "vector_norm": lambda m, a: m.linalg.vector_norm(input=a),
    "matrix_norm": lambda m, a: m.linalg.matrix_norm(input=a),
    "norm": lambda m, a: m.linalg.norm(input=a),
    "eigh": lambda m, a: m.linalg.eigh(input=a).eigenvalues,
    "eigvalsh": lambda m, a: m.linalg.eigvalsh(input=a),
    "matrix_rank": lambda m, a: m.linalg.matrix_rank(input=a),
    "pinv": lambda m, a: m.linalg.pinv(input=a),
    "cond": lambda m, a: m.linalg.cond(input=a),
    "ldl_factor": lambda m, a: m.linalg.ldl_factor(input=a).LD,
    "householder_product": lambda m, a: m.linalg.householder_product(input=a, tau=a[0]),
    "lstsq": lambda m, a: m.linalg.lstsq(input=a, b=a).solution,
    "solve_triangular": lambda m, a: m.linalg.solve_triangular(input=a, B=a, upper=True),
    "tensorsolve": lambda m, a: m.linalg.tensorsolve(input=a, other=a[0]),
    "tensorinv": lambda m, a: m.linalg.tensorinv(input=a, ind=1),
    "ormqr": lambda m, a: m.ormqr(input=a, input2=a[0], input3=a),
    "tensor_split by number": lambda m, a: m.tensor_split(a, sections=2),
    "tensor_split by indices": lambda m, a: m.tensor_split(a, indices=[1], dim=1),
    "hsplit": lambda m, a: m.hsplit(a, sections=2),
    "vsplit": lambda m, a: m.vsplit(a, indices=[1]),
    "split": lambda m, a: m.split(tensor=a, split_size_or_sections=1),
    "one_hot": lambda m, a: m.nn.functional.one_hot(input=m.tensor([1])),
    "legendre_polynomial_p": lambda m, a: m.special.legendre_polynomial_p(x=a, n=2),
    "isin": lambda m, a: m.isin(element=1, test_elements=a),
    "isin of a number": lambda m, a: m.isin(a, test_element=2),
    "dropout": lambda m, a: m.dropout(a, p=0.5, train=False),
    "resize_as_": lambda m, a: a.clone().resize_as_(the_template=a[0]),
    "swapaxes": lambda m, a: m.swapaxes(a[None], axis0=0, axis1=2),
    "swapaxes back": lambda m, a: m.swapaxes(a[None], axis0=2, axis1=1),
    "avg_pool2d": lambda m, a: m.nn.functional.avg_pool2d(a[None], 2, out=a.new_zeros(1, 1, 1)),
    "avg_pool3d": lambda m, a: m.nn.functional.avg_pool3d(
        a[None, None], 1, out=a.new_zeros(1, 1, 2, 2)
    ),
    "gradient": lambda m, a: m.gradient(a, spacing=[2.0, 3.0], axis=(0, 1)),
    "gradient along one": lambda m, a: m.gradient(a, spacing=2.0, axis=1, edge_order=1),
    "max along dim": lambda m, a: m.max(a, dim=1, keepdims=True),
    "min along dim": lambda m, a: a.min(dim=0, keepdims=False),
    "median along dim": lambda m, a: m.median(a, dim=1, keepdims=True),
    "nanmedian along dim": lambda m, a: a.nanmedian(dim=1, keepdims=True),
    "var along dim": lambda m, a: m.var(a, dim=1, keepdims=True),
    "std along dim": lambda m, a: a.std(dim=0, keepdims=True, correction=0),
}  # fmt: skip


def matrix(library: Any) -> Any:
    return library.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=library.float64)


@pytest.mark.parametrize("name", KEYWORDS)
def test_a_call_by_keyword_that_pytorch_accepts_is_accepted(torch: Any, name: str) -> None:
    assert_all_close(KEYWORDS[name](tt, matrix(tt)), KEYWORDS[name](torch, matrix(torch)))


def test_dim_and_axis_are_the_same_argument() -> None:
    with pytest.raises(TypeError, match="both 'dim' and 'axis'"):
        matrix(tt).max(dim=0, axis=1)


def test_numpys_sort_along_pytorchs_dim() -> None:
    a = tt.tensor([[3, 1], [2, 4]])
    assert tt.sort(a, dim=0, kind="stable").tolist() == [[2, 1], [3, 4]]


FACTORS: dict[str, Call] = {
    "addmm": lambda m, a, factor: m.addmm(a, a, a, alpha=factor),
    "addmm of ints": lambda m, a, factor: m.addmm(a.long(), a.long(), a.long(), beta=factor),
    "addmv": lambda m, a, factor: m.addmv(a[0], a, a[0], beta=factor),
    "addr": lambda m, a, factor: m.addr(a, a[0], a[0], beta=factor, alpha=factor),
    "baddbmm": lambda m, a, factor: m.baddbmm(a[None], a[None], a[None], alpha=factor),
    "addcmul": lambda m, a, factor: m.addcmul(a, a, a, value=factor),
    "addcdiv": lambda m, a, factor: m.addcdiv(a, a, a, value=factor),
    "lerp": lambda m, a, factor: m.lerp(a, a + 1, factor),
}


@pytest.mark.parametrize("name", FACTORS)
def test_complex_factors_of_real_tensors_are_real(torch: Any, name: str) -> None:
    assert_all_close(
        FACTORS[name](tt, matrix(tt), 2 + 0j), FACTORS[name](torch, matrix(torch), 2 + 0j)
    )
    for library in (tt, torch):
        with pytest.raises(RuntimeError, match="without overflow"):
            FACTORS[name](library, matrix(library), 2j)


registry.load_all()


def has_own_keywords(op: Op) -> bool:
    """Whether the function itself names each keyword that it accepts."""
    return op.public and not (op.body is not None and op.body.__code__.co_flags & 0x08)


@pytest.mark.parametrize("name", sorted(name for name, op in OPS.items() if has_own_keywords(op)))
def test_an_unknown_keyword_names_the_nearest_one(name: str) -> None:
    function = OPS[name].function
    keywords = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and len(p.name) > 4
    ]
    for keyword in keywords[-2:]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}x'") as caught:
            function(**{f"{keyword}x": 1})
        assert f"Did you mean '{keyword}'?" in str(caught.value)


@pytest.mark.parametrize("call", [
    lambda x: tt.zeros_like(x, dtyp=1), lambda x: x.new_zeros(2, dtyp=1),
    lambda x: tt.zeros(3, dtyp=1), lambda x: tt.tril_indices(2, 2, dtyp=1), lambda x: x.to(dtyp=1),
])  # fmt: skip
def test_a_keyword_that_is_passed_on_names_the_nearest_one(call: Call) -> None:
    with pytest.raises(TypeError, match="'dtyp'. Did you mean 'dtype'?"):
        call(tt.ones(2))


class TwoFactors(tt.nn.Module):
    def forward(self, first: Any, second: Any = 1) -> Any:
        return first * second


@pytest.mark.parametrize(("call", "nearest"), [
    (lambda: tt.nn.Linear(2, 3, bais=True), "bias"),
    (lambda: tt.nn.ReLU(inplce=True), "inplace"),
    (lambda: tt.nn.GRU(2, 3, num_layer=2), "num_layers"),
    (lambda: tt.nn.Linear(2, 3)(inpt=tt.ones(2)), "input"),
    (lambda: TwoFactors()(1, secnd=2), "second"),
    (lambda: tt.nn.Linear(2, 3).load_state_dict({}, strct=False), "strict"),
    (lambda: tt.nn.utils.clip_grad_norm_([], maxnorm=1), "max_norm"),
    (lambda: tt.optim.Adam([tt.ones(1)], weightdecay=0.9), "weight_decay"),
    (lambda: tt.optim.lr_scheduler.StepLR(None, stepsize=3), "step_size"),
    (lambda: tt.utils.data.DataLoader([1], batchsize=2), "batch_size"),
    (lambda: tt.distributions.Normal(0, 1, validate_arg=True), "validate_args"),
    (lambda: tt.nn.functional.one_hot(tt.tensor([1]), num_class=2), "num_classes"),
    (lambda: tt.nn.functional.multi_head_attention_forward(querry=1), "query"),
    (lambda: tt.ones(1).backward(retain_grap=True), "retain_graph"),
    (lambda: tt.autograd.grad(tt.ones(1), tt.ones(1), create_grph=True), "create_graph"),
    (lambda: tt.func.vmap(abs, in_dim=0), "in_dims"),
], ids=words)  # fmt: skip
def test_an_unknown_keyword_of_what_is_no_operation_names_the_nearest_one(
    call: Call, nearest: str
) -> None:
    with pytest.raises(TypeError, match=f"keyword argument .*Did you mean '{nearest}'?"):
        call()


def test_an_unknown_keyword_of_a_function_that_is_called_back_is_left_alone() -> None:
    with pytest.raises(TypeError, match="argument 'in_dim'$"):
        tt.func.vmap(lambda x: TwoFactors().forward(x, in_dim=1))(tt.ones(2))
