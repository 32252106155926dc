"""Random programs of views, changes in place and arithmetic do what they do under PyTorch."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import tinytorch as tt

VIEWS = """
    {a}[0]; {a}[1:]; {a}[:, 0]; {a}[::2]; {a}.t(); {a}.T; {a}.view(-1); {a}.reshape(-1)
    {a}.unsqueeze(0); {a}.squeeze(); {a}.transpose(0, 1); {a}.expand(2, 3); {a}.diagonal()
    {a}.narrow(0, 0, 1); {a}.select(0, 1); {a}[..., 1:]; {a}[None]; {a}.unbind()[0]
    {a}.split(1)[0]; {a}.chunk(2)[1]; {a}.detach(); {a}.view_as({a}); {a}.swapaxes(0, -1)
    {a}.movedim(0, -1); {a}.data; {a}[:]; {a}.squeeze(0); {a}.contiguous()
"""
CHANGES = """
    {a}.mul_(2); {a}.add_({b}); {a}.mul_({b}); {a}.copy_({b}); {a}.zero_(); {a}.fill_(3)
    {a}.exp_(); {a}.sin_(); {a}[0] = 5; {a}[0] = {b}; {a}[:] = {b}; {a}[{a} > 1] = 0; {a} += {b}
    {a} -= 1; {a}.sub_({b}); {a}.masked_fill_({a} > 1, 2.0); {a}.clamp_(0, 2); {a}.relu_()
    {a}.neg_(); {a}.t_(); {a}.unsqueeze_(0); {a}.squeeze_(); {a}.transpose_(0, -1); {a}.div_(2)
    {a}.pow_(2); {a}.fill_({b}.sum()); {a}[..., 0] += 1; {a}.data.mul_(2); {a}.lerp_({b}, 0.5)
    {a}.addcmul_({b}, {b}); {a}.sqrt_(); {a}.tanh_(); {a}.sigmoid_(); {a}.requires_grad_()
    {a}.t_().mul_(2); {a}.cumsum_(0)
"""
RESULTS = """
    {a} * {b}; {a} + {b}; {a} * 2; {a}.exp(); {a}.sin() + 1; {a} ** 2; {a}.clone(); {a}.sum(0)
    {a} * {a}; {a} / 3; {a}.sum() * {b}; {a}.relu(); L.stack([{a}, {a}]); {a}.mean()
    L.cat([{a}.reshape(-1), {b}.reshape(-1)])
"""


def choices(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\n", ";").split(";") if line.strip()]


def program(seed: int) -> list[str]:
    """Lines that begin with ``x``, a leaf, and ``y``, made of it."""
    r = random.Random(seed)
    names, lines = ["x", "y"], ["y = x * 1"]
    for _ in range(r.randint(2, 7)):
        kind = r.random()
        a, b = r.choice(names[1:] if r.random() < 0.85 else names), r.choice(names)
        if kind < 0.35:
            lines.append(r.choice(choices(CHANGES)).format(a=a, b=b))
            continue
        names.append(f"v{len(names)}")
        what = choices(VIEWS if kind < 0.75 else RESULTS)
        before = "with L.no_grad(): " if kind < 0.40 else ""
        lines.append(f"{before}{names[-1]} = {r.choice(what).format(a=a, b=b)}")
    return lines


def noted(call: Any) -> Any:
    """What a call returns, or the type of its error."""
    try:
        return call()
    except (NameError, RuntimeError, IndexError, ValueError) as error:
        return type(error).__name__


def outcome(library: Any, lines: list[str]) -> list[Any]:
    """By line its error, by name the tensor, and the gradient of the sum of all."""
    x = library.tensor(np.array([[0.5, 1.5, 2.5], [-1.0, 0.7, 0.3]]), requires_grad=True)
    scope = {"L": library, "x": x}
    log = [noted(lambda line=line: exec(line, scope)) for line in lines]
    tensors = {n: t for n, t in scope.items() if n != "L" and not n.startswith("__")}
    for n, t in tensors.items():
        log.append((n, noted(lambda t=t: (t.detach().numpy().tolist(), t.requires_grad))))

    def gradient() -> Any:
        total = sum(
            (t * (len(n) + i)).sum() for i, (n, t) in enumerate(tensors.items()) if t.requires_grad
        )
        total.backward()
        return x.grad.tolist()

    return [*log, noted(gradient)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(220))
def test_random_program_does_what_it_does_under_torch(torch: Any, seed: int) -> None:
    lines = program(seed)
    theirs, ours = outcome(torch, lines), outcome(tt, lines)
    assert len(flat(ours)) == len(flat(theirs))
    for have, wanted in zip(flat(ours), flat(theirs), strict=True):
        number = isinstance(have, float) and isinstance(wanted, float)
        same = math.isclose(have, wanted, rel_tol=1e-12, abs_tol=1e-12) if number else False
        assert same or repr(have) == repr(wanted), "\n".join(lines)


def flat(value: Any) -> list[Any]:
    """Numbers, words and how lists nest, in a row."""
    if isinstance(value, (list, tuple)):
        return [len(value), *(part for item in value for part in flat(item))]
    return [value]
