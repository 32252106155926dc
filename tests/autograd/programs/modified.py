"""Tensors that were modified after a gradient needed them."""


def modified_factor_of_a_number(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a * 3
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_factor_of_a_constant(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    c = torch.ones(2) * 4
    y = a * c
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_constant_factor(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    c = torch.ones(2) * 4
    y = a * c
    c.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_dividend(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    c = torch.ones(2) * 4
    y = a / c
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_dividend_2(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    c = torch.ones(2) * 4
    y = c / a
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_linear(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = torch.nn.functional.linear(a, torch.ones(2, 2))
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_linear_2(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    w = torch.ones(2, 2, requires_grad=True)
    y = torch.nn.functional.linear(a, w)
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_linear_bias(torch, note):
    x = torch.ones(3, 2, requires_grad=True)
    a = x * 1
    b = torch.ones(4, requires_grad=True) * 1
    y = torch.nn.functional.linear(a, torch.ones(4, 2), b)
    a.add_(1)
    b.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_matmul(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a @ torch.ones(2, 2)
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_where(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = torch.where(a > 0, a, 3.0)
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_addcmul(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    c = torch.ones(2) * 4
    y = torch.addcmul(a, c, c)
    c.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_pow(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a**2
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_bmm(torch, note):
    x = torch.ones(1, 2, 2, requires_grad=True)
    a = x * 1
    y = torch.bmm(a, torch.ones(1, 2, 2))
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_lerp(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = torch.lerp(a, torch.ones(2), 0.5)
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_atan2(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = torch.atan2(a, torch.ones(2))
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_mse(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = torch.nn.functional.mse_loss(a, torch.ones(2))
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_sub_mul_sum_chain(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a - 2 * a
    a.zero_()
    y.sum().backward()
    note(x.grad)


def modified_relu_in_place_after_mul_number(torch, note):
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    h = x * 2
    y = h * 3
    h.relu_()
    (y.sum() + h.sum()).backward()
    note(x.grad)


def modified_iadd_on_result(torch, note):
    x = torch.ones(2, requires_grad=True)
    h = x * 2
    y = h * 5
    h += 1
    (y * h).sum().backward()
    note(x.grad)


def modified_exp_result(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_sin_input(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a.sin()
    a.add_(1)
    y.sum().backward()
    note(x.grad)


def modified_second_of_two(torch, note):
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2, requires_grad=True) * 1
    y = x * w
    w.add_(1)
    y.sum().backward()


def modified_detached_first(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a.detach() * x
    a.add_(1)
    y.sum().backward()


def modified_layer_norm(torch, note):
    x = torch.ones(2, 3, requires_grad=True)
    a = x * 1
    y = torch.nn.functional.layer_norm(a, (3,))
    a.add_(1)
    y.sum().backward()


def modified_softmax_result(torch, note):
    x = torch.ones(2, requires_grad=True)
    y = x.softmax(0)
    y.mul_(2)
    y.sum().backward()


def modified_dropout_input(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = torch.nn.functional.dropout(a, 0.0)
    a.add_(1)
    y.sum().backward()
    note(x.grad)
