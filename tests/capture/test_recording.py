"""Recording: views, writes, memory that was not listed, breaks, constants, threads, leaks."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from tests.capture.replayer import Replayer
from tinytorch import nn
from tinytorch.capture.arrays import ProgramArray
from tinytorch.capture.graph import Kind
from tinytorch.capture.recorder import current_recorder
from tinytorch.capture.recording import record
from tinytorch.capture.replay import may_raise, run_program
from tinytorch.capture.trees import tensors_in
from tinytorch.core.storage import Storage, follow_devices
from tinytorch.graph.nodes import Node
from tinytorch.nn import functional as F

Make = Callable[[], Callable[..., Any]]


def assert_close(found: Any, expected: Any) -> None:
    """Compare up to the rounding of a sum in another order."""
    assert found.dtype == expected.dtype
    if found.dtype.kind in "fcV":
        tolerance = 2e-6 if found.dtype.itemsize > 2 else 1e-2
        wide = "complex64" if found.dtype.kind == "c" else "float32"
        found, expected = found.astype(wide), expected.astype(wide)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(found, expected)


def assert_replays(make: Make, *calls: list[Any]) -> Replayer:
    """Compare a recorded function with an eager one over calls; the first call is recorded."""
    eager, recorded = make(), make()
    first, *others = calls
    tt.manual_seed(0)
    wanted = tensors_in(eager(*[a.clone() for a in first]))
    tt.manual_seed(0)
    replay = Replayer(recorded, [a.clone() for a in first])
    assert not replay.recording.breaks
    for found, expected in zip(tensors_in(replay.recording.result), wanted, strict=True):
        assert_close(found.detach().numpy(), expected.detach().numpy())
    for seed, call in enumerate(others):
        given, again = [a.clone() for a in call], [a.clone() for a in call]
        tt.manual_seed(seed)
        wanted = [t.detach().numpy() for t in tensors_in(eager(*given))]
        after = tt.get_rng_state().tolist()
        tt.manual_seed(seed)
        for found, expected in zip(replay(*again), wanted, strict=True):
            assert_close(found, expected)
        assert tt.get_rng_state().tolist() == after
        for found, expected in zip(again, given, strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    return replay


def several(*shape: int, count: int = 3) -> list[list[Any]]:
    """Calls with one random tensor each."""
    rng = np.random.default_rng(0)
    return [[tt.tensor(rng.standard_normal(shape), dtype=tt.float32)] for _ in range(count)]


# -- views and writes ------------------------------------------------------------------------


def test_views_are_recorded_as_views() -> None:
    replay = assert_replays(
        lambda: lambda x: x.t()[1:3].reshape(2, 2, 2).transpose(0, 1).unsqueeze(0) + 1,
        *several(4, 5),
    )
    kinds = [node.kind for node in replay.recording.program.nodes]
    assert kinds == [Kind.VIEW] * 5 + [Kind.CALL]


def writes_through_views(x: Any) -> Any:
    y = x * 2
    row = y[1]
    row.add_(3)
    every_second = y.view(-1)[::2]
    every_second.mul_(2)
    y.t()[0] = 5
    y[:, 1:3] += y[:, 2:4]
    y.diagonal().zero_()
    y[tt.tensor([0, 2])] = 7.0
    return y, row, every_second


def test_writes_through_views_are_seen_in_all_others() -> None:
    assert_replays(lambda: writes_through_views, *several(4, 5))


def test_writes_to_arguments_are_writes_of_the_program() -> None:
    def function(x: Any) -> Any:
        x.add_(1)
        x[0].zero_()
        return x * 2

    replay = assert_replays(lambda: function, *several(4, 5))
    assert [number for number, _ in replay.recording.writes] == [0]


def test_arguments_that_share_memory_are_one_input() -> None:
    base = tt.arange(30.0).reshape(6, 5)

    def function(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    recording = record(lambda: function(a, b), [a := base[1:5], b := base[2:6]])
    assert [source.root for source in recording.sources] == [True]
    np.testing.assert_array_equal(recording.result.numpy()[0], 2 * (np.arange(10, 15) + 1))


def test_out_is_written() -> None:
    def make() -> Any:
        out = tt.empty(4, 5)

        def function(x: Any) -> Any:
            tt.mul(x, 3, out=out)
            return out + 1, tt.add(x, 1, out=tt.empty(0))

        return function

    assert_replays(make, *several(4, 5))


def test_assigned_data_and_set_are_followed() -> None:
    def function(x: Any) -> Any:
        y = x.clone()
        y.data = y.data * 2
        y.data.add_(1)
        return y + tt.empty(0).set_(y)

    assert_replays(lambda: function, *several(4, 5))


# -- memory that was not listed ----------------------------------------------------------------


def test_a_constant_of_the_program_is_read_at_each_replay() -> None:
    scale = tt.tensor(2.0)
    replay = Replayer(lambda x: x * (scale * 2), [tt.ones(3)])
    scale.fill_(5.0)
    np.testing.assert_array_equal(replay(tt.ones(3))[0], np.full(3, 10.0))


def test_a_counter_is_written_at_each_replay() -> None:
    counter = tt.zeros(())

    def function(x: Any) -> Any:
        counter.add_(1)
        return x + counter

    replay = Replayer(function, [tt.zeros(2)])
    assert [replay(tt.zeros(2))[0].tolist() for _ in range(3)] == [[2, 2], [3, 3], [4, 4]]
    assert counter.item() == 4


def test_a_numpy_array_that_a_tensor_shares_is_read_at_each_replay() -> None:
    array = np.ones(3, "float32")
    replay = Replayer(lambda x: x + tt.from_numpy(array), [tt.zeros(3)])
    array[:] = 7
    assert replay(tt.zeros(3))[0].tolist() == [7, 7, 7]


def test_a_copy_of_a_numpy_array_is_a_break() -> None:
    array = np.ones(3, "float32")
    assert record(lambda: tt.tensor(array) * 2, []).breaks


def test_memory_that_a_narrower_argument_lies_in_is_a_break() -> None:
    data = tt.arange(30.0).reshape(6, 5)
    recording = record(lambda: (data * 1, part * 2), [part := data[1:3]])
    assert "memory that an argument is a part of" in [what for what, _ in recording.breaks]
    np.testing.assert_array_equal(recording.result[0].numpy(), data.numpy())


def test_a_graph_from_before_is_a_break() -> None:
    x = tt.ones(3, requires_grad=True)
    loss = (x * x).sum()
    recording = record(lambda: loss.backward(), [x])
    assert {what for what, _ in recording.breaks} == {"a graph that was there before"}
    assert x.grad.tolist() == [2, 2, 2]


# -- constants and creation ------------------------------------------------------------------


def test_tensors_that_the_function_makes_are_new_at_each_replay() -> None:
    def function(x: Any) -> Any:
        zeros = tt.zeros(4, 5)
        zeros += x
        row = tt.tensor([1.0, 2, 3, 4, 5])
        row *= 2
        on_device = tt.zeros(5, device="cpu")
        on_device += 1
        return zeros * row + on_device + tt.arange(5) + x.new_full((5,), 2.0)

    assert_replays(lambda: function, *several(4, 5))


def test_values_that_depend_on_no_input_may_be_read() -> None:
    def function(x: Any) -> Any:
        mask = tt.ones(5, 5).tril().bool()
        return x[mask] + float(mask.sum())

    assert_replays(lambda: function, *several(5, 5))


# -- breaks ----------------------------------------------------------------------------------

READS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: bool((x > 0).any()),
    "int": lambda x: int(x[0, 0]),
    "float": lambda x: float(x[0, 0]),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy(),
    "nonzero": lambda x: x.nonzero(),
    "unique": lambda x: x.unique(),
    "mask": lambda x: x[x > 0],
    "index": lambda x: [1, 2, 3][(x[0, 0] > 0).long()],
    "format": lambda x: f"{x[0, 0]:.2f}",
    "print": lambda x: repr(x),
    "in": lambda x: 3.0 in x,
    "dlpack": lambda x: np.from_dlpack(x),
    "state of a generator": lambda x: tt.get_rng_state(),
    "draw for the host": lambda x: next(iter(tt.utils.data.RandomSampler(range(4)))),
}


@pytest.mark.parametrize("name", READS)
def test_reading_a_number_is_a_break_with_the_callers_line(name: str) -> None:
    x = several(4, 5)[0][0]
    tt.manual_seed(0)
    wanted = READS[name](x)
    tt.manual_seed(0)
    recording = record(lambda: READS[name](x), [x])
    assert recording.breaks
    assert all(line.partition(":")[0] == __file__ for _, line in recording.breaks)
    first = READS["item"].__code__.co_firstlineno
    if name != "draw for the host":  # which is found when the call is over
        assert int(recording.breaks[0][1].rpartition(":")[2]) - first == list(READS).index(name)
    if isinstance(wanted, tt.Tensor):
        wanted, recording.result = wanted.tolist(), recording.result.tolist()
    if isinstance(wanted, float):
        wanted, recording.result = np.float32(wanted), np.float32(recording.result)
        np.testing.assert_allclose(recording.result, wanted, rtol=1e-6)
    else:
        np.testing.assert_equal(recording.result, wanted)


def test_a_call_goes_on_with_the_real_numbers_after_a_break() -> None:
    counter = tt.zeros(())

    def function(x: Any) -> Any:
        counter.add_(1)
        return x * 2 if x.sum() > 0 else x * 3

    recording = record(lambda: function(x), [x := tt.ones(3)])
    assert recording.result.tolist() == [2, 2, 2]
    assert counter.item() == 1


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x, i: F.embedding(i, x), IndexError),
        (lambda x, i: x[i], IndexError),
        (lambda x, i: F.cross_entropy(x, i), IndexError),
        (lambda x, i: tt.bernoulli(x - 3 * i.sum()), RuntimeError),
        (lambda x, i: tt.linalg.cholesky(x @ x.t() + (1 - i.sum()) * tt.eye(3)), RuntimeError),
    ],
)
def test_a_replay_raises_what_eager_code_raises(function: Any, error: type[Exception]) -> None:
    x, good, bad = tt.rand(3, 3), tt.tensor([0, 0, 0]), tt.tensor([0, 9, 1])
    replay = Replayer(function, [x, good])
    with pytest.raises(error) as eager:
        function(x, bad)
    with pytest.raises(error) as replayed:
        replay(x, bad)
    assert str(replayed.value) == str(eager.value)


def test_a_compiled_call_whose_numbers_lead_elsewhere_runs_eagerly() -> None:
    compiled = tt.compile(lambda x: tt.bincount(x) * 2)
    for numbers in ([0, 1, 1], [1, 0, 0], [0, 1, 3]):
        np.testing.assert_array_equal(compiled(tt.tensor(numbers)), np.bincount(numbers) * 2)


def test_a_compiled_call_that_raises_leaves_what_eager_code_leaves() -> None:
    def make() -> Any:
        tt.manual_seed(0)
        norm, table = nn.BatchNorm1d(3), nn.Embedding(4, 3)

        def function(x: Any, i: Any) -> Any:
            return F.dropout(norm(x), 0.5) + table(i)

        return norm, function

    x, good, bad = tt.rand(5, 3), tt.tensor([0, 1, 2, 3, 0]), tt.tensor([0, 9, 1, 1, 1])
    (norm, eager), (same, function) = make(), make()
    compiled = tt.compile(function)
    states = []
    for call in (eager, compiled):
        tt.manual_seed(0)
        for i in (good, good, bad, good):
            try:
                call(x, i)
            except IndexError as error:
                states.append(str(error))
        states.append(tt.get_rng_state().tolist())
    assert states[:2] == states[2:]
    np.testing.assert_array_equal(same.running_mean, norm.running_mean)
    assert same.num_batches_tracked == norm.num_batches_tracked == 4


# -- random numbers --------------------------------------------------------------------------


def draw_everything(x: Any) -> Any:
    dropout = F.dropout(x, 0.5), F.gumbel_softmax(x), tt.rand_like(x), tt.randint_like(x, 3)
    place = tt.empty(3).uniform_(), tt.empty(3).normal_(), tt.rand(2, device="cpu")
    index = tt.randperm(5), tt.multinomial(x.softmax(-1), 2), tt.bernoulli(x.sigmoid())
    distributions = tt.distributions.Normal(x, 1.0).sample(), tt.normal(x, 1.0)
    return *dropout, *place, *index, *distributions


def test_replays_draw_anew_and_leave_the_generator_as_eager_code() -> None:
    assert_replays(lambda: draw_everything, *several(4, 5))


def test_generators_that_are_passed_or_made_inside_draw_as_in_eager_code() -> None:
    def make() -> Any:
        generator = tt.Generator().manual_seed(3)

        def function(x: Any) -> Any:
            own = tt.Generator().manual_seed(5)
            drawn = tt.randn(3, generator=generator), tt.rand(5, generator=own)
            with tt.random.fork_rng():
                forked = tt.rand(2)
            return *drawn, forked, tt.rand(2) + x.sum()

        return function

    assert_replays(make, *several(4, 5))


def test_a_seed_inside_seeds_each_replay() -> None:
    def function(x: Any) -> Any:
        tt.manual_seed(7)
        return x + tt.rand(5)

    assert_replays(lambda: function, *several(4, 5))


@pytest.mark.parametrize("reentrant", [False, True])
def test_recomputation_draws_the_same_numbers_again(reentrant: bool) -> None:
    def function(x: Any) -> Any:
        leaf = x.detach().requires_grad_()
        out = tt.utils.checkpoint.checkpoint(
            lambda v: F.dropout(v.tanh(), 0.5), leaf, use_reentrant=reentrant
        )
        out.sum().backward()
        return out, leaf.grad, tt.rand(2)

    assert_replays(lambda: function, *several(4, 5))


# -- dtypes ----------------------------------------------------------------------------------


def test_autocast_is_recorded() -> None:
    def function(x: Any) -> Any:
        with tt.autocast("cpu"):
            product = x @ x.t()
            return product, product.softmax(-1), x + 1

    assert_replays(lambda: function, *several(4, 5))


@pytest.mark.parametrize("dtype", [tt.float16, tt.bfloat16])
def test_reduced_precision_is_recorded(dtype: Any) -> None:
    def function(x: Any) -> Any:
        leaf = x.detach().requires_grad_()
        out = F.gelu(leaf @ leaf.t()).sum(0) + leaf.exp()[:, 0]
        out.sum().backward()
        return out, leaf.grad, x.float().mean(), x.softmax(-1)

    assert_replays(lambda: function, *[[x.to(dtype)] for (x,) in several(4, 5)])


def test_complex_numbers_are_recorded() -> None:
    def function(x: Any) -> Any:
        z = tt.complex(x, x * 2)
        z.real.add_(1)
        tt.view_as_real(z)[..., 1] *= 3
        leaf = z.detach().requires_grad_()
        (leaf * leaf.conj()).real.sum().backward()
        return z.abs(), z.conj() @ z.t(), z.conj().imag, tt.fft.fft(x), leaf.grad

    assert_replays(lambda: function, *several(4, 5))


# -- graphs, functions, modules --------------------------------------------------------------


class _Square(tt.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return 2 * x * g


def test_gradients_hooks_and_functions_are_recorded() -> None:
    def function(x: Any) -> Any:
        leaf = x.detach().requires_grad_()
        y = _Square.apply(leaf)
        y.register_hook(lambda g: g * 3)
        (first,) = tt.autograd.grad(y.sum(), leaf, create_graph=True)
        (second,) = tt.autograd.grad((first * first).sum(), leaf)
        by_func = tt.func.grad(lambda v: (v**3).sum())(x)
        return first, second, by_func, tt.func.vmap(lambda row: row * 2)(x)

    assert_replays(lambda: function, *several(4, 5))


def test_modules_are_recorded() -> None:
    def make() -> Any:
        tt.manual_seed(1)
        conv, norm, attention = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.MultiheadAttention(4, 2)
        block, cell = nn.TransformerEncoderLayer(8, 2, 16), nn.GRU(5, 3)

        def function(x: Any) -> Any:
            image = F.max_pool2d(norm(conv(x[None, None])), 2)
            conv.zero_grad()
            image.square().sum().backward()
            sequence = x.t()[:, None]
            twice = x.repeat(1, 2)[:, :8][:, None]
            attended = attention(sequence, sequence, sequence)
            return image, conv.weight.grad.clone(), attended, block(twice), cell(x[None])

        return function

    assert_replays(make, *several(4, 5))


def test_numpys_functions_are_recorded() -> None:
    import tinytorch.numpy as tnp

    def function(x: Any) -> Any:
        array = tnp.asarray(x)
        return tt.as_tensor(tnp.sin(array) + tnp.cumsum(array, 1).T.T * 2)

    assert_replays(lambda: function, *several(4, 5))


# -- the recording itself --------------------------------------------------------------------


def test_nodes_are_tagged_with_operation_arguments_line_and_phase() -> None:
    x, w = tt.ones(4, 3), tt.ones(2, 3, requires_grad=True)

    def function() -> Any:
        loss = F.linear(x, w).relu().sum()
        loss.backward()
        return loss

    nodes = record(function, [x, w]).program.nodes
    forward = [n.tag for n in nodes if n.tag.phase == "forward" and n.tag.operation]
    assert {tag.operation for tag in forward} == {"linear", "relu", "sum"}
    assert forward[0].arguments["input"] is nodes[1].args[0]
    start = function.__code__.co_firstlineno
    assert {tag.line for tag in forward} == {f"{__file__}:{start + 1}"}
    assert len({tag.call for tag in forward}) == 3
    assert "linear" in {node.tag.operation for node in nodes if node.tag.phase == "backward"}


def test_nodes_know_the_path_of_their_module() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), nn.Linear(2, 1)))
    x = tt.ones(3, 2)
    tags = [node.tag for node in record(lambda: model(x) * 2, [x]).program.nodes]
    assert {(tag.operation, tag.module) for tag in tags} == {
        ("linear", "0"), ("relu", "1.0"), ("linear", "1.1"), ("mul", ""),
    }  # fmt: skip


def test_other_threads_run_eagerly_meanwhile() -> None:
    found: list[Any] = []

    def compute() -> None:
        for _ in range(50):
            y = tt.ones(3) * 2 + shared
            found.append((type(y._data), y._xp.recorded))

    def function(x: Any) -> Any:
        thread = threading.Thread(target=compute)
        thread.start()
        for _ in range(20):
            x = x * 1.0
        thread.join()
        return x + shared

    shared = tt.ones(3)
    recording = record(lambda: function(x), [x := tt.ones(3)])
    assert set(found) == {(np.ndarray, None)}
    assert len(recording.program.nodes) == 21


def test_after_a_recording_all_is_as_it_was() -> None:
    before = vars(Storage)["_data"]
    model, x = nn.Linear(3, 2), tt.ones(4, 3)
    recording = record(lambda: model(x), [x])
    assert type(recording.result._data) is np.ndarray
    recording.result.sum().backward()
    assert type(model.weight.grad._data) is np.ndarray
    with pytest.raises(ZeroDivisionError):
        record(lambda: model(x) / (1 / 0), [x])
    assert vars(Storage)["_data"] is before
    assert current_recorder() is None
    assert type(x._data) is np.ndarray


def test_recorded_arrays_do_not_outlive_the_recording() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16)
    x = tt.rand(4, 1, 8)
    recording = record(lambda: model(x).square().sum().backward(), [x])
    del recording
    gc.collect()
    assert not [o for o in gc.get_objects() if type(o) is ProgramArray]


def test_a_recording_inside_of_a_recording_raises() -> None:
    x = tt.ones(2)
    with pytest.raises(RuntimeError, match="inside of a recording"):
        record(lambda: record(lambda: x * 2, [x]), [x])
    assert (x * 2).tolist() == [2, 2]


def test_the_reference_engine_returns_no_memory_of_its_inputs() -> None:
    x = tt.ones(3)
    recording = record(lambda: (x.view(3), x), [x])
    arrays = run_program(recording.program, [x._data])
    assert not any(np.shares_memory(array, x._data) for array in arrays)


def test_a_second_device_that_appears_in_a_recording_is_followed_later() -> None:
    """The descriptors of recordings leave, those that follow devices stay."""
    names = (Storage, "_data"), (Storage, "_xp"), (Node, "xp")
    before = [vars(cls)[name] for cls, name in names]
    x = tt.ones(2)

    def call() -> tt.Tensor:
        follow_devices()
        return x + 1

    try:
        assert record(call, [x]).result.tolist() == [2, 2]
        after = [vars(cls)[name] for cls, name in names]
        assert {type(slot).__name__ for slot in after} == {"_DeviceSlot"}
        assert (x + 1).tolist() == [2, 2] and record(lambda: x + 1, [x]).result.tolist() == [2, 2]
        assert [vars(cls)[name] for cls, name in names] == after
    finally:
        for (cls, name), slot in zip(names, before, strict=True):
            setattr(cls, name, slot)


def test_replays_raise_for_values_that_are_checked_alone() -> None:
    x, weight, labels = tt.ones(2, 1, 5), tt.ones(3, 1, 5), tt.tensor([0, 2])

    def loss() -> tt.Tensor:
        return F.cross_entropy(F.conv1d(x, weight)[:, :, 0], labels)

    nodes = record(loss, [x, weight, labels]).program.nodes
    raising = [node.name for node in nodes if may_raise(node)]
    assert raising and all("cross_entropy" in name for name in raising)
    assert any("_conv" in node.name for node in nodes)
