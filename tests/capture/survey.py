"""Record PyTorch's operations, forward and backward, and replay them on other numbers.

``python -m tests.capture.survey`` runs all of ``op_db``; ``--sample N`` one operation in N, chosen
by a hash of its name and ``--seed``; ``--only add,sort`` those.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tinytorch as tt
import tinytorch.nn.functional as F
from tinytorch.capture.recording import record
from tinytorch.capture import engines
from tinytorch.capture.graph import Program
from tinytorch.capture.replay import run_program
from tinytorch.capture.trees import tensors_in

#: Operations whose results are memory that is not initialized: their layout alone is compared.
UNINITIALIZED = ("empty", "new_empty", "empty_like", "empty_permuted", "empty_strided",
                 "new_empty_strided", "resize_", "resize_as_")  # fmt: skip


#: Outcomes of a sample, from the best to the worst.
KINDS = "skipped", "right", "break", "raises", "wrong"


class Verdict(str):
    """Outcome of a sample, one of ``KINDS``, and why."""

    __slots__ = ("why",)

    def __new__(cls, kind: str, why: str = "") -> Verdict:
        self = super().__new__(cls, kind)
        self.why = why
        return self


def operations() -> list[Any]:
    """PyTorch's table of operations."""
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def choose(infos: list[Any], every: int, seed: int) -> list[Any]:
    """One operation in ``every``, by a hash of its name."""

    def rank(info: Any) -> int:
        text = f"{seed} {info.name} {info.variant_test_name}"
        return int(hashlib.sha256(text.encode()).hexdigest(), 16)

    return [info for info in infos if rank(info) % every == 0]


def _in_place(name: str) -> Callable[..., Any]:
    """Function that runs a method in place on a copy."""
    return lambda x, *args, **options: getattr(x.clone(), name)(*args, **options)


def _property(name: str) -> Callable[..., Any]:
    return lambda x: getattr(x, name)


#: Functions whose arguments have another order in the table's samples.
FORMS: dict[str, Callable[..., Any]] = {
    "where": lambda x, condition, other: tt.where(condition, x, other),
    "einsum": lambda tensors, equation: tt.einsum(equation, *tensors),
    "nn.functional.embedding": lambda w, i, **options: F.embedding(i, w, **options),
    "polygamma": lambda x, n: tt.polygamma(n, x),
    "special.polygamma": lambda x, n: tt.polygamma(n, x),
    "repeat": lambda x, *sizes: x.repeat(*sizes),
    "nn.functional.batch_norm": lambda x, *args, **options: F.batch_norm(x, *args, **options),
    "svd_lowrank": lambda x, *args, **options: tt.svd_lowrank(x @ x.mT, *args, **options),
    "pca_lowrank": lambda x, *args, **options: tt.pca_lowrank(x @ x.mT, *args, **options),
    **{name: _property(name) for name in ("T", "H", "mT", "mH")},
    **{
        name: _in_place(f"{name}_")
        for name in ("exponential", "cauchy", "geometric", "log_normal", "uniform")
    },
    "normal.in_place": _in_place("normal_"),
    "zero_": _in_place("zero_"),
}


def resolve(info: Any) -> Callable[..., Any] | None:
    """The function of this library for an entry of the table."""
    found: Any = tt
    form = FORMS.get(f"{info.name}.{info.variant_test_name}".rstrip("."), FORMS.get(info.name))
    if form is not None:
        return form
    try:
        for part in info.name.split("."):
            found = getattr(found, part)
        if not isinstance(found, (tt.dtype, type)):
            return found
        return getattr(tt.Tensor, info.name)
    except (AttributeError, NotImplementedError):
        return getattr(tt.Tensor, info.name.rpartition(".")[2], None)


def samples(info: Any, dtype_name: str, count: int) -> Iterator[Any]:
    """Some of the samples of an operation, spread over all of them."""
    import torch

    wanted = [getattr(torch, dtype_name), torch.float64, torch.float32, torch.int64, torch.bool,
              torch.complex128]  # fmt: skip
    dtypes = info.supported_dtypes("cpu")
    dtype = next((each for each in wanted if each in dtypes), None)
    if dtype is None:
        return
    differentiable = info.supports_autograd and (dtype.is_floating_point or dtype.is_complex)
    found = []
    torch.manual_seed(0)
    for sample in info.sample_inputs("cpu", dtype, requires_grad=differentiable):
        found.append(sample)
        if len(found) >= 40:
            break
    step = max(1, len(found) // count)
    yield from found[::step][:count]


def convert(value: Any, tensor: Callable[[Any], Any]) -> Any:
    """A sample's argument with this library's tensors, dtypes and layouts."""
    import torch

    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, (tuple, list)):
        items = [convert(item, tensor) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {name: convert(item, tensor) for name, item in value.items()}
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return getattr(tt, str(value).rpartition(".")[2])
    if isinstance(value, torch.device):
        return tt.device(str(value))
    return value


def arrays_of(sample: Any) -> list[tuple[Any, bool]]:
    """The arrays of a sample, each with whether it requires grad."""
    import torch

    found: list[tuple[Any, bool]] = []

    def add(tensor: Any) -> None:
        if tensor.layout != torch.strided:
            raise NotImplementedError("layout")
        array = np.array(tensor.detach().resolve_conj().resolve_neg().numpy(), order="K")
        found.append((array, tensor.requires_grad))

    convert((sample.input, sample.args, sample.kwargs), add)
    return found


def change_values(array: Any, rng: Any) -> Any:
    """Other numbers of the same layout: permuted, whatever the dtype; a single float scaled."""
    if array.size > 1:
        out = np.empty_like(array)
        out[...] = array.reshape(-1)[rng.permutation(array.size)].reshape(array.shape)
        return out
    scaled = array * np.asarray(0.9, array.dtype) if array.dtype.kind in "fc" else array
    return np.array(scaled, array.dtype)


class SampleCase:
    """A sample as a function of tensors."""

    def __init__(self, function: Callable[..., Any], sample: Any) -> None:
        self.function, self.sample = function, sample
        self.given = arrays_of(sample)

    def tensors(self, arrays: list[Any]) -> list[Any]:
        """New tensors that hold copies of the arrays."""
        made = []
        for array, (_, needs) in zip(arrays, self.given, strict=True):
            tensor = tt.from_numpy(array.copy(order="K"))
            made.append(tensor.requires_grad_() if needs else tensor)
        return made

    def forward(self, tensors: list[Any]) -> list[Any]:
        """Results that are tensors."""
        following = iter(tensors)
        arguments, args, kwargs = convert(
            (self.sample.input, self.sample.args, self.sample.kwargs), lambda _: next(following)
        )
        return tensors_in(self.function(arguments, *args, **kwargs))

    def run(self, tensors: list[Any], cotangents: list[Any]) -> list[Any]:
        """Results, then the gradients of those tensors that require one."""
        outs = self.forward(tensors)
        roots = [out for out in outs if out.requires_grad]
        leaves = [tensor for tensor in tensors if tensor.requires_grad]
        if not roots or not leaves:
            return [out.detach() for out in outs]
        grads = tt.autograd.grad(roots, leaves, cotangents, allow_unused=True)
        return [*(out.detach() for out in outs), *(grad for grad in grads if grad is not None)]

    def cotangents(self, rng: Any) -> list[Any]:
        """Gradients of the results."""
        outs = self.forward(self.tensors([array for array, _ in self.given]))
        made = []
        for out in outs:
            if out.requires_grad:
                values = rng.standard_normal(tuple(out.shape))
                if out.is_complex():
                    values = values + 1j * rng.standard_normal(tuple(out.shape))
                made.append(np.asarray(values).astype(str(out.dtype).rpartition(".")[2]))
        return made


def are_close(found: Any, wanted: Any, layout_alone: bool) -> bool:
    """Whether two arrays are equal up to rounding."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if layout_alone:
        return True
    if found.dtype.kind in "fc":
        tolerance = 1e-9 if found.dtype.itemsize >= 8 and found.dtype.char in "dD" else 1e-4
        return np.allclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)
    return np.array_equal(found, wanted)


def judge(name: str, function: Callable[..., Any], sample: Any) -> Verdict:
    """Record one sample, replay it on other numbers, and compare with eager calls."""
    rng = np.random.default_rng(3)
    try:
        case = SampleCase(function, sample)
        arrays = [array for array, _ in case.given]
        tt.manual_seed(7)
        cotangents = case.cotangents(rng)
        tt.manual_seed(7)
        eager = case.run(case.tensors(arrays), [tt.from_numpy(each) for each in cotangents])
    except Exception as error:
        return Verdict("skipped", f"eager: {type(error).__name__}: {error}")
    layout_alone = name.rpartition(".")[2] in UNINITIALIZED
    tensors, gradients = case.tensors(arrays), [tt.from_numpy(each) for each in cotangents]
    tt.manual_seed(7)
    try:
        recording = record(lambda: case.run(tensors, gradients), [*tensors, *gradients])
    except NotImplementedError as error:
        return Verdict("break", f"refused: {error}")
    for found, wanted in zip(recording.leaves, eager, strict=True):
        if not are_close(found.numpy(), wanted.numpy(), layout_alone):
            return Verdict("wrong", "the recording call differs from eager")
    if recording.breaks:
        return Verdict("break", "; ".join(what for what, _ in recording.breaks[:3]))
    return compare_replay(case, recording, cotangents, layout_alone)


#: Name of the engine that replays; "" for the reference.
ENGINE = ""


def run(program: Program, feeds: list[Any]) -> list[Any]:
    """Run a program twice by the engine, which may reuse its memory; return the second result."""
    if not ENGINE:
        return run_program(program, feeds)
    executable = engines.prepare(program, ENGINE)
    state = tt.get_rng_state()
    executable.run([np.array(feed, order="K") for feed in feeds])
    tt.set_rng_state(state)
    return executable.run([np.array(feed, order="K") for feed in feeds])


def compare_replay(
    case: SampleCase, recording: Any, cotangents: list[Any], layout_alone: bool
) -> Verdict:
    """Replay a recording on other numbers and compare with an eager call."""
    rng = np.random.default_rng(4)
    arrays = [change_values(array, rng) for array, _ in case.given]
    others = [change_values(array, rng) for array in cotangents]
    tt.manual_seed(11)
    try:
        eager: Any = case.run(case.tensors(arrays), [tt.from_numpy(each) for each in others])
    except Exception as error:
        eager = error
    given = [*arrays, *others]
    feeds = [
        given[source.index] if source.kind == "argument" else source.array
        for source in recording.sources
    ]
    tt.manual_seed(11)
    try:
        replayed = run(recording.program, feeds)
    except Exception as error:
        if isinstance(eager, Exception):
            return Verdict("right", "raises, too")
        return Verdict("raises", f"{type(error).__name__}: {error}"[:200])
    if isinstance(eager, Exception):
        return Verdict("wrong", f"eager raises {type(eager).__name__}: {eager}"[:200])
    if len(eager) != len(recording.outputs):
        return Verdict("wrong", "another number of results")
    for index, (found, wanted) in enumerate(zip(replayed, eager, strict=False)):
        if not are_close(found, wanted.numpy(), layout_alone):
            return Verdict("wrong", f"result {index} differs")
    exact = all(
        np.array_equal(found, wanted.numpy(), equal_nan=found.dtype.kind in "fc")
        for found, wanted in zip(replayed, eager, strict=False)
    )
    return Verdict("right", "bit for bit" if exact or layout_alone else "up to rounding")


def survey(infos: list[Any], dtype: str = "float64", count: int = 3) -> dict[str, Verdict]:
    """The worst verdict of each operation."""
    found: dict[str, Verdict] = {}
    for info in infos:
        name = f"{info.name}.{info.variant_test_name}".rstrip(".")
        function = resolve(info)
        verdict = Verdict("skipped", "not in this library")
        for sample in samples(info, dtype, count) if function is not None else ():
            one = judge_safely(info.name, function, sample)
            known = verdict.why != "not in this library"
            if not known or (KINDS.index(one), one.why) > (KINDS.index(verdict), verdict.why):
                verdict = one
        found[name] = verdict
    return found


def judge_safely(name: str, function: Any, sample: Any) -> Verdict:
    """``judge``; an error of the recorder itself is a verdict."""
    try:
        return judge(name, function, sample)
    except Exception as error:
        return Verdict("raises", f"recording: {type(error).__name__}: {error}"[:200])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--json", default="")
    parser.add_argument("--engine", default="", help="numpy or c; default: the reference")
    options = parser.parse_args()
    global ENGINE
    ENGINE = options.engine
    warnings.simplefilter("ignore")
    infos = operations()
    if options.only:
        infos = [info for info in infos if info.name in options.only.split(",")]
    found = survey(choose(infos, options.sample, options.seed), options.dtype, options.count)
    for name, verdict in found.items():
        if verdict not in ("right", "skipped"):
            print(f"{verdict:8} {name}: {verdict.why}")
    print(dict(collections.Counter(map(str, found.values()))))
    print("right", dict(collections.Counter(v.why for v in found.values() if v == "right")))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({name: (str(v), v.why) for name, v in found.items()}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
