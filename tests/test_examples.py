"""The programs under examples/ run from anywhere and do what they promise."""

from __future__ import annotations

import ast
import math
import os
import re
import runpy
import subprocess
import sys
from collections import Counter
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tinytorch as tt
from benchmarks import language
from tests import fresh

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
GALLERY = ROOT / "docs" / "gallery"
#: Those that draw a picture.
DRAWN = [name for name in EXAMPLES if "--output" in (ROOT / "examples" / f"{name}.py").read_text()]


@pytest.fixture(autouse=True)
def extra() -> None:
    for module in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(module, reason="the `examples` extra is not installed")


#: Libraries of the examples, imported once for those that start no processes themselves.
LIBRARIES = (
    "matplotlib.pyplot",
    "sklearn.datasets",
    "sklearn.decomposition",
    "sklearn.model_selection",
)
# One thread: products this small are slower on several where other tests run beside.
THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def run(name: str, *arguments: str, cwd: Path, folder: Path = ROOT / "examples") -> fresh.Done:
    """Run an example, or the program of its name in another folder."""
    path = folder / f"{name}.py"
    return fresh.script(path, *arguments, cwd=cwd, modules=LIBRARIES, **THREADS)


def run_apart(name: str, cwd: Path) -> fresh.Done:
    """Run an example that starts processes of its own in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, str(ROOT / "examples" / f"{name}.py")],
        cwd=cwd, capture_output=True, text=True, timeout=300, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"} | THREADS,
    )  # fmt: skip


def succeed(script: str, *arguments: str, cwd: Path) -> str:
    """Run a program, see that it is content and drew its picture; return what it printed."""
    done = run(script, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    picture = cwd / f"{script}.png"
    assert str(picture) in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    return done.stdout


def load(script: str) -> dict[str, Any]:
    """The names that a program defines."""
    return runpy.run_path(str(ROOT / "examples" / f"{script}.py"))


def found(pattern: str, printed: str) -> list[float]:
    """The numbers in the first place that matches."""
    match = re.search(pattern, printed)
    assert match, printed
    return [float(number) for number in match.groups()]


@pytest.mark.parametrize("name", EXAMPLES)
def test_site_shows_every_example(name: str) -> None:
    pages = [page.read_text() for page in (ROOT / "docs").rglob("*.md")]
    assert any(f"/examples/{name}.py\n" in page for page in pages)


@pytest.mark.parametrize("name", DRAWN)
def test_gallery_shows_every_picture(name: str) -> None:
    page = (GALLERY / f"{name}.md").read_text()
    assert f"{{literalinclude}} ../../examples/{name}.py" in page
    assert f"]({name}.png)" in page
    assert (GALLERY / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert (GALLERY / f"{name}.png").stat().st_size < 80_000, "pages are read on phones"
    index = (GALLERY / "index.md").read_text()
    assert f"]({name}.md)" in index and f"]({name}.png)" in index
    assert re.search(rf"^{name}$", index, re.MULTILINE), "the page is not in the table of contents"


def test_gallery_shows_nothing_else() -> None:
    assert sorted(path.stem for path in GALLERY.glob("*.png")) == DRAWN
    assert sorted(path.stem for path in GALLERY.glob("*.md")) == sorted([*DRAWN, "index"])


# -- digits -----------------------------------------------------------------------------


def test_demo_installs_what_digits_imports_and_no_more() -> None:
    tree = ast.parse((ROOT / "examples" / "digits.py").read_text())
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import)
               for name in node.names}  # fmt: skip
    modules |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported = {module.partition(".")[0] for module in modules} - sys.stdlib_module_names
    declared = ConfigParser()
    declared.read(ROOT / "setup.cfg")
    extra = declared["options.extras_require"]["demo"].split()
    distributions = {"scikit-learn": "sklearn"}
    assert {distributions.get(name, name) for name in extra} == imported - {"tinytorch"}
    assert "--editable '.[demo]'" in (ROOT / "Makefile").read_text()


@pytest.mark.slow
def test_digits_recognises_97_percent(tmp_path: Path) -> None:
    printed = succeed("digits", cwd=tmp_path)
    epochs = re.findall(r"epoch +(\d+)   loss ([\d.]+)   held-out accuracy ([\d.]+)%", printed)
    assert [int(number) for number, _, _ in epochs] == list(range(1, 31))
    assert float(epochs[-1][1]) < 0.1 * float(epochs[0][1])
    assert float(epochs[-1][2]) > 97


@pytest.mark.slow
def test_compiled_steps_of_examples_learn_as_eager_ones(tmp_path: Path) -> None:
    losses = {}
    for option in ([], ["--compile"]):
        runs = (
            run("digits", "--epochs=1", *option, cwd=tmp_path),
            run("chargpt", "--steps=50", *option, cwd=tmp_path),
        )
        text = "".join(done.stdout for done in runs)
        losses[len(option)] = re.findall(r"(?m)^\w+ +\d+   loss ([\d.]+)", text)
    eager, compiled = (np.array(losses[k], float) for k in (0, 1))
    assert len(eager) == 2
    np.testing.assert_allclose(compiled, eager, rtol=2e-2)  # rounding grows while they learn
    digits, _ = runs
    assert digits.returncode == 1, "one epoch is too little"
    assert "expected at least 97%" in digits.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("digits", ["--epochs=5"]),
        ("chargpt", ["--steps=50"]),
        ("gaussian_process", ["--steps=4"]),
        ("vae", ["--epochs=10"]),
        ("gcn", []),
    ],
)
def test_each_example_prints_what_it_prints_under_pytorch(
    torch: Any, tmp_path: Path, name: str, arguments: list[str]
) -> None:
    """To the last letter that the small network writes."""
    source = (ROOT / "examples" / f"{name}.py").read_text()
    source = source.replace("import tinytorch as tt", "import torch as tt")
    (tmp_path / f"{name}.py").write_text(source.replace("from tinytorch", "from torch"))
    ours = run(name, *arguments, cwd=tmp_path)
    theirs = run(name, *arguments, cwd=tmp_path, folder=tmp_path)
    seconds = re.compile(r"in [\d.]+ s")
    assert seconds.sub("", ours.stdout) == seconds.sub("", theirs.stdout), ours.stderr
    assert len(ours.stdout.splitlines()) > 2, ours.stderr
    assert ours.returncode == theirs.returncode


# -- the others -------------------------------------------------------------------------


@pytest.mark.slow
def test_chargpt_predicts_better_than_tables(tmp_path: Path) -> None:
    printed = succeed("chargpt", "--steps=400", "--compile", cwd=tmp_path)
    loss, *tables = found(r"loss ([\d.]+) .* reach ([\d.]+), ([\d.]+), ([\d.]+)", printed)
    text = load("chargpt")["read"]()
    # Chain rule: H(next | before) = H(before and next) - H(before), of the same pieces.
    for letters, table in enumerate(tables, 1):
        pieces = [text[i : i + letters] for i in range(len(text) - letters + 1)]
        known = entropy([piece[:-1] for piece in pieces])
        assert table == pytest.approx(entropy(pieces) - known, abs=6e-4)
    assert loss < 0.7 * tables[-1]
    written = printed.split("loss")[-2].partition("\n")[2].split()
    assert len(written) > 30
    assert sum(word in text.split() for word in written) > 0.7 * len(written)


def entropy(pieces: list[str]) -> float:
    from scipy.stats import entropy

    return float(entropy(list(Counter(pieces).values())))


@pytest.mark.slow
def test_detector_finds_and_names_shapes(tmp_path: Path) -> None:
    printed = succeed("detector", "--steps=150", cwd=tmp_path)
    hits, shapes, wrong = found(r"(\d+) of (\d+) shapes found and named, (\d+) boxes", printed)
    assert 100 <= shapes <= 400  # one to four in each of a hundred pictures
    assert hits > 0.9 * shapes and wrong < 0.1 * shapes
    done = run("detector", "--steps=1", cwd=tmp_path)
    assert done.returncode == 1 and "expected at least 90%" in done.stderr


def test_the_boxes_of_the_detector_are_around_its_shapes() -> None:
    names = load("detector")
    tt.manual_seed(0)
    images, boxes, kinds = names["draw_shapes"](20)
    for image, truth in zip(images, boxes, strict=True):
        colored = np.ptp(image.numpy(), axis=0) > 0  # the background is gray
        for x1, y1, x2, y2 in truth.tolist():
            rows, columns = slice(int(y1), math.ceil(y2)), slice(int(x1), math.ceil(x2))
            y, x = np.nonzero(colored[rows, columns])
            edges = [x.min(), y.min(), x.max() + 1, y.max() + 1]
            exact = [x1 - int(x1), y1 - int(y1), x2 - int(x1), y2 - int(y1)]
            np.testing.assert_allclose(edges, exact, atol=1.6)  # the tip of a triangle is thin
            colored[rows, columns] = False
        assert not colored.any()
    exact = list(zip(boxes, kinds, strict=True))
    assert names["count_found"](exact, boxes, kinds) == sum(map(len, boxes))
    moved = [(box + (box[:, 2:] - box[:, :2]).repeat(1, 2), kind) for box, kind in exact]
    assert names["count_found"](moved, boxes, kinds) == 0


@pytest.mark.slow
def test_vae_beats_principal_components(tmp_path: Path) -> None:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    printed = succeed("vae", "--epochs=30", cwd=tmp_path)
    error, components = found(r"squared error ([\d.]+), principal components ([\d.]+)", printed)
    digits = load_digits()
    train, test = train_test_split(
        digits.data / 16, test_size=0.25, stratify=digits.target, random_state=0
    )
    _, _, axes = np.linalg.svd(train - train.mean(0), full_matrices=False)
    centred = test - train.mean(0)
    rest = centred - centred @ axes[:2].T @ axes[:2]
    assert components == pytest.approx(np.mean(rest**2), abs=1e-4)
    assert error < 0.9 * components


@pytest.mark.slow
def test_onnx_digits_are_read_by_onnxruntime(tmp_path: Path) -> None:
    printed = succeed("onnx_digits", cwd=tmp_path)
    (accuracy,) = found(r"onnxruntime: ([\d.]+)% of 400", printed)
    (difference,) = found(r"difference from the model: ([\d.e-]+)", printed)
    assert accuracy > 90 and difference < 1e-4


@pytest.mark.slow
def test_pole_is_balanced(tmp_path: Path) -> None:
    printed = succeed("pole", "--updates=25", cwd=tmp_path)
    (before,) = found(r"update  10   balanced +([\d.]+)", printed)
    (steps,) = found(r"new carts balanced ([\d.]+) of 200 steps", printed)
    assert before < 0.9 * steps and steps >= 190


def test_the_pole_obeys_newtons_laws() -> None:
    """Work and impulse of the push are what energy and momentum gain, by the chain rule."""
    names = load("pole")
    cart, pole, half, gravity = (names[n] for n in ("CART", "POLE", "HALF_LENGTH", "GRAVITY"))
    rng = np.random.default_rng(0)
    state, force = rng.standard_normal((50, 4)), rng.standard_normal(50)
    push, turn = (
        each.numpy() for each in names["accelerations"](tt.tensor(state), tt.tensor(force))
    )
    _, speed, angle, spin = state.T
    sine, cosine = np.sin(angle), np.cos(angle)
    # Kinetic energy (cart + pole) v²/2 + pole half v w cos + (4/3) pole half² w²/2, potential
    # energy pole gravity half cos; a rod's inertia about its end is 4/3 of mass times half².
    inertia, lever = 4 / 3 * pole * half**2, pole * half
    power = (
        (cart + pole) * speed * push
        + lever * (push * spin * cosine + speed * turn * cosine - speed * spin**2 * sine)
        + inertia * spin * turn
        - gravity * lever * sine * spin
    )
    np.testing.assert_allclose(power, force * speed, atol=1e-12)
    impulse = (cart + pole) * push + lever * (turn * cosine - spin**2 * sine)
    np.testing.assert_allclose(impulse, force, atol=1e-12)


@pytest.mark.slow
def test_heat_is_the_closed_form(tmp_path: Path) -> None:
    printed = succeed("heat", "--steps=20", cwd=tmp_path)
    error, largest = found(r"largest error ([\d.]+) of ([\d.]+)", printed)
    assert error < 0.005 * largest


def test_heat_is_compared_with_a_solution() -> None:
    names = load("heat")
    x, t = (tt.tensor(each) for each in np.random.default_rng(0).random((2, 30)))
    step = 1e-4

    def u(dx: float = 0.0, dt: float = 0.0) -> np.ndarray[Any, Any]:
        return names["exact"](x + dx, t + dt).numpy()

    by_time = (u(dt=step) - u(dt=-step)) / (2 * step)
    by_place = (u(dx=step) - 2 * u() + u(dx=-step)) / step**2
    np.testing.assert_allclose(by_time, names["DIFFUSIVITY"] * by_place, atol=1e-5)
    edge = tt.tensor([0.0, 1.0], dtype=tt.float64)
    np.testing.assert_allclose(names["exact"](edge, tt.tensor(0.3)).numpy(), 0, atol=1e-15)


@pytest.mark.slow
def test_gcn_errs_at_one_member_as_zachary_did(tmp_path: Path) -> None:
    printed = succeed("gcn", cwd=tmp_path)
    assert re.search(r"placed wrongly: \[8\];", printed), printed


def test_gcn_has_the_friendships_of_networkx() -> None:
    names = load("gcn")
    edges, labels = names["read_edges"](), names["read_labels"]()
    assert edges.shape == (2, 78) and bool((edges[0] < edges[1]).all())
    networkx = pytest.importorskip("networkx", reason="networkx has the same graph")
    graph = networkx.karate_club_graph()
    assert {tuple(sorted(edge)) for edge in graph.edges} == {*map(tuple, edges.t().tolist())}
    clubs = [graph.nodes[node]["club"] != "Mr. Hi" for node in range(34)]
    assert labels.tolist() == [int(each) for each in clubs]


def test_gcn_counts_the_steps_of_shortest_paths() -> None:
    from scipy.sparse.csgraph import shortest_path

    names = load("gcn")
    edges = names["read_edges"]()
    adjacency = np.zeros((34, 34))
    adjacency[tuple(edges.numpy())] = 1
    expected = shortest_path(adjacency, directed=False, unweighted=True)
    np.testing.assert_array_equal(names["count_steps"](edges).numpy(), expected)
    matrix = adjacency + adjacency.T + np.eye(34)
    scale = matrix.sum(1) ** -0.5
    found = names["normalize"](edges).to_dense().numpy()
    np.testing.assert_allclose(found, matrix * scale * scale[:, None], rtol=1e-6)


@pytest.mark.slow
def test_gaussian_process_finds_the_period(tmp_path: Path) -> None:
    printed = succeed("gaussian_process", cwd=tmp_path)
    period, noise = found(r"period ([\d.]+) \(is 1.3\), noise ([\d.]+)", printed)
    assert period == pytest.approx(1.3, rel=0.02)
    # Sixty samples tell a standard deviation to a tenth or so, 1 / sqrt(2 * 60).
    assert noise == pytest.approx(0.2, rel=0.2)


def test_gaussian_process_is_scikit_learns() -> None:
    from sklearn.gaussian_process import GaussianProcessRegressor, kernels

    names = load("gaussian_process")
    rng = np.random.default_rng(0)
    x, y, new = 10 * rng.random(25), rng.standard_normal(25), 12 * rng.random(8)
    values = {"smooth_size": 1.3, "smooth_length": 2.0, "wave_size": 0.7, "wave_length": 0.9,
              "period": 1.1, "noise": 0.2}  # fmt: skip
    log = {
        name: tt.tensor(math.log(value), dtype=tt.float64, requires_grad=True)
        for name, value in values.items()
    }
    ours = names["log_likelihood"](log, tt.tensor(x), tt.tensor(y))
    ours.backward()
    smooth = kernels.ConstantKernel(1.3) * kernels.RBF(2.0)
    wave = kernels.ConstantKernel(0.7) * kernels.ExpSineSquared(length_scale=0.9, periodicity=1.1)
    process = GaussianProcessRegressor(
        smooth + wave + kernels.WhiteKernel(0.2), alpha=0, optimizer=None
    ).fit(x[:, None], y)
    theirs, gradient = process.log_marginal_likelihood(process.kernel_.theta, eval_gradient=True)
    assert ours.item() == pytest.approx(theirs, rel=1e-10)
    np.testing.assert_allclose([value.grad.item() for value in log.values()], gradient, rtol=1e-7)
    mean, covariance = names["predict"](log, tt.tensor(x), tt.tensor(y), tt.tensor(new))
    their_mean, theirs = process.predict(new[:, None], return_cov=True)
    np.testing.assert_allclose(mean.numpy(), their_mean, atol=1e-10)
    # Theirs is of new observations, with their noise.
    np.testing.assert_allclose(covariance.numpy() + 0.2 * np.eye(8), theirs, atol=1e-10)


@pytest.mark.slow
def test_orbit_is_the_one_that_scipy_finds(tmp_path: Path) -> None:
    from scipy.optimize import least_squares

    printed = succeed("orbit", cwd=tmp_path)
    mass, eccentricity = found(r"mass ([\d.]+) suns .*, eccentricity ([\d.]+)", printed)
    source = (ROOT / "examples" / "orbit.py").read_text()
    source = source.replace("import tinytorch.numpy as np", "import numpy as np")
    (tmp_path / "plain.py").write_text(source)
    names = runpy.run_path(str(tmp_path / "plain.py"))
    np.random.seed(0)
    times = names["SPAN"] * np.arange(1, names["SIGHTINGS"] + 1) / names["SIGHTINGS"]
    seen = names["kepler"](times) + names["NOISE"] * np.random.standard_normal((len(times), 2))
    every = names["STEPS"] // len(times)
    near = names["AXIS"] * (1 - names["ECCENTRICITY"])
    fast = math.sqrt(names["MASS"] * (2 / near - 1 / names["AXIS"]))  # vis viva
    fit = least_squares(
        lambda unknowns: (names["simulate"](unknowns)[every::every] - seen).ravel(),
        [names["MASS"], near, 0.0, 0.0, fast], jac="3-point", xtol=1e-8, ftol=1e-10, gtol=1e-10,
    )  # fmt: skip
    assert mass == pytest.approx(fit.x[0] / names["MASS"], abs=1e-4)
    assert eccentricity == pytest.approx(names["eccentricity"](fit.x), abs=1e-4)


def test_the_orbit_is_keplers_ellipse() -> None:
    """On an ellipse whose one focus is the star; the leapfrog method is of second order."""
    names = load("orbit")
    axis, shape = names["AXIS"], names["ECCENTRICITY"]
    ellipse = np.asarray(names["kepler"](names["SPAN"] * tt.numpy.arange(11) / 10))
    other = np.array([-2 * axis * shape, 0])
    around = np.hypot(*ellipse.T) + np.hypot(*(ellipse - other).T)
    np.testing.assert_allclose(around, 2 * axis, rtol=1e-12)
    near = axis * (1 - shape)
    fast = math.sqrt(names["MASS"] * (2 / near - 1 / axis))  # vis viva
    start = tt.numpy.array([names["MASS"], near, 0.0, 0.0, fast])
    errors = [
        np.abs(np.asarray(names["simulate"](start, steps)[:: steps // 10]) - ellipse).max()
        for steps in (200, 400)
    ]
    assert errors[0] < 0.03
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


@pytest.mark.slow
def test_counting_backend_trains_the_same_weights(tmp_path: Path) -> None:
    printed = succeed("counting_backend", "--steps=50", cwd=tmp_path)
    on = dict(re.findall(r"step  50   (loss [\d.]+)   on (\w+)", printed)[::-1])
    assert len(on) == 1, "the same loss on both"
    assert re.search(r"forward +\d+\.0 calls", printed)


def test_the_counting_backend_counts_its_calls() -> None:
    Counting = load("counting_backend")["Counting"]
    tt.register_backend("counting", Counting, replace=True)
    try:
        with tt.backend_context("counting"):
            x = tt.ones(3, 3, requires_grad=True)
            x.backend.calls.clear()
            y = x.sin().exp().sum(0)
            forward = dict(x.backend.calls)
            x.backend.calls.clear()
            y.backward(tt.ones(3))
            backward = dict(x.backend.calls)
    finally:
        tt.backends._registry.pop("counting")
    assert forward == {"sin": 1, "exp": 1, "sum": 1}  # `sum` is the backend's own
    assert backward["cos"] == 1 and not {"sin", "exp"} & backward.keys()


def written(names: Any, lib: Any, cached: bool) -> list[int]:
    """What a small GPT with random weights writes beyond the places it has."""
    lib.manual_seed(0)
    names["GPT"].forward.__globals__.update(CONTEXT=40, WIDTH=32, LAYERS=2)
    model = names["GPT"](50).eval()
    return names["write"](model, lib.zeros((1, 3), dtype=lib.int64), 60, cached)[0].tolist()


def test_generate_writes_the_same_without_its_cache() -> None:
    names = load("generate")
    with_it = written(names, tt, True)
    assert len(set(with_it)) > 20
    assert with_it == written(names, tt, False)


def test_generate_writes_what_pytorch_writes(torch: Any) -> None:
    ours, theirs = load("generate"), vars(language.program("generate", "torch"))
    assert written(ours, tt, True) == written(theirs, torch, True)


@pytest.mark.slow
def test_folds_are_trained_on_the_backends_of_the_workers(tmp_path: Path) -> None:
    done = run_apart("dask_folds", tmp_path)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"fold (\d) on (\w+) +accuracy ([\d.]+)%", done.stdout)
    assert [number for number, _, _ in found] == ["0", "1", "2", "3"]
    # The scheduler chooses the workers: one of them may get all folds.
    assert {backend for _, backend, _ in found} <= {"numpy", "cupy", "homemade"}
    assert all(float(accuracy) > 94 for _, _, accuracy in found)


@pytest.mark.slow
def test_two_ranks_train_to_the_weights_of_one(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="the `mpi` extra is not installed")
    done = run_apart("distributed_digits", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"2 ranks: +\d+ digits a second", done.stdout)
