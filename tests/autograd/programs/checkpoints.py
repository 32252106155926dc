"""``utils.checkpoint``."""

import contextlib


def checkpoint_gradients_and_calls(torch, note):
    C = torch.utils.checkpoint.checkpoint
    n = [0]

    def f(a):
        n[0] += 1
        return a.exp().sin() * a

    for r in (True, False):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = C(f, x, use_reentrant=r)
        note(n, y)
        y.sum().backward()
        note(n, x.grad)


def checkpoint_default(torch, note):
    C = torch.utils.checkpoint.checkpoint
    x = torch.ones(2, requires_grad=True)
    note(type(C(torch.exp, x).grad_fn).__name__)


def checkpoint_extra_keyword_of_the_reentrant_one(torch, note):
    torch.utils.checkpoint.checkpoint(
        torch.exp, torch.ones(2, requires_grad=True), use_reentrant=True, foo=3
    )


def checkpoint_keywords(torch, note):
    C = torch.utils.checkpoint.checkpoint
    x = torch.ones(2, requires_grad=True)
    y = C(lambda a, k: a.exp() * k, x, use_reentrant=False, k=3)
    y.sum().backward()
    note(y, x.grad)


def checkpoint_grad(torch, note):
    C = torch.utils.checkpoint.checkpoint
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad(C(torch.exp, x, use_reentrant=False).sum(), x))


def checkpoint_grad_of_the_reentrant_one(torch, note):
    C = torch.utils.checkpoint.checkpoint
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad(C(torch.exp, x, use_reentrant=True).sum(), x))


def checkpoint_fewer_tensors(torch, note):
    n = [0]

    def odd(a):
        n[0] += 1
        return a.exp().sin() if n[0] % 2 else a.exp()

    torch.utils.checkpoint.checkpoint(
        odd, torch.ones(2, requires_grad=True), use_reentrant=False
    ).sum().backward()


def checkpoint_other_shapes(torch, note):
    n = [0]

    def odd(a):
        n[0] += 1
        return (a[:1] if n[0] % 2 == 0 else a).exp().sin()

    torch.utils.checkpoint.checkpoint(
        odd, torch.ones(2, requires_grad=True), use_reentrant=False
    ).sum().backward()


def checkpoint_bad_check(torch, note):
    torch.utils.checkpoint.checkpoint(
        torch.exp, torch.ones(2, requires_grad=True), use_reentrant=False, determinism_check="x"
    )


def checkpoint_contexts_of_the_reentrant_one(torch, note):
    torch.utils.checkpoint.checkpoint(
        torch.exp, torch.ones(2, requires_grad=True), use_reentrant=True, context_fn=lambda: (1, 2)
    )


def checkpoint_contexts(torch, note):
    @contextlib.contextmanager
    def say(w):
        note(w)
        yield

    x = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(
        torch.exp, x, use_reentrant=False, context_fn=lambda: (say("first"), say("second"))
    )
    note("between")
    y.sum().backward()
    note(x.grad)


def checkpoint_twice(torch, note):
    n = [0]

    def f(a):
        n[0] += 1
        return a.exp().sin()

    x = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    y.backward()
    note(n, x.grad)
    y.backward()


def checkpoint_other_results(torch, note):
    x = torch.ones(2, requires_grad=True)
    for r in (True, False):
        y = torch.utils.checkpoint.checkpoint(
            lambda a, b: (a * 2, 3, None, b), x, "s", use_reentrant=r
        )
        note(y[0], y[1:])
        y[0].sum().backward()
        note(x.grad)


def checkpoint_modified_argument(torch, note):
    z = torch.ones(2, requires_grad=True) * 1
    y = torch.utils.checkpoint.checkpoint(lambda a: (a.sin() * a).sum(), z, use_reentrant=False)
    z.add_(1)
    y.backward()


def checkpoint_modified_argument_reentrant(torch, note):
    z = torch.ones(2, requires_grad=True) * 1
    y = torch.utils.checkpoint.checkpoint(lambda a: (a.sin() * a).sum(), z, use_reentrant=True)
    z.add_(1)
    y.backward()


def checkpoint_constant_function(torch, note):
    torch.utils.checkpoint.checkpoint(
        lambda a: a.detach() * 1, torch.ones(2, requires_grad=True), use_reentrant=True
    ).sum().backward()


def checkpoint_early_stop(torch, note):
    n = []

    def f(a):
        b = a.exp()
        n.append("mid")
        return b * 3

    for e in (True, False):
        x = torch.ones(2, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False, early_stop=e)
        y.sum().backward()
        note(n)
        n.clear()


def checkpoint_early_stop_switched_off(torch, note):
    n = []

    def f(a):
        b = a.exp()
        n.append("mid")
        return b * 3

    with torch.utils.checkpoint.set_checkpoint_early_stop(False):
        y = torch.utils.checkpoint.checkpoint(
            f, torch.ones(2, requires_grad=True), use_reentrant=False
        )
    y.sum().backward()
    note(n)


def checkpoint_second_derivative(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(
        torch.utils.checkpoint.checkpoint(lambda a: a**3, x, use_reentrant=False).sum(),
        x,
        create_graph=True,
    )
    note(g)
    note(torch.autograd.grad(g.sum(), x))


def checkpoint_dropout(torch, note):
    for r in (True, False):
        torch.manual_seed(0)
        x = torch.ones(50, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(
            lambda a: torch.nn.functional.dropout(a, 0.5), x, use_reentrant=r
        )
        torch.rand(3)
        y.sum().backward()
        note((x.grad == y.detach()).all().item(), torch.rand(1))


def checkpoint_nested(torch, note):
    C = torch.utils.checkpoint.checkpoint
    n = [0]

    def g(a):
        n[0] += 1
        return a.exp() * a

    def f(a):
        return C(g, a.sin(), use_reentrant=False) * a

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    C(f, x, use_reentrant=False).sum().backward()
    note(x.grad)


def checkpoint_nested_reentrant(torch, note):
    C = torch.utils.checkpoint.checkpoint

    def f(a):
        return C(lambda b: b.exp() * b, a.sin(), use_reentrant=True) * a

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    C(f, x, use_reentrant=True).sum().backward()
    note(x.grad)


def checkpoint_module(torch, note):
    torch.manual_seed(0)
    m = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    x = torch.arange(6.0).reshape(2, 3)
    for r in (True, False):
        m.zero_grad()
        x.requires_grad_()
        torch.utils.checkpoint.checkpoint(m, x, use_reentrant=r).sum().backward()
        note([q.grad for q in m.parameters()])


def checkpoint_under_autocast(torch, note):
    w = torch.linspace(-1, 1, 16).reshape(4, 4).requires_grad_()
    for r in (True, False):
        x = torch.linspace(0, 2, 16).reshape(4, 4).requires_grad_()
        seen = []

        def f(a, seen=seen):
            b = a @ w
            seen.append(b.dtype)
            return b.tanh() @ w

        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=r)
        y.float().sum().backward()
        note(seen, torch.is_autocast_enabled("cpu"), x.grad.dtype)


def checkpoint_no_grad(torch, note):
    n = [0]

    def f(a):
        n[0] += 1
        return a.exp()

    with torch.no_grad():
        note(
            torch.utils.checkpoint.checkpoint(
                f, torch.ones(2, requires_grad=True), use_reentrant=False
            ).requires_grad,
            n,
        )


def checkpoint_sequential(torch, note):
    torch.manual_seed(0)
    m = torch.nn.Sequential(
        torch.nn.Linear(3, 4),
        torch.nn.Tanh(),
        torch.nn.Linear(4, 2),
        torch.nn.ReLU(),
        torch.nn.Linear(2, 2),
    )
    for s in (1, 2, 3, 5):
        for r in (True, False):
            m.zero_grad()
            x = torch.arange(6.0).reshape(2, 3).requires_grad_()
            y = torch.utils.checkpoint.checkpoint_sequential(m, s, x, use_reentrant=r)
            y.sum().backward()
            note(y, x.grad, m[0].weight.grad)


def checkpoint_sequential_functions(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint_sequential(
        [torch.sin, torch.exp, torch.cos], 2, x, use_reentrant=False
    )
    y.sum().backward()
    note(y, x.grad)


def checkpoint_sequential_keyword(torch, note):
    torch.utils.checkpoint.checkpoint_sequential([torch.sin], 1, torch.ones(1), foo=1)


def checkpoint_sequential_too_many_segments(torch, note):
    torch.utils.checkpoint.checkpoint_sequential([torch.sin], 3, torch.ones(1), use_reentrant=False)


def detach_variable(torch, note):
    a = torch.ones(1, requires_grad=True) * 2
    b, c = torch.utils.checkpoint.detach_variable((a, 3))
    note(b, b.is_leaf, c)
    torch.utils.checkpoint.detach_variable([a])
