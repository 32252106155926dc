"""What ``vmap`` does beyond what the short programs compare."""

from __future__ import annotations

import threading
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import tinytorch as tt
from tinytorch.dispatch import registry
from tinytorch.dispatch.op import OPS
from tinytorch.func import functional_call, grad, stack_module_state, vmap


def test_control_flow_may_depend_on_data() -> None:
    """The absolute value by a branch, and item(): PyTorch refuses both."""
    x = tt.tensor([-1.0, 2.0, -3.0])
    assert vmap(lambda a: a if a > 0 else -a)(x).tolist() == [1.0, 2.0, 3.0]
    assert vmap(lambda a: tt.tensor(a.item() * 2))(x).tolist() == [-2.0, 4.0, -6.0]


def test_results_of_different_shapes_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"dynamic shape.*shape \[2, 1\] and \[3, 1\]"):
        vmap(lambda a: a.nonzero())(tt.arange(6.0).reshape(2, 3))
    with pytest.raises(RuntimeError, match="same structure for every example"):
        vmap(lambda a: (a, a) if a > 0 else a)(tt.tensor([1.0, -1.0]))


@pytest.mark.parametrize(
    "change",
    [
        lambda s, a: s.add_(a), lambda s, a: s.add_(1), lambda s, a: s.zero_(),
        lambda s, a: s.__setitem__(0, a[0]), lambda s, a: s[1:].mul_(a[1:]),
        lambda s, a: s.view(3, 1).squeeze(1).copy_(a), lambda s, a: s.detach().sub_(a),
        lambda s, a: s.data.fill_(7), lambda s, a: s.normal_(), lambda s, a: s.unsqueeze_(0),
        lambda s, a: s.resize_(1), lambda s, a: tt.add(a, 1, out=s),
        lambda s, a: s.index_add_(0, tt.tensor([0]), a[:1]),
    ],
)  # fmt: skip
def test_writing_to_a_tensor_from_outside_of_vmap_is_refused(change: Any) -> None:
    """The function runs for each example: their changes would add up."""
    s = tt.tensor([1.0, 2.0, 3.0])
    batch = tt.arange(6.0).reshape(2, 3)
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda a: (change(s, a), a)[1], randomness="different")(batch)
    assert s.tolist() == [1.0, 2.0, 3.0] and s._version == 0
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda a, s: (change(s, a), a)[1], (0, None), randomness="different")(batch, s)
    change(s, batch[0])  # outside it may be


def test_a_tensor_made_by_an_earlier_vmap_is_not_written_to(lib: Any) -> None:
    """As PyTorch has it: by then its tensors are as any other."""
    kept: list[Any] = []

    def keep(a: Any) -> Any:
        kept.append(lib.zeros(()))
        return a + kept[-1]

    def write(a: Any) -> Any:
        kept[0].add_(a)
        return a

    lib.func.vmap(keep)(lib.ones(2))
    with pytest.raises(RuntimeError):
        lib.func.vmap(write)(lib.ones(3))
    assert kept[0].item() == 0


def test_a_tensor_made_by_an_inner_vmap_can_be_written_to() -> None:
    kept: list[Any] = []

    def inner(a: Any) -> Any:
        kept.append(tt.zeros(()))
        return a

    def outer(row: Any) -> Any:
        vmap(inner)(row)
        return kept[-1].add_(row.sum())

    assert vmap(outer)(tt.arange(6.0).reshape(2, 3)).tolist() == [3.0, 12.0]


def test_running_statistics_are_not_written_to() -> None:
    mean, var = tt.zeros(3), tt.ones(3)
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda a: tt.nn.functional.batch_norm(a, mean, var, training=True))(tt.rand(2, 4, 3))
    assert mean.tolist() == [0.0] * 3 and var.tolist() == [1.0] * 3


def test_another_thread_may_write_meanwhile() -> None:
    started, done = threading.Event(), threading.Event()
    s = tt.zeros(1)

    def work() -> None:
        started.wait(300)
        s.add_(1)
        t = tt.ones(1)
        t.mul_(3)
        s.add_(t)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()

    def f(a: Any) -> Any:
        started.set()
        assert done.wait(300)
        return a.clone().add_(s)

    assert vmap(f)(tt.zeros(2, 1)).tolist() == [[4.0], [4.0]]
    thread.join()


def test_a_tensor_made_inside_of_vmap_is_an_ordinary_tensor_afterwards() -> None:
    kept = []
    vmap(lambda a: (kept.append(a * 2), a)[1])(tt.ones(2, 3))
    kept[0].add_(1)
    x = kept[1].requires_grad_()
    (x * kept[0]).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0, 3.0]
    assert vmap(lambda a: a.clone().detach().clone().add_(1))(kept[0]).tolist() == [4.0] * 3


def test_examples_of_leaves_that_require_grad_are_not_written_to() -> None:
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        vmap(lambda a: a.add_(1))(tt.ones(2, requires_grad=True))


def test_examples_written_in_place_have_gradients() -> None:
    """d/dx of 5 * 2 x is 10."""
    x = tt.tensor([1.0, 2.0], requires_grad=True)
    vmap(lambda a: a.mul_(2) * 5)(x * 1).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [10.0, 10.0]
    # Where a written example is saved, the next one's change is an error, never a wrong number.
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        vmap(lambda a: a.mul_(2) ** 2)(x * 1).sum().backward()


def test_the_generator_given_counts_as_random() -> None:
    generator = tt.Generator()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda a: tt.rand(2, generator=generator))(tt.ones(2))
    rows = vmap(lambda a: tt.rand(2, generator=generator), randomness="different")(tt.ones(2))
    assert rows[0].tolist() != rows[1].tolist()


def test_the_state_of_the_generator_is_no_random_number() -> None:
    """Checkpoints keep it, to draw the same numbers again."""
    checkpoint = tt.utils.checkpoint.checkpoint
    tt.manual_seed(0)
    wanted = tt.rand(2).tolist()
    tt.manual_seed(0)

    def f(a: Any) -> Any:
        tt.random.set_rng_state(tt.random.get_rng_state())
        return checkpoint(lambda b: b**3, a, use_reentrant=False)

    assert vmap(grad(f))(tt.tensor([1.0, 2.0])).tolist() == [3.0, 12.0]
    assert tt.func.hessian(f)(tt.tensor(2.0)).item() == 12.0
    assert tt.rand(2).tolist() == wanted


def test_the_generator_given_repeats_itself_as_the_default_does() -> None:
    """Inside another vmap as well, where the examples of the outer one differ or do not."""
    for outer in ("same", "different"):
        generator = tt.Generator().manual_seed(5)

        def draw(a: Any, generator: tt.Generator = generator) -> Any:
            inner = vmap(lambda b: tt.rand(2, generator=generator), randomness="same")
            return tt.cat([inner(a), tt.rand(1, 2, generator=generator)])

        rows = vmap(draw, randomness=outer)(tt.ones(2, 3))
        alone = tt.Generator().manual_seed(5)
        first, second, third, fourth = (tt.rand(2, generator=alone) for _ in range(4))
        assert rows[0].tolist() == [first.tolist()] * 3 + [second.tolist()]
        again = (first, second) if outer == "same" else (third, fourth)
        assert rows[1].tolist() == [again[0].tolist()] * 3 + [again[1].tolist()]


def test_the_generator_is_where_the_draws_left_it() -> None:
    for randomness in ("same", "different"):
        tt.manual_seed(3)
        vmap(lambda a: tt.randn(4), randomness=randomness)(tt.ones(2))
        after = tt.rand(1)
        tt.manual_seed(3)
        for _ in range(1 if randomness == "same" else 2):
            tt.randn(4)
        assert after.item() == tt.rand(1).item()


def test_a_vmapped_ensemble_trains_as_its_models_do() -> None:
    """One step of SGD on stacked parameters is a step on each model."""
    tt.manual_seed(0)
    models = [tt.nn.Sequential(tt.nn.Linear(3, 4), tt.nn.Tanh(), tt.nn.Linear(4, 1))
              for _ in range(3)]  # fmt: skip
    x, y = tt.randn(5, 3), tt.randn(5, 1)
    params, buffers = stack_module_state(models)

    def loss(params: Any, buffers: Any) -> Any:
        return ((functional_call(models[0], (params, buffers), (x,)) - y) ** 2).mean()

    optimizer = tt.optim.SGD(list(params.values()), lr=0.1)
    vmap(loss)(params, buffers).sum().backward()
    optimizer.step()
    for i, model in enumerate(models):
        alone = tt.optim.SGD(model.parameters(), lr=0.1)
        ((model(x) - y) ** 2).mean().backward()
        alone.step()
        for name, parameter in model.named_parameters():
            assert tt.allclose(params[name][i], parameter, atol=1e-6)


def test_per_sample_gradients_add_up_to_the_batchs() -> None:
    tt.manual_seed(0)
    net = tt.nn.Sequential(tt.nn.Conv2d(1, 2, 3), tt.nn.ReLU(), tt.nn.Flatten(), tt.nn.Linear(8, 3))
    params = {name: p.detach() for name, p in net.named_parameters()}
    x, y = tt.randn(4, 1, 4, 4), tt.tensor([0, 1, 2, 0])

    def loss(params: Any, x: Any, y: Any) -> Any:
        scores = functional_call(net, params, (x[None],))
        return tt.nn.functional.cross_entropy(scores, y[None])

    each = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
    tt.nn.functional.cross_entropy(net(x), y).backward()
    for name, parameter in net.named_parameters():
        assert each[name].shape == (4, *parameter.shape) and not each[name].requires_grad
        assert tt.allclose(each[name].mean(0), parameter.grad, atol=1e-6)


#: Numbers of which functions have results: shares, whole numbers, and both of their signs.
NUMBERS: dict[str, Any] = {
    "float32": [0.25, -0.5, 0.75], "float64": [0.5, 0.125, 0.625], "float16": [0.5, -0.25, 0.75],
    "int64": [1, 3, 2], "int32": [2, -1, 3], "bool": [True, False, True],
}  # fmt: skip
registry.load_all()
FUNCTIONS: dict[str, Any] = {
    name: op.function for name, op in sorted(OPS.items()) if op.is_elementwise and op.public
}
FUNCTIONS["lerp"] = FUNCTIONS["masked_fill"] = FUNCTIONS["where"] = None


def outcome(function: Any, randomness: str, *args: Any) -> Any:
    """What a function gives over examples. With "error", all at once; else each by itself."""
    try:
        result = vmap(function, randomness=randomness)(*(x.clone() for x in args))
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
        return type(error), []
    return (result.dtype, result.shape), result.double().cpu().numpy()


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_vmap_over_all_examples_equals_each_by_itself(name: str) -> None:
    """Whatever dtypes meet, and whether a captured tensor has dimensions or none."""
    f = FUNCTIONS[name] or {
        "lerp": lambda a, b: tt.lerp(a, b, 0.5), "where": lambda a, b: tt.where(a > 0, a, b),
        "masked_fill": lambda a, b: tt.masked_fill(a, b > 0.5, 0.5),
    }[name]  # fmt: skip
    columns = [tt.tensor(x, dtype=getattr(tt, dtype)) for dtype, x in NUMBERS.items()]
    first = crc32(name.encode())  # one partner of each dtype, another one for each function
    for i, a in enumerate(columns):
        cases = [(f,), (lambda a: f(a, 2),), (lambda a: f(3, a),), (lambda a: f(a, 0.5),)]
        for b in columns[(first + i) % 6 :: 6]:
            number, row = b[0], b[:2]
            cases += [(f, b), (lambda a, n=number: f(a, n),), (lambda a, n=number: f(n, a),),
                      (lambda a, r=row: f(a, r),), (lambda a, r=row: f(r, a),)]  # fmt: skip
        for function, *more in cases:
            kind, found = outcome(function, "error", a, *more)
            expected, each = outcome(function, "different", a, *more)
            assert kind == expected
            np.testing.assert_allclose(found, each, rtol=1e-6)


def calls_of(function: Any, *args: Any, **options: Any) -> tuple[int, Any]:
    """Number of calls of a function that ``vmap`` maps, and its result."""
    count = 0

    def counting(*args: Any) -> Any:
        nonlocal count
        count += 1
        return function(*args)

    result = vmap(counting, **options)(*args)
    return count, result


def test_examples_without_dimensions_take_one_call() -> None:
    table = tt.arange(50.0) ** 2
    calls, result = calls_of(lambda i: table[i] * 2 + i, tt.arange(50))
    assert calls == 1
    assert result.tolist() == [2.0 * i * i + i for i in range(50)]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a: a if a > 0 else -a, [abs(x) for x in range(-25, 25)]),
        (lambda a: tt.tensor(a.item() * 2), [2 * x for x in range(-25, 25)]),
        (lambda a: (a * 2).reshape(1).sum() + a, [3 * x for x in range(-25, 25)]),
        (lambda a: (a * 2).clone().add_(1), [2 * x + 1 for x in range(-25, 25)]),
        (lambda a: tt.stack([a, a + 1]).prod(), [x * (x + 1) for x in range(-25, 25)]),
        (lambda a: vmap(lambda b: b.reshape(1)[0] * a)(tt.ones(2)).sum(),
         [2 * x for x in range(-25, 25)]),
        (grad(lambda a: a * a), [2 * x for x in range(-25, 25)]),
    ],
)  # fmt: skip
def test_each_example_takes_one_call_at_the_most(function: Any, expected: list[int]) -> None:
    """The side effects of a function happen once for each example."""
    calls, result = calls_of(function, tt.arange(-25.0, 25.0))
    assert calls == 50
    assert result.tolist() == expected


def test_a_function_may_catch_any_error_of_its_own() -> None:
    """``vmap`` raises no error inside it, so that an ``except`` of its own catches none."""

    def f(a: Any) -> Any:
        try:
            return a.reshape(1).sum() if a > 0 else a * 2
        except BaseException:
            return a * 100

    assert vmap(f)(tt.tensor([1.0, -1.0, 3.0])).tolist() == [1.0, -2.0, 3.0]


def test_views_see_writes_made_after_operations_shared_by_the_examples() -> None:
    def f(a: Any) -> Any:
        b = a * 3
        c = b.detach()
        c.add_(1)
        return b + a

    assert vmap(f)(tt.tensor([1.0, 2.0, 3.0])).tolist() == [5.0, 9.0, 13.0]
    x = tt.tensor([1.0, 2.0, 3.0])
    assert vmap(lambda a: (a * 2, a.add_(10))[0] + a)(x).tolist() == [13.0, 16.0, 19.0]
    assert x.tolist() == [11.0, 12.0, 13.0]


def test_gradients_flow_through_vmap_of_a_function_with_reductions() -> None:
    """d/dx of (2x)^2 + x is 8x + 1."""
    x = tt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    vmap(lambda a: (a * 2).reshape(1).square().sum() + a)(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [9.0, 17.0, 25.0]


@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers_differ_or_agree_by_the_randomness_argument(randomness: str) -> None:
    """They are those of a loop, and the generator moves as far as in a loop."""

    class Twice(tt.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return x * 2, in_dims[0]

    tt.manual_seed(3)
    result = vmap(lambda a: Twice.apply(a) + tt.rand(2), randomness=randomness)(tt.zeros(3, 2))
    tt.manual_seed(3)
    rows = [tt.rand(2).tolist() for _ in range(3)]
    assert result.tolist() == (rows if randomness == "different" else [rows[0]] * 3)


@pytest.mark.parametrize("view", [
    lambda a: a[...], lambda a: a[()], lambda a: a.detach(), lambda a: a.to(a.dtype),
    lambda a: a.real, lambda a: a.conj(), lambda a: a.contiguous(), lambda a: a.view_as(a),
])  # fmt: skip
def test_views_of_examples_without_dimensions_can_be_written_to(view: Any) -> None:
    x = tt.arange(3.0)
    assert vmap(lambda a: view(a).add_(1))(x).tolist() == [1.0, 2.0, 3.0]
    assert x.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("mode", [tt.no_grad, tt.inference_mode])
def test_gradients_flow_from_what_was_read_first_without_gradients(mode: Any) -> None:
    """d/dx of (2x)^2 is 8x."""

    def function(a: Any) -> Any:
        double = a * 2
        with mode():
            double.reshape(1)
        return double.reshape(1).square().sum()

    x = tt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    vmap(function)(x).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [8.0, 16.0, 24.0]
