"""``python -m tinytorch``: the script runner beside Python itself, ``--info``."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.fresh import program
from tests.runner import Runner
from tinytorch.facade import info

# -- scripts -----------------------------------------------------------------------------------


def training() -> None:
    import sys

    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch import optim
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    x = torch.randn(64, 2)
    y = (x.sum(1) > 0).long()
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
    optimizer = optim.SGD(model.parameters(), lr=0.5)
    for epoch in range(20):
        for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
    correct = (model(x).argmax(1) == y).float().mean().item()
    assert correct > 0.9, correct
    print("trained", isinstance(x, torch.Tensor), sys.argv)


def test_pytorch_script_runs_unchanged(runner: Runner) -> None:
    runner.write("train.py", program(training))
    out = runner.output("train.py", "--epochs", "3")
    assert out == "trained True ['train.py', '--epochs', '3']\n"


def test_torch_is_another_name_of_the_same_modules(runner: Runner) -> None:
    def same() -> None:
        import importlib
        import pickle
        import sys

        import torch
        import torch.nn.functional as F
        from torch.nn import Linear

        import tinytorch
        import tinytorch.nn.functional

        assert torch is tinytorch is sys.modules["torch"]
        assert torch.nn is tinytorch.nn is sys.modules["torch.nn"]
        assert F is tinytorch.nn.functional
        assert Linear is tinytorch.nn.Linear
        assert torch.__spec__.name == "tinytorch" and torch.__name__ == "torch"
        for module in (torch.nn, F):
            assert module.__spec__.name == module.__name__, module.__spec__
        assert pickle.loads(pickle.dumps(torch.relu)) is torch.relu
        importlib.reload(torch)
        assert importlib.util.find_spec("torch").name == "tinytorch"

    runner.write("same.py", program(same))
    runner.output("same.py")


def test_libraries_find_the_version_and_the_names_they_ask_for(runner: Runner) -> None:
    def asks() -> None:
        import sys

        sys.modules["ml_dtypes"] = None  # type: ignore[assignment]
        import torch

        assert torch.__version__.startswith("2.") and "tinytorch" in torch.__version__
        assert torch.__version__ >= (2, 0) and torch.__version__ > "2.4"
        assert torch.__version__ < "3" and torch.__version__ == "2.13"
        assert torch.ones(1).dtype not in (torch.float16, torch.bfloat16)
        assert {torch.bfloat16: 1}[torch.bfloat16] == 1 and not torch.cuda.is_bf16_supported()
        assert torch.chalf is torch.complex32
        assert torch.finfo(torch.float8_e4m3fn).max == 448 and torch.float8_e5m2.itemsize == 1
        assert torch.ones(1).dtype not in (torch.complex32, torch.float16)
        assert torch.complex32.is_complex and torch.complex32.to_real() is torch.float16
        torch._C._log_api_usage_once("a.metric")
        assert torch._C._get_tracing_state() is None and not torch._C._is_tracing()
        try:
            torch.ones(1, dtype=torch.bfloat16)
        except TypeError as error:
            print(error)

    runner.write("asks.py", program(asks))
    text = runner.output("asks.py")
    assert text.startswith("backend 'numpy' has no dtype 'bfloat16'; for arrays of it install the ")


def texts() -> None:
    """What programs read the texts of, and how they read them."""
    import torch

    x = torch.ones(2, 3, dtype=torch.float64)
    print(x.dtype, repr(x.dtype), str(x.dtype) == "torch.float64", x.shape, x)
    print(getattr(torch, str(x.dtype).replace("torch.", "")) == x.dtype)
    print(x.layout, torch.channels_last)
    print(torch.max(torch.tensor([[1, 2]]), 1), torch.Size([2]), str(x.long().dtype)[6:])
    print(type(x), type(x.dtype).__module__, torch.typename(torch.Tensor))


@pytest.mark.torch
def test_printed_names_of_types_are_pytorchs(runner: Runner) -> None:
    runner.write("texts.py", program(texts))
    ours = runner.output("texts.py")
    assert "torch.float64 torch.float64 True torch.Size([2, 3])" in ours and "tinyt" not in ours
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        texts()
    assert ours == printed.getvalue()


def test_pickles_of_a_script_are_read_without_its_torch(runner: Runner) -> None:
    def writes() -> None:
        import pickle

        import torch

        things = torch.ones(2, requires_grad=True), torch.device("cpu"), torch.float64
        with open("things.pkl", "wb") as file:
            pickle.dump(things, file)

    def reads() -> None:
        import pickle

        with open("things.pkl", "rb") as file:
            print(pickle.load(file))

    runner.write("writes.py", program(writes))
    runner.output("writes.py")
    assert runner.python("-c", program(reads)).stdout == (
        "(tensor([1., 1.], requires_grad=True), device(type='cpu'), tinytorch.float64)\n"
    )


def test_part_that_does_not_exist_is_a_clear_import_error(runner: Runner) -> None:
    def missing() -> None:
        for statement in ("import torch.xla.core", "from torch.xla import core"):
            try:
                exec(statement)
            except ModuleNotFoundError as error:
                print(error.name, "|", error)
        try:
            from torch import nosuchthing  # noqa: F401
        except ImportError as error:
            print(error.name, "|", "nosuchthing" in str(error))

    runner.write("missing.py", program(missing))
    line = (
        "torch.xla | No module named 'torch.xla': tinytorch, which stands in for torch here, "
        "has no 'xla'\n"
    )
    assert runner.output("missing.py") == line + line + "torch | True\n"


def test_error_inside_a_part_is_not_taken_for_its_absence(tmp_path: Path) -> None:
    def imports(folder: str) -> None:
        import tinytorch
        from tinytorch.compat import as_torch

        as_torch.install_as_torch()
        tinytorch.__path__.append(folder)
        try:
            import torch.broken_part  # noqa: F401
        except ModuleNotFoundError as error:
            print(error.name, "|", error)

    (tmp_path / "broken_part.py").write_text("import a_package_nobody_has")
    out = Runner(tmp_path).python("-c", program(imports, str(tmp_path))).stdout
    assert out == "a_package_nobody_has | No module named 'a_package_nobody_has'\n"


def test_a_torch_that_is_loaded_already_is_refused(runner: Runner) -> None:
    def installs() -> None:
        import torch  # noqa: F401

        import tinytorch

        tinytorch.install_as_torch()

    runner.write("site/torch/__init__.py", "")
    done = runner.python("-c", program(installs))
    assert "RuntimeError: tinytorch cannot stand in for torch" in done.stderr
    assert str(Path("site", "torch", "__init__.py")) in done.stderr


def test_child_processes_get_tinytorch_as_torch(runner: Runner) -> None:
    """So do those that look up the version of ``torch`` first; another ``sitecustomize`` runs."""

    def parent() -> None:
        import subprocess
        import sys

        for options in [], ["-S"]:
            subprocess.run([sys.executable, *options, "child.py", *sys.argv[1:]], check=True)

    def child() -> None:
        import sys
        from importlib.metadata import version

        # With ``-S`` print 1; else look up the version before the import.
        site = sys.flags.no_site or version("torch").partition("+")[0]
        import torch.nn

        print(site, torch.nn.__name__, sys.argv[1:], getattr(sys, "custom", None))

    runner.write("site/sitecustomize.py", "import sys; sys.custom = 3")
    runner.write("parent.py", program(parent))
    runner.write("child.py", program(child))
    packages = os.pathsep.join([runner.environment["PYTHONPATH"], sysconfig.get_path("purelib")])
    out = runner.output("parent.py", "--lr", "1", PYTHONPATH=packages)
    expected = "tinytorch.nn ['--lr', '1']"
    assert out == f"2.13.0 {expected} 3\n1 {expected} None\n"


def test_child_processes_get_pytorch_if_the_environment_variable_says_so(runner: Runner) -> None:
    def parent() -> None:
        import subprocess
        import sys

        import torch  # noqa: F401

        print(subprocess.run([sys.executable, "-c", "import torch"], check=False).returncode)

    runner.write("parent.py", program(parent))
    done = runner.tinytorch("parent.py", TINYTORCH_AS_TORCH="0")
    assert done.stdout == "1\n" and "the real torch was loaded" in done.stderr


def test_programs_of_other_environments_keep_their_torch(runner: Runner) -> None:
    """A child that cannot import tinytorch imports the ``torch`` that it finds."""

    def parent() -> None:
        import os
        import subprocess
        import sys

        folder = os.environ["PYTHONPATH"].partition(os.pathsep)[0]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([folder, "site"])}
        code = (
            "import sys; sys.modules['tinytorch'] = None; import importlib.metadata as m\n"
            "try: m.version('torch')\nexcept m.PackageNotFoundError: import torch"
        )
        print(subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode)

    runner.write("parent.py", program(parent))
    done = runner.tinytorch("parent.py")
    assert done.stdout == "1\n" and "the real torch was loaded" in done.stderr


def test_spawned_processes_get_tinytorch_too(runner: Runner) -> None:
    def pool() -> None:
        import multiprocessing

        import torch  # noqa: F401

        def work(number: int) -> tuple[str, str, int]:
            import torch.nn

            return torch.__name__, torch.nn.__name__, torch.tensor([number, 1]).sum().item()

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                print(pool.map(work, [2]))

    runner.write("pool.py", program(pool))
    assert runner.output("pool.py") == "[('torch', 'tinytorch.nn', 3)]\n"


# What a program can see of how it was started; printed by it and compared with Python's.
def facts() -> None:
    import json
    import pickle
    import sys

    import __main__

    class Local:
        pass

    names = ("__name__", "__file__", "__package__", "__cached__", "__doc__", "__annotations__")
    print(json.dumps({
        "argv": sys.argv, "path": sys.path[0], "spec": getattr(__spec__, "name", None),
        "names": {name: globals().get(name, "absent") for name in names},
        "is_main": vars(__main__) is globals() and sys.modules["__main__"] is __main__,
        "pickles": pickle.loads(pickle.dumps(Local)) is Local,
        "others": sorted(set(globals()) - {"json", "sys", "pickle", "Local", "names", "__main__"}),
        "loader": getattr(__loader__, "__name__", None) or type(__loader__).__name__,
    }))  # fmt: skip


HOW = {
    "script": ["sub/facts.py", "--flag", "x"],
    "absolute script": ["{folder}/sub/facts.py"],
    "module": ["-m", "package.facts", "-x"],
    "package": ["-m", "package"],
    "folder": ["package", "1"],
    "zip": ["program.zip"],
    "code": ["-c", program(facts), "a", "-b"],
}


@pytest.mark.parametrize("how", HOW)
def test_program_sees_what_python_would_show_it(runner: Runner, how: str) -> None:
    for name in ("sub/facts.py", "package/facts.py", "package/__main__.py"):
        runner.write(name, program(facts))
    runner.write("package/__init__.py", "")
    with zipfile.ZipFile(runner.folder / "program.zip", "w") as archive:
        archive.writestr("__main__.py", program(facts))
    arguments = [argument.replace("{folder}", str(runner.folder)) for argument in HOW[how]]
    python = json.loads(runner.python(*arguments).stdout)
    ours = json.loads(runner.output(*arguments))
    if "script" not in how:  # the rest is left to runpy, which leaves these to the program
        for seen in (python, ours):
            del seen["loader"], seen["others"], seen["names"]["__annotations__"]
    assert ours == python


def test_a_script_is_read_from_standard_input(runner: Runner) -> None:
    def script() -> None:
        import sys

        import torch

        print(sys.argv, torch.ones(2).sum().item())

    assert runner.output("-", "a", input=program(script)) == "['-', 'a'] 2.0\n"


def test_exit_status_and_traceback_are_the_scripts(runner: Runner) -> None:
    def stop() -> None:
        import sys

        sys.exit(7)

    def fail() -> None:
        import torch

        torch.ones(2) @ torch.ones(3)

    runner.write("stop.py", program(stop))
    assert runner.tinytorch("stop.py").returncode == 7
    runner.write("fail.py", program(fail))
    done = runner.tinytorch("fail.py")
    assert done.returncode == 1
    assert 'fail.py", line 2, in <module>\n    torch.ones(2) @' in done.stderr


def test_a_traceback_has_the_scripts_lines_alone(runner: Runner) -> None:
    def fail() -> None:
        import torch

        def inner() -> None:
            torch.ones(2).view(3)

        inner()

    text = program(fail)
    runner.write("fail.py", text)
    for *given, name in (["fail.py"] * 2, ["-m", "fail", "fail.py"], ["-c", text, "<string>"]):
        done = runner.tinytorch(*given)
        files = [Path(file).name for file in re.findall('File "(.*)", line', done.stderr)]
        assert (done.returncode, files) == (1, [name] * 2), done.stderr


def test_threads_and_exit_handlers_still_find_main(runner: Runner) -> None:
    def late() -> None:
        import atexit
        import pickle
        import threading

        class Here:
            pass

        def check() -> None:
            assert pickle.loads(pickle.dumps(Here)) is Here
            print("found")

        atexit.register(check)
        # The main thread ends when the script has run; the interpreter then waits for this one.
        threading.Thread(target=lambda: (threading.main_thread().join(), check())).start()

    runner.write("late.py", program(late))
    assert runner.output("late.py") == "found\nfound\n"


def test_source_encoding_is_honoured(runner: Runner) -> None:
    text = "# -*- coding: latin-1 -*-\nprint(ascii('é'))\n"
    (runner.folder / "latin.py").write_bytes(text.encode("latin-1"))
    assert runner.output("latin.py") == "'\\xe9'\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["nosuch.py"], "can't open file 'nosuch.py': No such file or directory"),
        (["--nosuch", "x"], "unknown option --nosuch x"),
        (["empty"], "can't find '__main__' module in 'empty'"),
        (["-m"], "argument expected for the -m option"),
        (["-c"], "argument expected for the -c option"),
    ],
)
def test_a_wrong_command_line_is_an_error(
    runner: Runner, arguments: list[str], problem: str
) -> None:
    (runner.folder / "empty").mkdir()
    done = runner.tinytorch(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


# -- --info, --version, --help -----------------------------------------------------------------


def test_info_lists_backends_with_state_and_devices(runner: Runner) -> None:
    out = runner.output("--info")
    assert f"Python     {'.'.join(map(str, sys.version_info[:3]))}" in out
    lines = out.splitlines()
    start = lines.index("  numpy    loaded, active")
    assert lines[start + 1] == "    devices: cpu"
    assert lines[start + 2] == "    library: numpy"
    assert "    version: " in lines[start + 3]
    assert any(line.startswith("  cupy ") for line in lines)


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_info_says_why_a_backend_is_missing(runner: Runner) -> None:
    out = runner.output("--info")
    assert "  cupy     not installed\n" in out
    assert "pip install 'cupy-cuda12x[ctk]'" in out


def test_info_survives_a_broken_backend(runner: Runner) -> None:
    runner.write("site/cupy/__init__.py", "raise ImportError('libnvrtc.so.12 is missing')")
    out = runner.output("--info")
    assert "  cupy     broken\n" in out
    assert "libnvrtc.so.12 is missing" in out


def test_info_reports_an_environment_variable_that_names_no_backend(runner: Runner) -> None:
    out = runner.output("--info", TINYTORCH_BACKEND="nunpy")
    assert "  none active: " in out and "TINYTORCH_BACKEND" in out
    assert "  numpy    available\n" in out


def test_info_names_the_blas_kernels_set_by_the_environment(runner: Runner) -> None:
    if "OpenBLAS runs" not in runner.output("--info"):
        pytest.skip("NumPy runs on another BLAS")
    out = runner.output("--info", OPENBLAS_CORETYPE="Haswell")
    assert "kernels for Haswell (OPENBLAS_CORETYPE=Haswell)" in out


AVX2 = {"sse2", "avx", "avx2", "fma"}
AVX512 = AVX2 | {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}


@pytest.mark.parametrize(
    ("core", "flags", "better"),
    [
        ("Haswell", AVX512, "SkylakeX"),
        ("Zen", AVX512, "SkylakeX"),
        ("Prescott", AVX512, "SkylakeX"),
        ("Nehalem", AVX2, "Haswell"),
        ("SkylakeX", AVX512, None),
        ("SAPPHIRERAPIDS", AVX512, None),
        ("Haswell", AVX2, None),
        ("Zen", AVX2, None),
        ("Haswell", AVX512 - {"avx512vl"}, None),
        ("Nehalem", {"sse2"}, None),
    ],
)
def test_better_core_suggests_a_better_blas_kernel(
    core: str, flags: set[str], better: str | None
) -> None:
    assert info.better_core(core, frozenset(flags)) == better


def test_advice_gives_the_command() -> None:
    lines = "\n".join(info._blas_advice("Haswell", frozenset(AVX512)))
    assert "AVX-512" in lines
    assert "OPENBLAS_CORETYPE=SkylakeX python -m tinytorch" in lines


def test_processor_flags_are_read_from_cpuinfo(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nflags\t\t: fpu avx2 fma\nbugs\t\t:\nflags\t\t: fpu\n")
    assert info.processor_flags(str(file)) == {"fpu", "avx2", "fma"}
    assert info.processor_flags(str(tmp_path / "absent")) == frozenset()


def test_the_version_option_prints_the_version(runner: Runner) -> None:
    import tinytorch

    assert runner.output("--version") == f"tinytorch {tinytorch.__version__}\n"


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_way_to_start(runner: Runner, option: str) -> None:
    out = runner.output(option)
    for word in ("script.py", "-m module", "-c code", "--info", "--version", "--ipython"):
        assert word in out
