"""Canonical state dicts of models and optimizers on one process; writes what is found to a file."""

import copy
import json
import sys
import warnings

import torch
from torch import nn
from torch.distributed.checkpoint import state_dict
from torch.distributed.checkpoint.state_dict import StateDictOptions

warnings.simplefilter("ignore")
OPTIONS = [
    {}, {"full_state_dict": True}, {"cpu_offload": True}, {"ignore_frozen_params": True},
    {"flatten_optimizer_state_dict": True}, {"full_state_dict": True, "cpu_offload": True},
]  # fmt: skip


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)
        self.b.weight = self.a.weight
        self.norm = nn.BatchNorm1d(2)


def describe(value):
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), list(value.shape), round(value.double().sum().item(), 4)]
    if isinstance(value, dict):
        return {str(key): describe(each) for key, each in value.items()}
    return [describe(each) for each in value] if isinstance(value, (list, tuple)) else value


def make(kind):
    torch.manual_seed(0)
    model = Tied() if kind == "tied" else nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    if kind == "frozen":
        model[0].weight.requires_grad_(False)
    return model


def optimizer_of(model, kind, name, lr):
    params = list(model.parameters())
    groups = [{"params": params[:2], "lr": lr / 2}, {"params": params[2:]}]
    options = {"momentum": 0.9} if name == "SGD" else {}
    return getattr(torch.optim, name)(groups if kind == "groups" else params, lr=lr, **options)


def round_trip(kind, name, options):
    """Train a step, and load what is saved into another model and optimizer."""
    model = make(kind)
    optimizer = optimizer_of(model, kind, name, 0.5)
    for param in model.parameters():
        param.grad = torch.ones_like(param) if param.requires_grad else None
    optimizer.step()
    optimizer.zero_grad()
    weights, state = state_dict.get_state_dict(model, optimizer, options=options)
    weights, state = copy.deepcopy(dict(weights)), copy.deepcopy(state)
    other = make(kind)
    loaded = optimizer_of(other, kind, name, 0.25)
    keys = state_dict.set_state_dict(
        other, loaded, model_state_dict=weights, optim_state_dict=state, options=options
    )
    return [dict(other.state_dict()), loaded.state_dict(), str(keys)]


def cases():
    for name in ("SGD", "Adam", "Adagrad"):
        for kind in ("plain", "tied", "frozen", "groups"):
            for options in OPTIONS:
                model = make(kind)
                optimizer = optimizer_of(model, kind, name, 0.5)
                found = state_dict.get_state_dict(
                    model, optimizer, options=StateDictOptions(**options)
                )
                yield f"{name} {kind} {options}", found
            for flat in (False, True):
                options = StateDictOptions(flatten_optimizer_state_dict=flat)
                yield f"{name} {kind} loaded {flat}", round_trip(kind, name, options)
    yield from state_dicts_of_parts()


def state_dicts_of_parts():
    model = make("plain")
    two = [torch.optim.SGD(model[0].parameters(), 0.1, momentum=0.9),
           torch.optim.Adam(model[1].parameters())]  # fmt: skip
    yield "two optimizers", state_dict.get_optimizer_state_dict(model, two)
    for keep in (True, False):
        options = StateDictOptions(keep_submodule_prefixes=keep)
        found = state_dict.get_model_state_dict(model, submodules={model[0]}, options=options)
        yield f"submodule {keep}", found
    parts = {each: each.state_dict() for each in model}
    yield "parts", str(state_dict.set_model_state_dict(model, parts))
    some = {"0.weight": torch.ones(2, 2), "z": torch.ones(1)}
    options = StateDictOptions(strict=False)
    yield "some", str(state_dict.set_model_state_dict(model, some, options=options))
    yield "no optimizers", state_dict.get_state_dict(model, [])[1]


def errors():
    model = make("plain")
    optimizer = torch.optim.Adam(model.parameters())
    strange = torch.optim.Adam(nn.Linear(1, 1).parameters())
    partial = state_dict.get_optimizer_state_dict(model, optimizer)
    del partial["state"]["0.weight"]
    broadcast = StateDictOptions(broadcast_from_rank0=True)
    for function, *args in (
        (state_dict.set_model_state_dict, model, {"0.weight": torch.ones(2, 2)}),
        (state_dict.set_model_state_dict, model, {**model.state_dict(), "z": torch.ones(1)}),
        (state_dict.get_optimizer_state_dict, model, []),
        (state_dict.get_optimizer_state_dict, model, strange),
        (state_dict.set_optimizer_state_dict, model, optimizer, {}),
        (state_dict.set_optimizer_state_dict, model, optimizer, partial),
        (lambda model: state_dict.get_model_state_dict(model, options=broadcast), model),
    ):
        try:
            yield str(function(*args))
        except Exception as error:
            yield type(error).__name__


found = {name: describe(value) for name, value in cases()}
with open(sys.argv[1], "w") as file:
    json.dump({**found, "errors": list(errors())}, file, sort_keys=True)
