"""Find and name shapes in pictures with a small detector of two stages.

The pictures are drawn: circles, squares and triangles on a noisy background. A network proposes
boxes, one for each cell of a grid; `nms` drops those that overlap a better one; `roi_align` cuts
the features in each box that is left, and a second network names the shape in it (S. Ren et al.,
"Faster R-CNN", arXiv:1506.01497; K. He et al., "Mask R-CNN", arXiv:1703.06870). Both operators are
torchvision's, which is not needed. The program exits with status 1 if it finds and names fewer than
90 % of the shapes in new pictures, or if more than 10 % of what it finds is not there.

    python examples/detector.py
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import matplotlib
from matplotlib import pyplot as plt

import tinytorch as tt
from tinytorch import nn, optim
from tinytorch.nn import functional as F

NAMES = ("circle", "square", "triangle")
COLORS = ("tab:blue", "tab:orange", "tab:green")
SIZE, CELL = 64, 8  # pixels of a picture and of a cell of the grid
MOST = 4  # shapes in a picture
TARGET = 0.9


def draw_shapes(count: int) -> tuple[tt.Tensor, list[tt.Tensor], list[tt.Tensor]]:
    """Draw pictures.

    Returns:
        The pictures, `(count, 3, SIZE, SIZE)`, and for each picture the boxes x1, y1, x2, y2 of
        its shapes, `(shapes, 4)`, and their kinds, `(shapes,)`.
    """
    images = tt.randint(0, 8, (count, 1, SIZE, SIZE)).repeat(1, 3, 1, 1) / 25
    boxes, kinds = [], []
    for image in images:
        centers, radii = place(int(tt.randint(1, MOST + 1, ())))
        kinds.append(tt.randint(0, len(NAMES), (len(radii),)))
        boxes.append(tt.cat([centers - radii, centers + radii], 1))
        for center, radius, kind in zip(centers, radii, kinds[-1].tolist(), strict=True):
            color = (0.4 + 0.6 * tt.rand(3))[:, None]
            image[:, mask(kind, center, radius)] = color
    return images, boxes, kinds


def place(count: int) -> tuple[tt.Tensor, tt.Tensor]:
    """Choose centers `(n, 2)` and radii `(n, 1)` of up to `count` shapes that do not touch."""
    radii = 5 + 8 * tt.rand(count, 1)
    centers = radii + (SIZE - 2 * radii) * tt.rand(count, 2)
    kept: list[int] = []
    for i in range(count):
        gaps = (centers[i] - centers[kept]).abs().amax(1) - (radii[i] + radii[kept][:, 0])
        if bool((gaps > 1).all()):
            kept.append(i)
    return centers[kept], radii[kept]


def mask(kind: int, center: tt.Tensor, radius: tt.Tensor) -> tt.Tensor:
    """Whether the center of each pixel lies in a shape, `(SIZE, SIZE)`."""
    at = tt.arange(SIZE) + 0.5
    x, y = at - center[0], (at - center[1])[:, None]
    if kind == 0:
        return x**2 + y**2 <= radius**2
    if kind == 1:
        return tt.maximum(x.abs(), y.abs()) <= radius
    return (2 * x.abs() <= y + radius) & (y <= radius)


class Detector(nn.Module):
    """Backbone with features at two scales, proposals at the coarse one, names at the fine one."""

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(block(3, 16, 2), block(16, 32, 2))
        self.coarse = nn.Sequential(block(32, 64, 2), block(64, 64, 1))
        self.propose = nn.Conv2d(64, 5, 1)  # a score and a box for each cell
        self.name = nn.Sequential(
            nn.Flatten(), nn.Linear(32 * 6 * 6, 64), nn.ReLU(), nn.Linear(64, len(NAMES))
        )

    def proposals(self, fine: tt.Tensor) -> tuple[tt.Tensor, tt.Tensor]:
        """Return a score `(batch, cells)` and a box `(batch, cells, 4)` for each cell.

        The box is coded as the distance of its center from that of the cell, and as logarithms of
        its sides; `corners` decodes it.
        """
        found = self.propose(self.coarse(fine)).flatten(2)
        return found[:, 0], found[:, 1:].transpose(1, 2)

    def names(self, fine: tt.Tensor, regions: tt.Tensor) -> tt.Tensor:
        """Return logits of the kinds, `(regions, kinds)`.

        Args:
            fine: Features of pictures.
            regions: Index of the picture, x1, y1, x2, y2; `(regions, 5)`.
        """
        scale = fine.shape[-1] / SIZE
        return self.name(tt.ops.torchvision.roi_align(fine, regions, scale, 6, 6, 2, True))


def block(inputs: int, outputs: int, stride: int) -> nn.Module:
    """Convolution, normalization, ReLU."""
    convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


def cell_centers() -> tt.Tensor:
    """Centers x, y of the cells, row by row, `(cells, 2)`."""
    at = CELL * (tt.arange(SIZE // CELL) + 0.5)
    y, x = tt.meshgrid(at, at, indexing="ij")
    return tt.stack([x, y], -1).flatten(0, 1)


def corners(code: tt.Tensor) -> tt.Tensor:
    """Decode boxes `(..., cells, 4)` to x1, y1, x2, y2."""
    centers = cell_centers() + CELL * code[..., :2]
    halves = CELL * code[..., 2:].clamp(-4, 4).exp()
    return tt.cat([centers - halves, centers + halves], -1)


def loss(
    model: Detector, images: tt.Tensor, boxes: list[tt.Tensor], kinds: list[tt.Tensor]
) -> tt.Tensor:
    """Return the sum of the losses of scores, boxes and names.

    A cell should propose a shape whose center it holds.
    """
    fine = model.fine(images)
    scores, codes = model.proposals(fine)
    index = tt.arange(len(images)).repeat_interleave(tt.tensor([len(each) for each in boxes]))
    truth = tt.cat(boxes)
    centers, halves = (truth[:, :2] + truth[:, 2:]) / 2, (truth[:, 2:] - truth[:, :2]) / 2
    column, row = (centers / CELL).long().unbind(1)
    cell = row * (SIZE // CELL) + column
    wanted = tt.zeros_like(scores)
    wanted[index, cell] = 1
    code = tt.cat([(centers - cell_centers()[cell]) / CELL, (halves / CELL).log()], 1)
    shaken = truth + tt.randn_like(truth)  # proposals will not be exact
    logits = model.names(fine, tt.cat([index[:, None].float(), shaken], 1))
    return (
        F.binary_cross_entropy_with_logits(scores, wanted, pos_weight=tt.tensor(4.0))
        + F.smooth_l1_loss(codes[index, cell], code)
        + 0.3 * F.cross_entropy(logits, tt.cat(kinds))
    )


@tt.no_grad()
def detect(model: Detector, images: tt.Tensor) -> list[tuple[tt.Tensor, tt.Tensor]]:
    """Return for each picture the boxes `(found, 4)` and kinds `(found,)` of what is in it."""
    model.eval()
    fine = model.fine(images)
    scores, codes = model.proposals(fine)
    found = []
    for i, box in enumerate(corners(codes)):
        likely = scores[i] > -2  # two cells may share a shape at their border
        left = tt.ops.torchvision.nms(box[likely], scores[i][likely], 0.3)
        box = box[likely][left]
        regions = tt.cat([tt.full((len(box), 1), float(i)), box], 1)
        found.append((box, model.names(fine, regions).argmax(1)))
    return found


def overlap(first: tt.Tensor, second: tt.Tensor) -> tt.Tensor:
    """Intersection over union of pairs of boxes, `(n, 4)` and `(m, 4)`: `(n, m)`."""
    low = tt.maximum(first[:, None, :2], second[:, :2])
    sides = (tt.minimum(first[:, None, 2:], second[:, 2:]) - low).clamp(min=0)
    areas = [(box[:, 2:] - box[:, :2]).prod(1) for box in (first, second)]
    common = sides.prod(2)
    return common / (areas[0][:, None] + areas[1] - common)


def count_found(
    found: list[tuple[tt.Tensor, tt.Tensor]], boxes: list[tt.Tensor], kinds: list[tt.Tensor]
) -> int:
    """Count the shapes that some box of the right kind overlaps by more than half."""
    total = 0
    for (box, kind), truth, name in zip(found, boxes, kinds, strict=True):
        hits = (overlap(truth, box) > 0.5) & (name[:, None] == kind)
        total += int(hits.any(1).sum())
    return total


def draw(path: Path, images: tt.Tensor, found: list[tuple[tt.Tensor, tt.Tensor]]) -> None:
    """Draw ten pictures with the boxes and names that were found."""
    figure, axes = plt.subplots(2, 5, figsize=(10, 4.1), layout="constrained")
    for each, image, (boxes, kinds) in zip(axes.flat, images, found):
        pixels = image.permute(1, 2, 0).numpy()
        each.imshow(pixels, extent=(0, SIZE, SIZE, 0), interpolation="nearest")
        each.set_axis_off()
        for (x1, y1, x2, y2), kind in zip(boxes.tolist(), kinds.tolist(), strict=True):
            each.add_patch(
                plt.Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, ec=COLORS[kind], lw=2)
            )
            above = y1 > 6
            each.text(
                x1, y1 - 1 if above else y2 + 1, NAMES[kind], color="white", fontsize=8,
                va="bottom" if above else "top",
            )  # fmt: skip
    figure.savefig(path, dpi=80)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--output", type=Path, default=Path("detector.png"), help="picture to write"
    )
    return parser.parse_args()


def fit(model: Detector, arguments: argparse.Namespace) -> None:
    """Train on pictures of which none is seen twice; print the mean loss of 50 steps."""
    optimizer = optim.AdamW(model.parameters(), lr=arguments.lr)
    schedule = optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.steps)
    losses: list[float] = []
    for step in range(1, arguments.steps + 1):
        value = loss(model, *draw_shapes(arguments.batch_size))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        schedule.step()
        losses.append(value.item())
        if step % 50 == 0:
            print(f"step {step:4d}   loss {sum(losses[-50:]) / 50:.4f}", flush=True)


def main() -> int:
    arguments = parse_arguments()
    matplotlib.use("Agg")  # writes files without a display
    tt.manual_seed(arguments.seed)
    model = Detector()
    start = time.perf_counter()
    fit(model, arguments)
    seconds = time.perf_counter() - start

    images, boxes, kinds = draw_shapes(100)
    found = detect(model, images)
    hits = count_found(found, boxes, kinds)
    shapes, proposed = sum(map(len, boxes)), sum(len(box) for box, _ in found)
    print(f"{hits} of {shapes} shapes found and named, {proposed - hits} boxes wrong")
    draw(arguments.output, images, found)
    print(f"trained in {seconds:.1f} s; picture: {arguments.output.resolve()}")
    if hits < TARGET * shapes or hits < TARGET * proposed:
        print(f"expected at least {TARGET:.0%}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
