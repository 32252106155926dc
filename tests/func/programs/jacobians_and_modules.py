"""``func.jacrev``, ``jacfwd``, ``hessian``, and modules as functions."""


def jacrev(torch, note):
    F = torch.func
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    note(F.jacrev(lambda x: x.exp().sum(1))(x), F.jacrev(torch.sin)(torch.tensor(1.0)))


def jacrev_of_trees(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    j = F.jacrev(lambda d: {"o": d["a"] * d["b"], "p": (d["a"].sum(),)})({"a": x, "b": x + 1})
    note(j["o"]["a"], j["o"]["b"], j["p"][0]["a"], j["p"][0]["b"])


def jacrev_argnums(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    f = lambda a, b: (a * b, b.sum())
    note(
        F.jacrev(f)(x, x + 1),
        F.jacrev(f, 1)(x, x + 1),
        F.jacrev(f, (0, 1))(x, x + 1),
        F.jacrev(f, -1)(x, x + 1),
    )


def jacrev_aux(torch, note):
    F = torch.func
    j, a = F.jacrev(lambda x: (x**2, {"a": x}), has_aux=True)(torch.tensor([1.0, 2.0]))
    note(j, a["a"])


def jacrev_chunks(torch, note):
    F = torch.func
    note(F.jacrev(lambda x: x**2, chunk_size=2)(torch.tensor([1.0, 2.0, 3.0])))


def jacrev_chunks_of_none(torch, note):
    torch.func.jacrev(lambda x: x**2, chunk_size=0)


def jacrev_of_nothing(torch, note):
    note(
        torch.func.jacrev(lambda x: x[:0])(torch.ones(2)),
        torch.func.jacrev(lambda x: x.sum())(torch.ones(0)),
    )


def jacrev_of_a_constant(torch, note):
    note(torch.func.jacrev(lambda x: torch.ones(2))(torch.ones(3)))


def jacrev_of_a_complex_tensor(torch, note):
    torch.func.jacrev(lambda x: x)(torch.tensor([1j]))


def jacrev_of_a_complex_result(torch, note):
    torch.func.jacrev(lambda x: x * 1j)(torch.tensor([1.0]))


def jacrev_of_keywords(torch, note):
    torch.func.jacrev(lambda x, y=1: x * y)(torch.ones(2), y=3)


def jacrev_of_a_number(torch, note):
    torch.func.jacrev(lambda x: x * x)(3.0)


def jacrev_of_jacrev(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.jacrev(F.jacrev(lambda x: x**3))(x), F.jacrev(F.jacfwd(torch.sin))(x))


def jacrev_of_what_requires_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    j = F.jacrev(lambda x: x**3)(x)
    note(j)
    j.sum().backward()
    note(x.grad)
    with torch.no_grad():
        note(F.jacrev(lambda x: x**3)(x))


def jacfwd(torch, note):
    F = torch.func
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    note(F.jacfwd(lambda x: x.exp().sum(1))(x), F.jacfwd(torch.sin)(torch.tensor(1.0)))


def jacfwd_of_more_outputs(torch, note):
    F = torch.func
    note(F.jacfwd(lambda t: torch.stack([t, t**2, t**3]))(torch.tensor(2.0)))
    note(F.jacfwd(lambda t: (torch.outer(t, t).exp(), t.sum()))(torch.tensor([1.0, 2.0])))


def jacfwd_of_trees(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    j = F.jacfwd(
        lambda d: {"o": d["a"] * d["b"], "p": (d["a"].sum(), torch.outer(d["b"], d["b"]))}
    )({"a": x, "b": x + 1})
    note(j["o"]["a"], j["o"]["b"], j["p"][0]["a"], j["p"][0]["b"], j["p"][1]["a"], j["p"][1]["b"])


def jacfwd_argnums(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    f = lambda a, b: (a * b, b.sum())
    note(
        F.jacfwd(f)(x, x + 1),
        F.jacfwd(f, 1)(x, x + 1),
        F.jacfwd(f, (0, 1))(x, x + 1),
        F.jacfwd(f, (1,))(x, x + 1),
    )


def jacfwd_aux(torch, note):
    F = torch.func
    j, a = F.jacfwd(lambda x: (x**2, {"a": x}), has_aux=True)(torch.tensor([1.0, 2.0]))
    note(j, a["a"])


def jacfwd_of_nothing(torch, note):
    note(
        torch.func.jacfwd(lambda x: x[:0])(torch.ones(2)),
        torch.func.jacfwd(lambda x: x.sum())(torch.ones(0)),
    )


def jacfwd_of_other_dtypes(torch, note):
    f = lambda x: x.double() * torch.tensor(1 / 3, dtype=torch.float64)
    note(torch.func.jacfwd(f)(torch.tensor([1.0])), torch.func.jacrev(f)(torch.tensor([1.0])))


def jacfwd_of_an_integer_result(torch, note):
    note(torch.func.jacfwd(lambda x: x.long())(torch.ones(2)))


def jacfwd_of_integers(torch, note):
    torch.func.jacfwd(lambda x: x * x)(torch.tensor([1, 2]))


def jacfwd_of_a_complex_tensor(torch, note):
    torch.func.jacfwd(lambda x: x)(torch.tensor([1j]))


def jacfwd_randomly(torch, note):
    torch.func.jacfwd(lambda x: x * torch.rand(2))(torch.ones(2))


def jacfwd_randomly_the_same(torch, note):
    torch.manual_seed(0)
    note(torch.func.jacfwd(lambda x: x * torch.rand(2), randomness="same")(torch.ones(2)))


def jacfwd_randomly_otherwise(torch, note):
    torch.func.jacfwd(lambda x: x * torch.rand(2), randomness="other")(torch.ones(2))


def jacfwd_of_what_requires_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    j = F.jacfwd(lambda x: x**3)(x)
    note(j)
    j.sum().backward()
    note(x.grad)
    j = F.jacfwd(lambda t: torch.stack([t, t**2, t**3]))(x[0])
    note(j)


def hessian(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(F.hessian(lambda x: (x**3).sum() * x[0])(x), F.hessian(torch.sin)(x))


def hessian_argnums(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    note(
        F.hessian(lambda a, b: (a * a * b).sum(), (0, 1))(x, x),
        F.hessian(lambda a, b: (a * a * b).sum(), 1)(x, x),
    )


def hessian_of_trees(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0])
    h = F.hessian(lambda d: (d["a"] ** 2 * d["b"]).sum())({"a": x, "b": x + 1})
    note(h["a"]["a"], h["a"]["b"], h["b"]["a"], h["b"]["b"])


def hessian_of_what_requires_grad(torch, note):
    F = torch.func
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = F.hessian(lambda x: (x**4).sum())(x)
    note(h)
    h.sum().backward()
    note(x.grad)


def hessian_of_a_linear_function(torch, note):
    note(torch.func.hessian(lambda x: (3 * x).sum())(torch.ones(2)))


def third_derivatives(torch, note):
    F = torch.func
    note(F.jacrev(F.hessian(lambda x: (x**4).sum()))(torch.tensor([1.0, 2.0])))


def names(torch, note):
    note(
        torch.func.grad(abs).__name__,
        torch.func.jacrev(abs).__name__,
        torch.func.vmap(abs).__name__,
    )


def function_call(torch, note):
    m = torch.nn.Linear(2, 1)
    n = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])}
    x = torch.tensor([[1.0, 1.0]])
    note(torch.func.functional_call(m, n, (x,)), torch.func.functional_call(m, n, x))
    note(
        torch.func.functional_call(
            m, ({"weight": n["weight"]}, {"bias": n["bias"]}), kwargs={"input": x}
        )
    )


def function_call_of_no_dict(torch, note):
    torch.func.functional_call(torch.nn.Linear(1, 1), 3, (torch.ones(1),))


def function_call_of_a_list_of_none(torch, note):
    torch.func.functional_call(torch.nn.Linear(1, 1), [3], (torch.ones(1),))


def function_call_twice_the_same(torch, note):
    torch.func.functional_call(
        torch.nn.Linear(1, 1),
        ({"weight": torch.ones(1, 1)}, {"weight": torch.ones(1, 1)}),
        (torch.ones(1),),
    )


def function_call_strictly(torch, note):
    torch.func.functional_call(
        torch.nn.Linear(1, 1), {"weight": torch.ones(1, 1)}, (torch.ones(1),), strict=True
    )


def function_call_of_buffers(torch, note):
    class M(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.zeros(1))

        def forward(self, x):
            self.n = self.n + 1
            return x + self.n

    m = M()
    d = {"n": torch.tensor([5.0])}
    note(torch.func.functional_call(m, d, (torch.ones(1),)), d["n"], m.n)


def gradients_by_parameters(torch, note):
    m = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1))
    n = {k: torch.full(v.shape, 0.1 * (i + 1)) for i, (k, v) in enumerate(m.named_parameters())}
    f = lambda n, x: torch.func.functional_call(m, n, (x,)).sum()
    x = torch.tensor([[1.0, 2.0]])
    g = torch.func.grad(f)(n, x)
    note(*g, *g.values())
    h = torch.func.hessian(f)(n, x)
    note(*h["0.weight"].values())


def stacked_modules(torch, note):
    d = torch.func.stack_module_state([torch.nn.BatchNorm1d(2) for _ in range(3)])
    for part in d:
        for k, v in part.items():
            note(k, v, v.is_leaf)


def stacked_modules_of_none(torch, note):
    torch.func.stack_module_state([])


def stacked_modules_in_other_modes(torch, note):
    torch.func.stack_module_state([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval()])


def stacked_modules_of_other_classes(torch, note):
    torch.func.stack_module_state([torch.nn.Linear(1, 1), torch.nn.ReLU()])


def stacked_modules_frozen(torch, note):
    torch.func.stack_module_state(
        [torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).requires_grad_(False)]
    )


def stacked_frozen_modules(torch, note):
    d, _ = torch.func.stack_module_state(
        [torch.nn.LayerNorm(1).requires_grad_(False) for _ in range(2)]
    )
    note(*d.values())


def batch_norm_replaced(torch, note):
    m = torch.nn.Sequential(
        torch.nn.BatchNorm1d(2),
        torch.nn.Sequential(torch.nn.BatchNorm2d(2)),
        torch.nn.InstanceNorm1d(2, track_running_stats=True),
    )
    note(
        torch.func.replace_all_batch_norm_modules_(m) is m,
        m[0].running_mean,
        m[1][0].num_batches_tracked,
    )
    note(m[0].track_running_stats, m[2].running_mean)
