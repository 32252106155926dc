"""Order in which the hooks of leaves and nodes run."""

import warnings


def hooks_leaf_hooks_among_those_of_nodes(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * w
    s = z.sum()
    for n, t in (("x", x), ("w", w), ("y", y), ("z", z), ("s", s)):
        t.register_hook(lambda g, n=n: note(n, g))
    for n, t in (("x", x), ("w", w)):
        t.register_post_accumulate_grad_hook(lambda t, n=n: note("post", n, t.grad))
    for n, t in (("y", y), ("z", z)):
        t.grad_fn.register_hook(lambda gi, go, n=n: note("node", n))
    for n, t in (("y", y), ("z", z)):
        t.grad_fn.register_prehook(lambda go, n=n: note("before", n))
    s.backward()


def hooks_leaf_used_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    a = x * w
    b = a * x
    for n, t in (("x", x), ("w", w), ("a", a), ("b", b)):
        t.register_hook(lambda g, n=n: note(n, g))
    b.sum().backward()


def hooks_of_the_node_that_accumulates(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    acc = y.grad_fn.next_functions[0][0]
    acc.register_prehook(lambda go: note("before", go[0], x.grad))
    x.register_hook(lambda g: note("hook", g))
    acc.register_hook(lambda gi, go: note("after", len(gi), go[0], x.grad))
    x.register_post_accumulate_grad_hook(lambda t: note("post", t.grad))
    y.sum().backward()
    note(torch.autograd.grad((x * 3).sum(), x))


def hooks_of_the_node_that_accumulates_changes_the_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    acc = y.grad_fn.next_functions[0][0]
    acc.register_prehook(lambda go: (go[0] * 10,))
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    note(x.grad)


def hooks_step_in_a_hook(torch, note):
    ws = [torch.ones(2, requires_grad=True) for _ in range(3)]

    def step(t):
        with torch.no_grad():
            t.sub_(t.grad)
        t.grad = None
        note([w.grad is None for w in ws])

    for w in ws:
        w.register_post_accumulate_grad_hook(step)
    h = torch.ones(2)
    for w in ws:
        h = (h * w).sin()
    h.sum().backward()
    note(ws)


def hooks_leaf_hooks_in_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = (x * w).sin()
    z = y * w
    for n, t in (("x", x), ("w", w), ("y", y)):
        t.register_hook(lambda g, n=n: (note(n, g), g * 2)[1])
    note(torch.autograd.grad(z.sum(), [w, x]), x.grad, w.grad)


def hooks_leaf_hooks_with_inputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = (x * w).sin()
    z = y * w
    for n, t in (("x", x), ("w", w), ("y", y)):
        t.register_hook(lambda g, n=n: (note(n, g), g * 2)[1])
    x.register_post_accumulate_grad_hook(lambda t: note("post", t.grad))
    z.sum().backward(inputs=[x])
    note(x.grad, w.grad)


def hooks_leaf_that_is_a_root(torch, note):
    x = torch.tensor(2.0, requires_grad=True)
    x.register_hook(lambda g: g * 3)
    x.backward()
    note(x.grad)
    torch.autograd.backward([x, x * 2])
    note(x.grad)


def hooks_error_after_a_leaf_was_reached(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = x * 2
    z = y * w
    w.register_hook(lambda g: note("w"))
    y.register_hook(lambda g: 1 / 0)
    try:
        z.sum().backward()
    except ZeroDivisionError:
        note(w.grad, x.grad)


def hooks_unused_leaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    for n, t in (("x", x), ("w", w)):
        t.register_hook(lambda g, n=n: note(n, g))
    (x * 2).sum().backward()
    note(w.grad)


def hooks_of_several_results(torch, note):
    x = torch.ones(3, requires_grad=True)
    a, b = x.split([1, 2])
    w = torch.ones(1, requires_grad=True)
    for n, t in (("x", x), ("a", a), ("b", b), ("w", w)):
        t.register_hook(lambda g, n=n: note(n, g))
    (a * w + b).sum().backward()
    note(x.grad, w.grad)


def hooks_removed(torch, note):
    x = torch.ones(2, requires_grad=True)
    h = x.register_hook(lambda g: g * 3)
    (x * 2).sum().backward()
    note(x.grad)
    h.remove()
    (x * 2).sum().backward()
    note(x.grad)


def hooks_under_create_graph(torch, note):
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(3.0, requires_grad=True)
    y = x**2
    z = (y * w).sin()
    for n, t in (("x", x), ("w", w), ("y", y)):
        t.register_hook(lambda g, n=n: note(n, g))
    z.backward(create_graph=True)
    g = x.grad
    x.grad = None
    g.backward()
    note(x.grad, w.grad)


def hooks_gradient_of_a_leaf_through_a_function(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            return (g * 2, None)

    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    for n, t in (("x", x), ("w", w)):
        t.register_hook(lambda g, n=n: note(n, g))
    (F.apply(x, w) + w.sin()).sum().backward()
    note(x.grad, w.grad)


def hooks_nested_pass_in_a_leaf_s_hook(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)

    def hook(g):
        (w * 3).sum().backward()
        note("in", w.grad)

    x.register_hook(hook)
    w.register_hook(lambda g: note("w", g))
    (x * w).sum().backward()
    note(x.grad, w.grad)


def hooks_several_gradients(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    y = x * w
    torch.autograd.graph.register_multi_grad_hook(
        (x, w, y), lambda gs: note([g is None for g in gs])
    )
    w.register_hook(lambda g: note("w"))
    (y * w).sum().backward()


def number_of_gradients_a_node_s_hook_returns(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_hook(lambda gi, go: (gi[0] * 3,))
    y.sum().backward()


def number_of_gradients_a_node_s_first_hook_returns(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad_fn.register_prehook(lambda g: (g[0], g[0]))
    y.sum().backward()


def leaf_after_accumulation(torch, note):
    x = torch.zeros(3, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: t.add_(t.grad, alpha=-0.01))
    x.backward(torch.tensor([1.0, 2.0, 3.0]))
    note(x)


def number_after_accumulation(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: 3)
    x.sum().backward()


def tangent_of_another_size(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def jvp(ctx, t):
            return torch.ones(3)

    torch.func.jvp(F.apply, (torch.ones(2) * 3,), (torch.ones(2),))


def backward_outside_of_the_block_that_allowed_mutation(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = x * 1
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = w.sin()
        w.add_(1)
    y.sum().backward()


def hooks_of_a_node_whose_gradient_is_what_is_asked_for(torch, note):
    a = torch.tensor(1.0, requires_grad=True)
    b = a * 2
    c = b * 2
    r = []
    b.grad_fn.register_prehook(lambda g: r.append("before"))
    b.grad_fn.register_hook(lambda i, o: r.append("after"))
    b.register_hook(lambda g: r.append("tensor"))
    for wanted in (b, (a, b), a):
        torch.autograd.grad(c, wanted, retain_graph=True)
        note(r)
        r.clear()


def anomaly_mode_warns_of_what_failed(torch, note):
    for late in (False, True):
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            try:
                torch.autograd.set_detect_anomaly(not late)
                a = torch.ones(5, requires_grad=True)
                d = a + 1
                e = d**2
                d += 1
                torch.autograd.set_detect_anomaly(True)
                torch.autograd.grad(e.sum(), a)
            except RuntimeError as error:
                note(str(error)[:60])
            finally:
                torch.autograd.set_detect_anomaly(False)
        note([(i.category.__name__, str(i.message)[:70]) for i in w])


def hooks_of_nodes_where_a_pass_adds_to_some_inputs(torch, note):
    a = torch.tensor(1.0, requires_grad=True)
    b = a * 2
    c = b * 2
    r = []
    b.grad_fn.register_prehook(lambda g: r.append("before"))
    b.register_hook(lambda g: r.append("b"))
    a.register_hook(lambda g: r.append("a"))
    n = b.grad_fn.next_functions[0][0]
    n.register_prehook(lambda g: r.append("before leaf"))
    n.register_hook(lambda i, o: r.append("after leaf"))
    for wanted in (None, (a, b), (b,), (a,)):
        c.backward(inputs=wanted, retain_graph=True)
        note(r)
        r.clear()


def hooks_of_nodes_that_return_no_tuple(torch, note):
    for hook in (
        lambda x: x.grad_fn.register_prehook(lambda g: g[0] * 2),
        lambda x: x.grad_fn.register_hook(lambda i, o: i[0] * 2),
        lambda x: x.grad_fn.register_prehook(lambda g: [g[0]]),
    ):
        x = torch.ones(1, requires_grad=True)
        y = x * 2
        hook(y)
        try:
            y.backward()
            note(x.grad)
        except TypeError as e:
            note(str(e))
