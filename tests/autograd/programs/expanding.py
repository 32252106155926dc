"""Writing to expanded tensors."""


def expanded_zero(torch, note):
    x = torch.ones(1).expand(3)
    x.zero_()
    note(x)


def expanded_fill(torch, note):
    x = torch.ones(1).expand(3)
    x.fill_(2)
    note(x)


def expanded_fill_with_a_tensor(torch, note):
    x = torch.ones(1).expand(3)
    x.fill_(torch.tensor(2.0))
    note(x)


def expanded_add(torch, note):
    x = torch.ones(1).expand(3)
    x.add_(1)


def expanded_copy(torch, note):
    x = torch.ones(1).expand(3)
    x.copy_(torch.ones(3))


def expanded_exp(torch, note):
    x = torch.ones(1).expand(3)
    x.exp_()


def expanded_set_item(torch, note):
    x = torch.ones(1).expand(3)
    x[0] = 2
    note(x)


def expanded_set_item_whole(torch, note):
    x = torch.ones(1).expand(3)
    x[:] = 2
    note(x)


def expanded_set_item_with_a_tensor(torch, note):
    x = torch.ones(1).expand(3)
    x[:2] = torch.ones(2)
    note(x)


def expanded_normal(torch, note):
    x = torch.ones(1).expand(3)
    x.normal_()


def expanded_uniform(torch, note):
    x = torch.ones(1).expand(3)
    x.uniform_()


def expanded_scatter(torch, note):
    x = torch.ones(1).expand(3)
    x.scatter_(0, torch.tensor([0]), 2.0)
    note(x)


def expanded_index_add(torch, note):
    x = torch.ones(1).expand(3)
    x.index_add_(0, torch.tensor([0]), torch.ones(1))
    note(x)


def expanded_clamp(torch, note):
    x = torch.ones(1).expand(3)
    x.clamp_(0, 1)


def expanded_transposed(torch, note):
    x = torch.ones(1).expand(3)
    x.unsqueeze_(0)
    note(x)


def expanded_out(torch, note):
    x = torch.ones(1).expand(3)
    torch.add(torch.ones(3), 1, out=x)
    note(x)


def expanded_one_element(torch, note):
    x = torch.ones(1).expand(1)
    x.add_(1)
    note(x)


def expanded_one_element_of_two_dimensions(torch, note):
    x = torch.ones(1, 1).expand(1, 1)
    x.mul_(3)
    note(x)


def expanded_empty(torch, note):
    x = torch.ones(1, 0).expand(3, 0)
    x.add_(1)
    note(x)


def expanded_part_of_it(torch, note):
    x = torch.ones(1).expand(3)
    x[0].add_(1)
    note(x)


def expanded_part_with_another_size(torch, note):
    x = torch.ones(2, 1).expand(2, 3)
    x[:, 0].add_(1)
    note(x)


def expanded_gradient_of_zero(torch, note):
    y = torch.ones(1, requires_grad=True) * 2
    x = y.expand(3)
    x.zero_()
    note(x, y)


def expanded_unfold(torch, note):
    x = torch.arange(4.0).unfold(0, 2, 1)
    x.add_(1)


def expanded_relu_in_place_of_a_function(torch, note):
    x = torch.ones(1).expand(3)
    torch.nn.functional.relu(x, inplace=True)


def expanded_cumsum(torch, note):
    x = torch.ones(1).expand(3)
    x.cumsum_(0)
    note(x)


def expanded_data(torch, note):
    x = torch.ones(1).expand(3)
    x.data.add_(1)


def expanded_gradient_of_a_part(torch, note):
    w = torch.ones(2, 1, requires_grad=True)
    y = w * 2
    x = y.expand(2, 3)
    x[:, 0].mul_(5)
    note(x, y)
    (x * torch.arange(6.0).reshape(2, 3)).sum().backward()
    note(w.grad)


def expanded_gradient_of_a_part_that_is_set(torch, note):
    w = torch.ones(2, 1, requires_grad=True)
    v = torch.ones(2, requires_grad=True)
    y = w * 2
    x = y.expand(2, 3)
    x[:, 0] = v * 3
    note(x, y)
    (x * torch.arange(6.0).reshape(2, 3)).sum().backward()
    note(w.grad, v.grad)


def expanded_leaf(torch, note):
    x = torch.ones(1, requires_grad=True).expand(3)
    x.zero_()


def expanded_leaf_in_no_grad(torch, note):
    x = torch.ones(1, requires_grad=True)
    with torch.no_grad():
        x.expand(3).zero_()
    note(x)
