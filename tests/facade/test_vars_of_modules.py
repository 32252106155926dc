"""``vars`` of a module whose names are found when they are first used has all of them."""

from __future__ import annotations

import pytest

from tests.fresh import run

MODULES = """
    numpy numpy.linalg numpy.fft numpy.random nn nn.functional special linalg fft signal.windows
    optim func autograd utils distributions
""".split()


def test_vars_has_every_public_name() -> None:
    def check(modules: list[str]) -> None:
        import importlib

        for name in modules:
            module = importlib.import_module(f"tinytorch.{name}")
            names = vars(module)
            assert names is module.__dict__
            public = [each for each in dir(module) if not each.startswith("_")]
            missing = [each for each in public if each not in names]
            assert not missing, (name, missing)
            assert all(names[each] is getattr(module, each) for each in public), name

    run(check, MODULES)


def test_vars_of_the_package_has_what_import_star_gives_but_no_value_of_a_backend() -> None:
    def check() -> None:
        import importlib
        import pickle

        import tinytorch as tt

        names = vars(tt)
        of_backends = {*tt.dtypes.NAMES, "default_generator"}
        assert {*tt.__all__} - of_backends <= names.keys()
        assert not names.keys() & of_backends
        assert all(names[name] is getattr(tt, name) for name in {*tt.__all__} - of_backends)
        assert importlib.reload(tt).sin is names["sin"] is pickle.loads(pickle.dumps(tt.sin))

    run(check)


def test_sympys_functions_are_found_in_a_fresh_process() -> None:
    pytest.importorskip("sympy")

    def check() -> None:
        import math

        import sympy

        import tinytorch as tt
        import tinytorch.numpy as tnp

        x = sympy.symbols("x")
        for make, lib in ((tt.tensor, tt), (tnp.array, tnp)):
            function = sympy.lambdify(x, sympy.sin(x) ** 2, modules=[lib])
            assert abs(float(function(make(2.0))) - math.sin(2) ** 2) < 1e-6

    run(check)
