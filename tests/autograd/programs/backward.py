"""Passes backward, one after another and into complex numbers."""


def backward_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    y.backward()


def backward_twice_times_a_number(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    y.backward()
    note(x.grad)
    y.backward()


def backward_twice_a_number_times(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (2 * x).sum()
    y.backward()
    note(x.grad)
    y.backward()


def backward_twice_in_place_by_a_number(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.clone().mul_(3.5).sum()
    y.backward()
    note(x.grad)
    y.backward()


def backward_twice_divided_by_a_number(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x / 300.0).sum()
    y.backward()
    note(x.grad)
    y.backward()


def backward_twice_rounded_quotient(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.div(2, rounding_mode="floor").sum()
    y.backward()
    y.backward()


def backward_twice_plus_and_minus_a_number(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (3 - x + 2 - 1).sum()
    y.backward()
    y.backward()
    note(x.grad)


def backward_twice_with_a_graph_of_its_own(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    y.backward(create_graph=True)
    y.backward()
    note(x.grad)


def backward_twice_times_a_number_grad(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    torch.autograd.grad(y, x)
    torch.autograd.grad(y, x)


def post_accumulate_hook_that_returns_something(torch, note):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: t.grad)
    (x * 2).sum().backward()


def backward_non_scalar(torch, note):
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward()


def backward_no_grad(torch, note):
    torch.ones(2).sum().backward()


def backward_wrong_gradient_shape(torch, note):
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(torch.ones(3))


def backward_gradient_not_tensor(torch, note):
    x = torch.ones(2, requires_grad=True)
    (x * 2).backward(3.0)


def backward_inputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    (x * w).sum().backward(inputs=[x])
    note(x.grad, w.grad)


def backward_inputs_nonleaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    (y * 3).sum().backward(inputs=[y])
    note(y.grad, x.grad)


def grad_unused(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    torch.autograd.grad((x * 2).sum(), w)


def grad_allow_unused(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad((x * 2).sum(), [w, x], allow_unused=True))


def grad_materialize(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad((x * 2).sum(), [w, x], materialize_grads=True))


def grad_of_not_requiring(torch, note):
    x = torch.ones(2)
    torch.autograd.grad((x * 2).sum(), x)


def grad_same_input_twice(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad((x * 2).sum(), [x, x]))


def grad_wrt_nonleaf(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    note(torch.autograd.grad(z, [y, x]))


def grad_of_itself(torch, note):
    x = torch.ones(1, requires_grad=True)
    note(torch.autograd.grad(x, x))


def grad_many_outputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad([x.sum(), (x * x).sum()], x))


def grad_grad_outputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad(x * 2, x, grad_outputs=torch.tensor([1.0, 5.0])))


def grads_batched(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad(x * x, x, grad_outputs=torch.eye(2), is_grads_batched=True))


def double_backward(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (g**2).sum().backward()
    note(x.grad)


def triple(torch, note):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**5
    for _ in range(4):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    note(y)


def grad_penalty(torch, note):
    torch.manual_seed(0)
    w = torch.randn(3, 3, requires_grad=True)
    x = torch.randn(4, 3, requires_grad=True)
    o = torch.tanh(x @ w).sum()
    (g,) = torch.autograd.grad(o, x, create_graph=True)
    ((g.norm(2, dim=1) - 1) ** 2).mean().backward()
    note(w.grad)


def complex_abs(torch, note):
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    x.abs().sum().backward()
    note(x.grad)


def complex_mul(torch, note):
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (x * x * (2 - 1j)).real.sum().backward()
    note(x.grad)


def complex_backward_nonreal(torch, note):
    x = torch.tensor([1 + 2j], requires_grad=True)
    (x * x).sum().backward()


def complex_gradient_arg(torch, note):
    x = torch.tensor([1 + 2j], requires_grad=True)
    (x * x).backward(torch.tensor([1j]))
    note(x.grad)


def complex_real_mix(torch, note):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1 + 2j, 2j])
    (x * w).abs().pow(2).sum().backward()
    note(x.grad)


def view_as_real(torch, note):
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    (torch.view_as_real(x) * torch.tensor([2.0, 3.0])).sum().backward()
    note(x.grad)


def angle(torch, note):
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    x.angle().sum().backward()
    note(x.grad)


def conj_inplace(torch, note):
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = (x * 1).conj()
    y.abs().sum().backward()
    note(x.grad)


def fft_grad(torch, note):
    x = torch.arange(4.0).requires_grad_()
    torch.fft.fft(x).abs().pow(2).sum().backward()
    note(x.grad)


def polar(torch, note):
    r = torch.tensor([1.0, 2.0], requires_grad=True)
    t = torch.tensor([0.5, 0.7], requires_grad=True)
    torch.polar(r, t).real.sum().backward()
    note(r.grad, t.grad)


def max_grads_ties(torch, note):
    x = torch.tensor([1.0, 1.0, 0.0], requires_grad=True)
    x.max().backward()
    note(x.grad)
    x.grad = None
    x.max(0)[0].backward()
    note(x.grad)
    x.grad = None
    x.amax().backward()
    note(x.grad)


def where_nan_grad(torch, note):
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    torch.where(x > 0, x.sqrt(), torch.zeros(2)).sum().backward()
    note(x.grad)


def norm_zero(torch, note):
    x = torch.zeros(2, requires_grad=True)
    x.norm().backward()
    note(x.grad)


def grad_empty(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad((x * 2).sum(), []))


def grad_only_inputs(torch, note):
    x = torch.ones(2, requires_grad=True)
    note(torch.autograd.grad(x * x, x, torch.ones(2), False, False, True, False))


def grads_batched_one_unused(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, requires_grad=True)
    e = torch.eye(2)
    note(torch.autograd.grad(x * 2, [x, y], e, is_grads_batched=True, allow_unused=True))


def grads_batched_one_unused_as_zeros(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(3, requires_grad=True)
    e = torch.eye(2)
    note(torch.autograd.grad(x * 2, [x, y], e, is_grads_batched=True, materialize_grads=True)[0])


def grads_batched_one_unused_not_allowed(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(3, requires_grad=True)
    e = torch.eye(2)
    torch.autograd.grad(x * 2, [x, y], e, is_grads_batched=True)


def grads_batched_free_the_graph(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    e = torch.eye(2)
    note(torch.autograd.grad(y, x, e, is_grads_batched=True))
    torch.autograd.grad(y, x, e[0])


def grads_batched_retain_the_graph(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x * x
    e = torch.eye(2)
    torch.autograd.grad(y, x, e, retain_graph=True, is_grads_batched=True)
    note(torch.autograd.grad(y, x, e[0]))
