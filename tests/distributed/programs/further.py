"""Unequal inputs, batch norms, divided optimizers, hooks: each against one process's numbers."""

import copy
import pickle
import sys
import tempfile
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import checkpoint
from torch.distributed._functional_collectives import all_reduce as functional_all_reduce
from torch.distributed._functional_collectives import wait_tensor
from torch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    default_hooks,
    post_localSGD_hook,
    powerSGD_hook,
    register_ddp_comm_hook,
)
from torch.distributed.algorithms.join import Join
from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from torch.distributed.checkpoint import state_dict as canonical
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import Replicate, Shard
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DistributedSampler

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
RANK, SIZE = dist.get_rank(), dist.get_world_size()


def equal_on_all(tensor):
    parts = [torch.zeros_like(tensor) for _ in range(SIZE)]
    dist.all_gather(parts, tensor.contiguous())
    return all(torch.equal(part, tensor) for part in parts)


def flat(module):
    return torch.cat([p.detach().reshape(-1) for p in module.parameters()])


def raises(kind, text, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")


def test_join():
    """Rank r has 2 + r batches. Those that are left are summed, and divided by all ranks."""
    for by_all in (True, False):
        torch.manual_seed(3)
        data = torch.randn(SIZE, 2 + SIZE, 5, 4)
        net, alone = nn.Linear(4, 2), nn.Linear(4, 2)
        alone.load_state_dict(net.state_dict())
        model = DDP(net)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        with model.join(divide_by_initial_world_size=by_all):
            for batch in data[RANK, : 2 + RANK]:
                optimizer.zero_grad()
                model(batch).square().mean().backward()
                optimizer.step()
        one = torch.optim.SGD(alone.parameters(), 0.1)
        for step in range(1 + SIZE):
            left = [rank for rank in range(SIZE) if step < 2 + rank]
            one.zero_grad()
            loss = sum(alone(data[rank, step]).square().mean() for rank in left)
            (loss / (SIZE if by_all else len(left))).backward()
            one.step()
        assert equal_on_all(flat(net))
        torch.testing.assert_close(flat(net), flat(alone), rtol=1e-5, atol=1e-6)


def test_join_throws():
    net = nn.Linear(4, 2)
    model = DDP(net)

    def run():
        with model.join(throw_on_early_termination=True):
            for _ in range(1 + RANK):
                model(torch.ones(1, 4)).sum().backward()

    text = "exhausted all inputs" if RANK == 0 else "at least one rank that exhausted inputs"
    raises(RuntimeError, text, run)


def test_join_with_buffers():
    net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
    model = DDP(net)
    with model.join():
        for _ in range(1 + RANK):
            model(torch.randn(6, 4)).square().mean().backward()
    assert equal_on_all(net[1].running_mean) and equal_on_all(flat(net))


def test_sync_batch_norm():
    torch.manual_seed(5)
    x = torch.randn(6 * SIZE, 3, 2)
    weight = torch.randn(6 * SIZE, 3, 2)
    layer, norm = nn.SyncBatchNorm(3), nn.BatchNorm1d(3)
    if not dist.is_mpi_available():
        return  # PyTorch has it for GPUs alone
    own, whole = x[RANK::SIZE].clone().requires_grad_(), x.clone().requires_grad_()
    got, expected = layer(own), norm(whole)
    torch.testing.assert_close(got, expected[RANK::SIZE], rtol=1e-5, atol=1e-6)
    (got * weight[RANK::SIZE]).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(own.grad, whole.grad[RANK::SIZE], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(layer.running_mean, norm.running_mean)
    torch.testing.assert_close(layer.running_var, norm.running_var)
    grad = layer.weight.grad.clone()
    dist.all_reduce(grad)
    torch.testing.assert_close(grad, norm.weight.grad, rtol=1e-4, atol=1e-5)
    net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)))
    assert type(net[1]) is nn.SyncBatchNorm
    DDP(net)(torch.randn(5, 4)).sum().backward()
    assert equal_on_all(net[0].weight.grad)


def test_zero():
    for kind, options in ((torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
                          (torch.optim.Adam, {"lr": 0.01})):  # fmt: skip
        torch.manual_seed(9)
        net, alone = [nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)) for _ in range(2)]
        alone.load_state_dict(net.state_dict())
        divided = ZeroRedundancyOptimizer(net.parameters(), kind, **options)
        plain = kind(alone.parameters(), **options)
        schedules = [torch.optim.lr_scheduler.StepLR(o, 2, 0.5) for o in (divided, plain)]
        x = torch.randn(10, 4)
        for _ in range(5):
            for model, optimizer in ((net, divided), (alone, plain)):
                optimizer.zero_grad()
                model(x).square().mean().backward()
                optimizer.step()
            for schedule in schedules:
                schedule.step()
        assert torch.equal(flat(net), flat(alone))
        raises(RuntimeError, "has not been consolidated on this rank", divided.state_dict)
        divided.consolidate_state_dict(to=0)
        saved = [None]
        if RANK == 0:
            state, expected = divided.state_dict(), plain.state_dict()
            assert state["state"].keys() == expected["state"].keys()
            for place, values in expected["state"].items():
                for name, value in values.items():
                    assert torch.equal(torch.as_tensor(state["state"][place][name]),
                                       torch.as_tensor(value))  # fmt: skip
            saved = [state]
        dist.broadcast_object_list(saved, 0)
        again = ZeroRedundancyOptimizer(net.parameters(), kind, **options)
        again.load_state_dict(saved[0])
        assert again.param_groups[0]["lr"] == plain.param_groups[0]["lr"]
        for model, optimizer in ((net, again), (alone, plain)):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
        assert torch.equal(flat(net), flat(alone))


def test_join_with_zero():
    net = nn.Linear(4, 2)
    model = DDP(net)
    optimizer = ZeroRedundancyOptimizer(net.parameters(), torch.optim.SGD, lr=0.1)
    with Join([model, optimizer]):
        for _ in range(1 + RANK):
            optimizer.zero_grad()
            model(torch.randn(3, 4)).square().mean().backward()
            optimizer.step()
    assert equal_on_all(flat(net))


def test_comm_hooks():
    for hook, tolerance in ((default_hooks.allreduce_hook, 1e-6),
                            (default_hooks.fp16_compress_hook, 2e-3)):  # fmt: skip
        torch.manual_seed(2)
        net = nn.Linear(4, 2)
        model = DDP(net)
        model.register_comm_hook(None, hook)
        raises(RuntimeError, "can only be called once", model.register_comm_hook, None, hook)
        x = torch.randn(4 * SIZE, 4)
        model(x[RANK::SIZE]).square().mean().backward()
        got = net.weight.grad.clone()
        net.zero_grad()
        net(x).square().mean().backward()
        torch.testing.assert_close(got, net.weight.grad, rtol=tolerance, atol=tolerance)


def test_batched_power():
    """A matrix of rank one is kept; of others, what a step leaves out comes with a later one."""
    if not dist.is_mpi_available():
        return  # PyTorch's asserts three dimensions, of a matrix of two
    for x, steps in ((torch.full((1, 3), RANK + 1.0), 1), (torch.eye(3) * (RANK + 1.0), 5)):
        torch.manual_seed(8)
        net, weights = nn.Linear(3, 3, bias=False), torch.randn(len(x), 3)
        model = DDP(net)
        state = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.batched_powerSGD_hook)
        found = []
        for _ in range(2 + steps):
            model.zero_grad()
            (model(x) * weights).sum().backward()
            found.append(net.weight.grad.clone())
        left = state.error_dict[0].clone()
        dist.all_reduce(left)
        total = sum(found[2:]) + left.view(3, 3) / SIZE
        torch.testing.assert_close(total, steps * found[0])
        assert torch.allclose(found[2], found[0]) == (steps == 1)
        assert equal_on_all(found[-1])


def test_uneven_use():
    """A parameter that one rank alone uses gets its gradient; one that none uses gets none."""
    net = nn.ModuleDict({name: nn.Linear(2, 1) for name in ("both", "first", "none")})

    class Chooses(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            y = net["both"](x)
            return y + net["first"](x) if RANK == 0 else y

    model = DDP(Chooses(), find_unused_parameters=True)
    for _ in range(2):
        model.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        assert net["none"].weight.grad is None
        torch.testing.assert_close(net["both"].weight.grad, torch.ones(1, 2))
        torch.testing.assert_close(net["first"].weight.grad, torch.ones(1, 2) / SIZE)


def test_copies_and_pickles():
    """A copy has weights and reductions of its own; ranks have the same averages of weights."""
    torch.manual_seed(4)
    model = DDP(nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), find_unused_parameters=True)
    x = torch.randn(2 * SIZE, 4)[RANK::SIZE]
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert type(again) is DDP and again.find_unused_parameters
        assert torch.equal(flat(again), flat(model))
        again(x).square().mean().backward()
        assert all(equal_on_all(p.grad) for p in again.parameters())
        assert all(p.grad is None for p in model.parameters())
    average = torch.optim.swa_utils.AveragedModel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    weights = []
    for _ in range(3):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        average.update_parameters(model)
        weights.append(flat(model))
    torch.testing.assert_close(flat(average), torch.stack(weights).mean(0))
    assert equal_on_all(flat(average)) and average(x).shape == (2, 3)
    group = dist.new_group(list(range(SIZE)))
    text = "DDP Pickling/Unpickling are only supported when using DDP with the default process"
    raises(RuntimeError, text, copy.deepcopy, DDP(nn.Linear(1, 1), process_group=group))
    dist.destroy_process_group(group)


def test_arguments():
    linear = nn.Linear(1, 1)
    raises(RuntimeError, "DistributedDataParallel is not needed when a module doesn't have any "
           "parameter that requires a gradient.", DDP, nn.ReLU())  # fmt: skip
    raises(RuntimeError, "Modules with uninitialized parameters can't be used", DDP,
           nn.LazyLinear(2))  # fmt: skip
    raises(ValueError, "device_ids can only be None or contain a single element.", DDP, linear,
           device_ids=[0, 1])  # fmt: skip
    for given in ({"device_ids": [0]}, {"output_device": 1}):
        raises(ValueError, "only work with single-device/multiple-device GPU modules or CPU",
               DDP, linear, **given)  # fmt: skip
    raises(ValueError, "need to be set at the same time", DDP, linear,
           delay_all_reduce_named_params=[])  # fmt: skip
    for name in ("find_unused_parameters", "gradient_as_bucket_view", "static_graph",
                 "broadcast_buffers", "forward_sync_buffers", "process_group",
                 "skip_all_reduce_unused_params"):  # fmt: skip
        raises(TypeError, "", DDP, linear, **{name: [0]})
    model = DDP(linear, device_ids=[], bucket_cap_mb_list=[1e-6, 1])
    raises(TypeError, "Communication hook must be callable.", model.register_comm_hook, None, 3)

    def hook_of_int_bucket(state, bucket: int):
        """Take a bucket of the wrong type."""

    def hook_returning_int(state, bucket) -> int:
        """Return a value of the wrong type."""

    raises(
        ValueError,
        "bucket annotation should be",
        model.register_comm_hook,
        None,
        hook_of_int_bucket,
    )
    raises(
        ValueError,
        "return annotation should be",
        model.register_comm_hook,
        None,
        hook_returning_int,
    )
    raises(AttributeError, "no attribute 'weight'", getattr, model, "weight")
    model._set_static_graph()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model._set_static_graph()
        DDP(linear, broadcast_buffers=True)
    assert ["You've set static_graph to be True" in str(w.message) for w in caught] == [True, False]
    assert caught[1].category is FutureWarning


def test_averages():
    """Hooks and averagers: within a rank, within a subgroup, and over all ranks."""
    mean = (SIZE + 1) / 2
    x = torch.full((1, 2), RANK + 1.0)
    model = DDP(nn.Linear(2, 1))
    model.register_comm_hook(
        None, default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)
    )
    model(x).sum().backward()
    torch.testing.assert_close(model.module.weight.grad, torch.full((1, 2), mean))
    groups = [dist.new_group([rank]) for rank in range(SIZE)]
    model = DDP(nn.Linear(2, 1))
    state = post_localSGD_hook.PostLocalSGDState(None, groups[RANK], 1)
    model.register_comm_hook(state, post_localSGD_hook.post_localSGD_hook)
    for expected in (mean, RANK + 1):
        model.zero_grad()
        model(x).sum().backward()
        torch.testing.assert_close(model.module.weight.grad, torch.full((1, 2), float(expected)))
    averager = PeriodicModelAverager(period=2, warmup_steps=1)
    weight = nn.Parameter(torch.full((1,), float(RANK)))
    weight.grad = torch.ones(1)
    found = []
    for _ in range(3):
        averager.average_parameters([weight])
        found.append(weight.item())
    assert found == [RANK, (SIZE - 1) / 2, (SIZE - 1) / 2]
    raises(ValueError, "``period`` must be a positive", PeriodicModelAverager, 0)


def test_meshes():
    mesh = init_device_mesh("cpu", (SIZE,), mesh_dim_names=("dp",))
    assert (mesh.ndim, mesh.size(), mesh.get_local_rank("dp")) == (1, SIZE, RANK)
    assert mesh["dp"].get_group().size() == SIZE and mesh.mesh.tolist() == list(range(SIZE))
    model = DDP(nn.Linear(2, 1), device_mesh=mesh)
    model(torch.full((1, 2), RANK + 1.0)).sum().backward()
    torch.testing.assert_close(model.module.bias.grad, torch.ones(1))
    raises(RuntimeError, "Cannot specify both", DDP, nn.Linear(1, 1), device_mesh=mesh,
           process_group=mesh.get_group())  # fmt: skip
    raises(RuntimeError, "should have same length", init_device_mesh, "cpu", (SIZE,),
           mesh_dim_names=("a", "b"))  # fmt: skip
    assert Replicate() == Replicate() and Shard(1).dim == 1 and Shard(1).is_shard(1)
    total = wait_tensor(functional_all_reduce(torch.ones(2), "sum", mesh.get_group()))
    assert total.tolist() == [SIZE, SIZE]


def test_checkpoints():
    """What ranks save together each of them loads: shared entries, and those of one rank."""
    folder = [tempfile.mkdtemp() if RANK == 0 else None]
    dist.broadcast_object_list(folder, 0)
    torch.manual_seed(6)
    net = nn.Linear(3, 2)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    own = {"model": net.state_dict(), "steps": 3, f"of_{RANK}": torch.full((2,), float(RANK))}
    checkpoint.save(own, checkpoint_id=folder[0])
    for weights in (nn.Linear(3, 2).state_dict(),):
        found = {"model": weights, "steps": 0, f"of_{SIZE - 1}": torch.zeros(2)}
        place = weights["weight"].data_ptr()
        checkpoint.load(found, checkpoint_id=folder[0])
        assert found["steps"] == 3 and found["model"]["weight"].data_ptr() == place
        assert all(torch.equal(found["model"][n], v) for n, v in net.state_dict().items())
        assert found[f"of_{SIZE - 1}"].tolist() == [SIZE - 1] * 2
    for wrong in ({"absent": torch.zeros(1)}, {"model": {"weight": torch.zeros(5)}}):
        raises(CheckpointException, "", checkpoint.load, wrong, checkpoint_id=folder[0])
    dist.barrier()


def test_hooks_by_name():
    """Each hook of the enumeration reduces; 8 bits are within a step of the mean."""
    torch.manual_seed(8)
    net = nn.Linear(40, 3)
    x = torch.randn(SIZE, 4, 40)
    for kind in DDPCommHookType:
        if kind.name == "BF16_COMPRESS":
            continue  # PyTorch has it with NCCL alone
        if kind.name.startswith("QUANTIZE") and not dist.is_mpi_available():
            continue  # PyTorch 2.13's own raises IndexError in its callback
        model = DDP(copy.deepcopy(net))
        register_ddp_comm_hook(kind, model)
        (model(x[RANK]) ** 2).sum().backward()
        if kind.name.startswith("QUANTIZE"):
            grads = []
            for part in x:
                alone = copy.deepcopy(net)
                (alone(part) ** 2).sum().backward()
                grads.append(torch.cat([p.grad.reshape(-1) for p in alone.parameters()]))
            found = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
            step = max(float(g.max() - g.min()) for g in grads) / 255
            assert (found - sum(grads) / SIZE).abs().max() <= 0.51 * step and equal_on_all(found)


def test_state_dicts():
    """Names without wrappers, for models on all ranks and for those on one."""
    torch.manual_seed(7)
    alone, net = nn.Linear(3, 2), nn.Linear(3, 2)
    model = DDP(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    weights, state = canonical.get_state_dict(model, optimizer)
    assert list(weights) == state["param_groups"][0]["params"] == ["weight", "bias"]
    single = torch.optim.Adam(alone.parameters())
    given = {"model_state_dict": weights, "optim_state_dict": state}
    canonical.set_state_dict(alone, single, **given)
    assert torch.equal(flat(alone), flat(net)) and single.param_groups[0]["lr"] == 0.5
    assert torch.equal(single.state[alone.bias]["exp_avg"], optimizer.state[net.bias]["exp_avg"])
    options = canonical.StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights, state = canonical.get_state_dict(model, optimizer, options=options)
    assert list(weights) == (["weight", "bias"] if RANK == 0 else []) and bool(state) == (RANK == 0)
    options = canonical.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    other = DDP(nn.Linear(3, 2))
    steps = torch.optim.Adam(other.parameters())
    canonical.set_optimizer_state_dict(other, steps, state, options=options)
    canonical.set_model_state_dict(other, weights, options=options)
    assert torch.equal(flat(other), flat(net)) and equal_on_all(flat(other))
    assert torch.equal(steps.state[other.module.bias]["exp_avg"],
                       optimizer.state[net.bias]["exp_avg"])  # fmt: skip
    raises(RuntimeError, "", canonical.set_model_state_dict, other, {"weight": torch.ones(2, 3)})


def test_skipped_parameters():
    """Unused parameters that need not be reduced keep what they have."""
    net = nn.ModuleList([nn.Linear(2, 1), nn.Linear(2, 1)])
    used = net[0]

    class First(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x):
            return used(x)

    model = DDP(First(), find_unused_parameters=True, skip_all_reduce_unused_params=True)
    for _ in range(2):
        model.zero_grad()
        model(torch.full((1, 2), RANK + 1.0)).sum().backward()
        mean = (SIZE + 1) / 2
        torch.testing.assert_close(used.weight.grad, torch.full((1, 2), mean))
        assert net[1].weight.grad is None


def test_refusals():
    dist.barrier()
    raises(RuntimeError, "", DDP, nn.Linear(2, 2 + RANK) if RANK else nn.Linear(2, 2))
    raises(RuntimeError, "DDP expects same model across all ranks", DDP,
           nn.Linear(2, 2, bias=RANK == 0))  # fmt: skip

    class Skips(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x):
            return self.a(x)

    model = DDP(Skips())
    model(torch.ones(1, 2)).sum().backward()
    raises(RuntimeError, "Expected to have finished reduction in the prior iteration",
           model, torch.ones(1, 2))  # fmt: skip


def test_sampler():
    sampler = DistributedSampler(range(10), shuffle=True, seed=3)
    assert (sampler.num_replicas, sampler.rank) == (SIZE, RANK)
    found = [None] * SIZE
    dist.all_gather_object(found, list(sampler))
    assert {index for part in found for index in part} == set(range(10))


for name, test in list(globals().items()):
    if name.startswith("test_") and (name in sys.argv or len(sys.argv) == 1):
        if not dist.is_mpi_available() and name == "test_refusals":
            continue  # ranks that disagree wait for each other's shapes there
        test()
        dist.barrier()
        if RANK == 0:
            print(name, "passed", flush=True)
dist.destroy_process_group()
