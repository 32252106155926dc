"""``grad``, anomaly mode, and gradients of several passes."""


def slopes_of_powers_down_to_0(torch, note):
    for power in (
        lambda x: x**2,
        lambda x: x**4,
        torch.square,
        lambda x: 3 * x**2 + x,
        lambda x: x ** (-1),
    ):
        x = torch.tensor(2.0, requires_grad=True)
        y = power(x)
        try:
            for _ in range(7):
                (y,) = torch.autograd.grad(y, x, create_graph=True)
                note(y.item(), y.requires_grad)
        except RuntimeError as e:
            note(str(e)[:40])


def anomaly_nan(torch, note):
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.detect_anomaly():
        y = (x.sqrt() * 0).sum()
        y.backward()


def anomaly_no_nan_check(torch, note):
    x = torch.tensor([0.0], requires_grad=True)
    with torch.autograd.detect_anomaly(check_nan=False):
        y = (x.sqrt() * 0).sum()
        y.backward()
        note(x.grad)


def anomaly_begins_with_its_block(torch, note):
    mode = torch.autograd.detect_anomaly()
    note(torch.is_anomaly_enabled())
    with mode:
        note(torch.is_anomaly_enabled())
    note(torch.is_anomaly_enabled())


def anomaly_nested_state(torch, note):
    with torch.autograd.detect_anomaly():
        with torch.autograd.set_detect_anomaly(False):
            note(torch.is_anomaly_enabled())
        note(torch.is_anomaly_enabled())
    note(torch.is_anomaly_enabled())


def anomaly_metadata(torch, note):
    with torch.autograd.detect_anomaly():
        y = torch.ones(1, requires_grad=True) * 2
    note("traceback_" in y.grad_fn.metadata)


def grad_nonleaf_accumulates_nothing(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    note(torch.autograd.grad(z, [y, x]))
    note(x.grad, y.grad)


def grad_same_tensor_as_output_and_input(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    note(torch.autograd.grad(y, y), torch.autograd.grad([y, y], [y]))


def grad_root_leaf_backward(torch, note):
    x = torch.tensor(2.0, requires_grad=True)
    x.backward()
    note(x.grad)
    x.backward()
    note(x.grad)


def grad_backward_of_several_roots(torch, note):
    x = torch.ones(2, requires_grad=True)
    torch.autograd.backward([x.sum(), (x * x).sum()])
    note(x.grad)


def grad_accumulate_into_shared(torch, note):
    x = torch.ones(2, requires_grad=True)
    g = torch.zeros(2)
    x.grad = g
    (x * 3).sum().backward()
    note(g, x.grad is g)


def grad_accumulate_create_graph(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.ones(2)
    g0 = x.grad
    (x * x).sum().backward(create_graph=True)
    note(x.grad, x.grad is g0, g0)


def grad_int_root(torch, note):
    torch.ones(2, dtype=torch.int64).sum().backward()


def grad_gradient_dtype(torch, note):
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.ones(2, dtype=torch.float64))
    note(x.grad)


def grad_allow_unused_with_materialize(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(3, requires_grad=True)
    note(torch.autograd.grad(x.sum(), [x, w], materialize_grads=True))
    torch.autograd.grad(x.sum(), [x, w], materialize_grads=True, allow_unused=False)


def grad_inputs_nonleaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    (y * y).sum().backward(inputs=[y, x])
    note(x.grad, y.grad)


def grad_hook_on_nonleaf_captured(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    note(torch.autograd.grad((y * y).sum(), [y, x]))


def grad_retain_grad_then_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    note(torch.autograd.grad((y * y).sum(), x))
    note(y.grad)


def grad_leaf_hook_with_inputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 3)
    note(torch.autograd.grad((x * 2).sum(), x))
    (x * 2).sum().backward(inputs=x)
    note(x.grad)


def grad_post_accumulate_with_inputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: note("post", t.grad))
    (x * 2).sum().backward(inputs=[x])
    note(x.grad)


def grad_grad_outputs_none_and_given(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad([x.sum(), x * 2], x, [None, torch.ones(2)]))


def grad_is_grads_batched(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * torch.tensor([2.0, 3.0])
    note(torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True))


def gradients_of_a_0_d_tensor_added_to_modified_in_place_handed_to_functions(torch, note):
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a.clone()

        @staticmethod
        def backward(ctx, g):
            g.mul_(2)
            return g

    for dtype in (torch.float64, torch.complex64):
        x = torch.ones(5, dtype=dtype, requires_grad=True)
        y = torch.tensor(2.0, dtype=dtype, requires_grad=True)
        for out in (x - y, x * y, x / y, x - F.apply(y)):
            out.sum().abs().backward()
            note(y.grad.real)
            y.grad.add_(1)
            note(y.grad.real)
        z = y * 1
        z.retain_grad()
        (x - z).sum().abs().backward()
        note(z.grad.zero_(), y.grad.real)
        (g,) = torch.autograd.grad((x - y).sum().abs(), y)
        note(g.add_(1).real)


def gradients_of_a_mean_have_memory_of_their_own(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (g,) = torch.autograd.grad(x.mean(), x)
    note(g.mul_(2))
    (g,) = torch.autograd.grad(x.mean(1, keepdim=True).sum(), x)
    note(g.add_(1), g.stride())


def gradients_of_running_sums_go_forward(torch, note):
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    (g,) = torch.autograd.grad(x.cumsum(1).sum(), x)
    note(g.stride(), g.view(-1))
