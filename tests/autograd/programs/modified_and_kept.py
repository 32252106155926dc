"""Indices, factors and results that were modified after a gradient needed them."""


def modified_index_read_at(torch, note):
    x = torch.ones(3, requires_grad=True)
    i = torch.tensor([0, 1])
    y = x[i]
    i.zero_()
    y.sum().backward()
    note(x.grad)


def modified_one_of_two_indices_read_at(torch, note):
    x = torch.ones(3, 3, requires_grad=True)
    i = torch.tensor([0, 1])
    y = x[i, [1, 2]]
    i += 1
    y.sum().backward()


def modified_index_of_columns(torch, note):
    x = torch.ones(3, 3, requires_grad=True)
    i = torch.tensor([0, 1])
    y = x[:, i]
    i += 1
    y.sum().backward()


def modified_mask_read_at(torch, note):
    x = torch.ones(3, requires_grad=True)
    m = x.detach() > 0
    y = x[m]
    m.zero_()
    y.sum().backward()


def modified_mask_selected_by(torch, note):
    x = torch.ones(3, requires_grad=True)
    m = x.detach() > 0
    y = x.masked_select(m)
    m.zero_()
    y.sum().backward()


def modified_index_written_at(torch, note):
    x = torch.ones(3, requires_grad=True)
    a = x * 1
    i = torch.tensor([0, 1])
    a[i] = 0.0
    i.zero_()
    a.sum().backward()


def modified_mask_written_at(torch, note):
    x = torch.ones(3, requires_grad=True)
    a = x * 1
    m = a > 0
    a[m] = 0.0
    m.zero_()
    a.sum().backward()


def modified_index_put_at(torch, note):
    x = torch.ones(3, requires_grad=True)
    i = torch.tensor([0, 1])
    y = x.index_put((i,), torch.zeros(2))
    i.zero_()
    y.sum().backward()


def modified_index_of_what_needs_no_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    i = torch.tensor([0, 1])
    y = torch.ones(3)[i] * x
    i.zero_()
    y.sum().backward()
    note(x.grad)


def modified_before_it_was_an_index(torch, note):
    x = torch.ones(3, requires_grad=True)
    i = torch.tensor([0, 1])
    i.zero_()
    y = x[i]
    y.sum().backward()
    note(x.grad)


def modified_what_is_kept_though_its_values_are_not_read(torch, note):
    F = torch.nn.functional
    i = torch.tensor([[0, 1], [1, 0]])
    z = torch.zeros(1, 2, 2, 2)
    w = torch.ones(2)
    m = i > 0
    for f in (
        lambda x: x.gather(0, i),
        lambda x: x.take(i),
        lambda x: torch.take_along_dim(x, i, 1),
        lambda x: x.masked_select(m),
        lambda x: x.index_select(0, i[0]),
        lambda x: x[i],
        lambda x: x[0],
        lambda x: F.avg_pool1d(x, 2),
        lambda x: F.avg_pool2d(x[None], 2),
        lambda x: F.avg_pool2d(x[None], 1),
        lambda x: F.avg_pool3d(x[None, None], 1),
        lambda x: F.adaptive_avg_pool1d(x, 1),
        lambda x: F.adaptive_avg_pool2d(x[None], (1, 2)),
        lambda x: F.adaptive_avg_pool2d(x[None], 1),
        lambda x: F.adaptive_avg_pool2d(x[None], 2),
        lambda x: F.adaptive_avg_pool3d(x[None, None], (1, 1, 2)),
        lambda x: F.pad(x, (1, 1), mode="reflect"),
        lambda x: F.pad(x, (1, 0), mode="replicate"),
        lambda x: F.pad(x, (1, 1)),
        lambda x: F.pad(x, (1, 0), mode="circular"),
        lambda x: F.interpolate(x[None, None], (1, 2), mode="area"),
        lambda x: F.interpolate(x[None], 4),
        lambda x: F.nll_loss(x, i[0]),
        lambda x: F.nll_loss(x, i[0], reduction="none"),
        lambda x: F.soft_margin_loss(x, w),
        lambda x: F.multi_margin_loss(x, i[0]),
        lambda x: F.multilabel_margin_loss(x, i),
        lambda x: F.grid_sample(x[None, None], z),
        lambda x: F.grid_sample(x[None, None].detach(), z + x[None, ..., None]),
        lambda x: torch.frexp(x)[0],
    ):
        x = torch.eye(2, requires_grad=True)
        a = x * 1
        y = f(a)
        a.mul_(1)
        try:
            y.sum().backward()
            note(x.grad)
        except RuntimeError as error:
            note("modified by an inplace operation" in str(error))


def modified_what_is_not_kept_but_what_was_computed_from_it(torch, note):
    F = torch.nn.functional
    i = torch.tensor([0, 1])
    w = torch.ones(2) * 3
    t = torch.eye(2)[None]
    for f in (
        lambda a: F.scaled_dot_product_attention(a, t, t),
        lambda a: torch.linalg.vander(a, N=3) * 0 + a,
        lambda a: F.scaled_dot_product_attention(t, a, t),
        lambda a: F.scaled_dot_product_attention(t, t, a),
        lambda a: F.scaled_dot_product_attention(a[None], t[None], t[None]),
        lambda a: F.scaled_dot_product_attention(a, a, t, scale=-0.5),
        lambda a: F.instance_norm(a * 1, weight=a[0, 0]),
        lambda a: F.instance_norm(a, weight=w),
    ):
        x = torch.arange(8.0).reshape(2, 2, 2).requires_grad_()
        a = x * 1
        w = torch.ones(2) * 3
        y = f(a)
        with torch.no_grad():
            a.mul_(2)
            w.mul_(2)
        try:
            (y * y).sum().backward()
            note(x.grad)
        except RuntimeError as error:
            note("modified by an inplace operation" in str(error))


def modified_powers(torch, note):
    x = torch.ones(3, requires_grad=True)
    y = torch.linalg.vander(x, N=3)
    with torch.no_grad():
        y.mul_(2)
    y.sum().backward()
    note(x.grad)


def modified_what_a_result_was_chosen_from(torch, note):
    F = torch.nn.functional
    i = torch.tensor([[0, 1], [1, 0]])
    for f in (
        lambda x: x.max(0)[0],
        lambda x: x.min(1, True)[0],
        lambda x: x.median(0)[0],
        lambda x: x.nanmedian(1)[0],
        lambda x: x.mode(1)[0],
        lambda x: x.kthvalue(1)[0],
        lambda x: x.topk(1)[0],
        lambda x: x.sort()[0],
        lambda x: x.msort(),
        lambda x: x.quantile(0.3),
        lambda x: F.embedding_bag(i, x, mode="max"),
    ):
        x = torch.eye(2, requires_grad=True)
        a = x * 1
        y = f(a)
        a.mul_(-3)
        y.sum().backward()
        note(x.grad)


def modified_arguments_of_which_what_was_computed_from_them_is_kept_and_results(torch, note):
    F = torch.nn.functional
    for f in (
        F.tanhshrink,
        torch.special.ndtr,
        lambda x: torch.ldexp(x, torch.tensor([1.0, 2.0])),
        lambda x: torch.ldexp(torch.tensor([1.0, 2.0]), x),
        lambda x: F.l1_loss(x, torch.zeros(2)),
        lambda x: F.l1_loss(torch.zeros(2), x, reduction="sum"),
        lambda x: F.smooth_l1_loss(x, torch.zeros(2), beta=0.0),
        lambda x: torch.ldexp(x, x),
        lambda x: torch.erfinv(x / 9),
    ):
        for k in range(2):
            x = torch.tensor([0.3, -2.0], requires_grad=True)
            a = x * 1
            y = f(a)
            with torch.no_grad():
                (a, y)[k].mul_(-2).add_(1)
            try:
                y.sum().backward()
                note(x.grad)
            except RuntimeError as error:
                note("modified by an inplace operation" in str(error))


def modified_what_is_kept_of_several_factors_and_indices(torch, note):
    F = torch.nn.functional
    i = torch.tensor([1, 0, 1])
    for f in (
        lambda a, b, c: F.bilinear(a, b, c),
        lambda a, b, c: torch.dist(a, b),
        lambda a, b, c: F.embedding_bag(i, c[0], b.long()[0], per_sample_weights=a[0], mode="sum"),
        lambda a, b, c: F.max_pool1d(a, 2, return_indices=True),
        lambda a, b, c: F.max_pool2d(c[0][None], 2, return_indices=True),
        lambda a, b, c: F.adaptive_max_pool1d(a, 2, return_indices=True),
    ):
        for which in ("a", "b", "c", "ac", "abc"):
            for k in range(6):
                i = torch.tensor([1, 0, 1])
                three = [torch.ones(2, 3) / 2, torch.zeros(2, 3), torch.ones(4, 3, 3) / 3]
                for t, name in zip(three, "abc"):
                    t.requires_grad_(name in which)
                y = f(*three)
                y = y if isinstance(y, tuple) else (y,)
                changed = (*three, i, *y, *y)[k]
                with torch.no_grad():
                    changed.add_(0)
                try:
                    note(torch.autograd.grad(y[0].sum(), [t for t in three if t.requires_grad]))
                except RuntimeError as error:
                    note("modified by an inplace operation" in str(error))


def modified_states_of_cells(torch, note):
    N = torch.nn
    x = torch.ones(2, 3)
    for m in (N.LSTMCell(3, 3), N.GRUCell(3, 3), N.RNNCell(3, 3)):
        for k in range(4):
            with torch.no_grad():
                for q in m.parameters():
                    q.copy_(torch.arange(q.numel()).reshape(q.shape) / 30 - 0.3)
            h = torch.tensor([[0.3, -2.0, 0.1]] * 2, requires_grad=True)
            s = (h * 1, h * 2)
            y = m(x, s if isinstance(m, N.LSTMCell) else s[0])
            y = y if isinstance(y, tuple) else (y, y)
            with torch.no_grad():
                (*s, *y)[k].mul_(-1)
            try:
                note(torch.autograd.grad((y[0] * x).sum() + y[-1].sum(), [h, *m.parameters()]))
            except RuntimeError as error:
                note("modified by an inplace operation" in str(error))


def modified_two_of_three_equal_matrices(torch, note):
    for k in range(3):
        xs = [torch.tensor([[1.0, 2.0], [3.0, j]], requires_grad=j != k) for j in range(3)]
        for j in range(3):
            y = torch.linalg.multi_dot(xs)
            with torch.no_grad():
                xs[j].mul_(-1)
            try:
                note(torch.autograd.grad(y.sum(), [x for x in xs if x.requires_grad]))
            except RuntimeError as error:
                note("modified by an inplace operation" in str(error))


def modified_one_of_several_results(torch, note):
    for f in (
        torch.frexp,
        torch.slogdet,
        torch.linalg.cholesky_ex,
        torch.linalg.lu_factor_ex,
        torch.linalg.inv_ex,
        torch.lu,
        lambda x: torch.lu(x, get_infos=True),
        lambda x: torch.linalg.solve_ex(x, torch.ones(2)),
        lambda x: x.max(1),
        lambda x: x.diagonal().sum().max(0),
        lambda x: x.sum().mode(),
    ):
        for k in range(3):
            x = torch.tensor([[2.0, 1.0], [1.0, 4.0]], requires_grad=True)
            rs = f(x)
            with torch.no_grad():
                rs[k % len(rs)].zero_()
            try:
                sum(r.sum() for r in rs if r.requires_grad).backward()
                note(x.grad)
            except RuntimeError as error:
                note("modified by an inplace operation" in str(error))


def modified_unread_result_derived_twice(torch, note):
    x = torch.tensor([[2.0, 1.0], [1.0, 4.0]], requires_grad=True)
    r, info = torch.linalg.inv_ex(x)
    info.zero_()
    (g,) = torch.autograd.grad(r.sum(), x, create_graph=True)
    (g * g).sum().backward()
    note(x.grad)


def modified_hooks_of_results_of_which_one_is_not_kept(torch, note):
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t.dtype) or t, lambda t: t):
        x = torch.tensor([[2.0, 1.0], [1.0, 4.0]], requires_grad=True)
        r = torch.linalg.inv_ex(x)[0]
    r.sum().backward()
    note(x.grad, len(kept))


def modified_weight_of_a_loss(torch, note):
    x = torch.eye(2, requires_grad=True)
    w = torch.ones(2)
    y = torch.nn.functional.nll_loss(x, torch.tensor([0, 1]), w)
    w.add_(1)
    y.backward()


def modified_grid_that_needs_no_gradient(torch, note):
    x = torch.ones(1, 1, 2, 2, requires_grad=True)
    g = torch.zeros(1, 1, 1, 2)
    y = torch.nn.functional.grid_sample(x, g, align_corners=True)
    g.add_(1)
    y.sum().backward()


def modified_vector_whose_own_gradient_alone_is_wanted(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a.dot(torch.ones(2))
    a.zero_()
    y.backward()
    note(x.grad)


def modified_vector_of_the_other_s_gradient(torch, note):
    x = torch.ones(2, requires_grad=True)
    a = x * 1
    y = a.dot(x)
    a.zero_()
    y.backward()
    note(x.grad)
