"""torchvision: detectors and segmenters train a step and predict, transforms, images as files."""

import tempfile
import warnings
from pathlib import Path

import torch
from torch import nn, optim
from torchvision import io, ops, transforms, tv_tensors
from torchvision.models import detection, resnet18, segmentation
from torchvision.transforms import v2

warnings.filterwarnings("ignore", message="The image decoding and encoding")
torch.manual_seed(0)
SIZE = 64
OPTIONS = {"weights": None, "weights_backbone": None}
SMALL = {**OPTIONS, "min_size": SIZE, "max_size": SIZE}
# Few regions, as each one passes eight convolutions of 512 channels.
FEW = {**SMALL, "box_batch_size_per_image": 16, "box_detections_per_img": 4}


def shapes(masks=False, keypoints=False):
    """Two images of two squares each, and what there is to find."""
    images, targets = torch.rand(2, 3, SIZE, SIZE) / 4, []
    for image in images:
        low = torch.randint(0, SIZE // 2, (2, 2))
        boxes = torch.cat([low, low + torch.randint(12, SIZE // 2, (2, 2))], 1)
        inside = torch.zeros(2, SIZE, SIZE, dtype=torch.uint8)
        for mask, (x1, y1, x2, y2) in zip(inside, boxes.tolist(), strict=True):
            mask[y1:y2, x1:x2] = 1
            image[:, y1:y2, x1:x2] = 1
        target = {"boxes": boxes.float(), "labels": torch.tensor([1, 1])}
        if masks:
            target["masks"] = inside
        if keypoints:
            corners = torch.cat([boxes.float(), torch.ones(2, 1)], 1)
            target["keypoints"] = corners[:, None, [0, 1, 4]].expand(2, 17, 3).contiguous()
        targets.append(target)
    return [*images], targets


def train(model, loss_of):
    """Take two steps that lower the loss; every parameter must have a gradient."""
    optimizer = optim.SGD([p for p in model.parameters() if p.requires_grad], 1e-3)
    model.train()
    losses = []
    for _ in range(2):
        torch.manual_seed(1)  # which boxes are sampled
        loss = loss_of(model)
        optimizer.zero_grad()
        loss.backward()
        for name, p in model.named_parameters():
            assert p.grad is not None and p.grad.isfinite().all(), name
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0], losses
    return model.eval()


def detects(make, masks=False, keypoints=False, **options):
    images, targets = shapes(masks, keypoints)
    model = train(make(num_classes=2, **options),
                  lambda model: sum(model(images, targets).values()))  # fmt: skip
    with torch.no_grad():
        found = model(images)
    assert len(found) == 2
    for each in found:
        boxes = each["boxes"]
        assert len(boxes) == len(each["scores"]) == len(each["labels"])
        assert ((boxes >= 0) & (boxes <= SIZE)).all()
        assert not masks or each["masks"].shape == (len(boxes), 1, SIZE, SIZE)
        assert not keypoints or each["keypoints"].shape == (len(boxes), 17, 3)


detects(detection.fasterrcnn_mobilenet_v3_large_320_fpn, **SMALL)
detects(detection.maskrcnn_resnet50_fpn, masks=True, **FEW)
detects(detection.keypointrcnn_resnet50_fpn, keypoints=True, **FEW)
detects(detection.retinanet_resnet50_fpn, **SMALL)
detects(detection.fcos_resnet50_fpn, **SMALL)
detects(detection.ssdlite320_mobilenet_v3_large, **OPTIONS)

images, classes = torch.rand(2, 3, SIZE, SIZE), torch.randint(0, 3, (2, SIZE, SIZE))
model = train(
    segmentation.deeplabv3_mobilenet_v3_large(num_classes=3, **OPTIONS),
    lambda model: nn.functional.cross_entropy(model(images)["out"], classes),
)
assert model(images)["out"].shape == (2, 3, SIZE, SIZE)
train(
    resnet18(num_classes=3),
    lambda model: nn.functional.cross_entropy(model(images), torch.tensor([0, 2])),
)

# The compiled operators, against the formulas that torchvision has in Python.
boxes = torch.rand(40, 2) * 20
boxes = torch.cat([boxes, boxes + 1 + torch.rand(40, 2) * 12], 1)
scores, kinds = torch.rand(40), torch.randint(0, 3, (40,))
left = ops.nms(boxes, scores, 0.4)
overlap = ops.box_iou(boxes[left], boxes[left]).fill_diagonal_(0)
assert overlap.max() <= 0.4 and (scores[left].diff() <= 0).all()
assert (ops.box_iou(boxes, boxes[left]).amax(1) > 0.4).all()
by_kind = [i for kind in range(3) for i in torch.where(kinds == kind)[0][
    ops.nms(boxes[kinds == kind], scores[kinds == kind], 0.4)].tolist()]  # fmt: skip
assert sorted(by_kind) == sorted(ops.batched_nms(boxes, scores, kinds, 0.4).tolist())

formula = ops.roi_align.__globals__["_roi_align"].__wrapped__
rois = torch.cat([torch.randint(0, 2, (40, 1)).float(), boxes], 1)
for ratio, aligned in ((-1, False), (-1, True), (2, True)):
    found = []
    for call in (torch.ops.torchvision.roi_align, formula):
        x = images.clone().requires_grad_()
        pooled = call(x, rois, 0.5, 3, 4, ratio, aligned)
        (pooled * torch.arange(1.0, 13).reshape(3, 4)).sum().backward()
        found.append((pooled, x.grad))
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)

layer = ops.DeformConv2d(3, 4, 3, padding=1)
plain = nn.functional.conv2d(images, layer.weight, layer.bias, padding=1)
assert torch.allclose(layer(images, torch.zeros(2, 18, SIZE, SIZE)), plain, atol=1e-5)
assert ops.MultiScaleRoIAlign(["a"], 3, 2)({"a": images}, [boxes, boxes], [(64, 64)] * 2).shape == (
    80, 3, 3, 3,
)  # fmt: skip
assert ops.PSRoIPool(2, 0.5)(torch.rand(2, 8, 9, 9), rois).shape == (40, 2, 2, 2)

# Images as files: PNG keeps every pixel, JPEG nearly.
y, x = torch.meshgrid(torch.arange(40), torch.arange(50), indexing="ij")
picture = torch.stack([4 * y, 5 * x, 2 * (x + y)]).to(torch.uint8)
folder = Path(tempfile.mkdtemp())
io.write_png(picture, str(folder / "picture.png"))
io.write_jpeg(picture, str(folder / "picture.jpg"), quality=95)
assert torch.equal(io.read_image(str(folder / "picture.png")), picture)
assert torch.equal(io.decode_image(str(folder / "picture.png"), "RGB"), picture)
near = io.decode_image(io.read_file(str(folder / "picture.jpg"))).int()
assert (near - picture.int()).abs().float().mean() < 3
assert io.decode_image(str(folder / "picture.jpg"), io.ImageReadMode.GRAY).shape == (1, 40, 50)

steps = transforms.Compose([
    transforms.ToPILImage(), transforms.Resize(32), transforms.CenterCrop(24),
    transforms.RandomHorizontalFlip(), transforms.ToTensor(),
    transforms.Normalize((0.5,) * 3, (0.5,) * 3),
])  # fmt: skip
assert steps(picture).shape == (3, 24, 24)
assert v2.AugMix()(picture).shape == picture.shape
mirror = v2.Compose([v2.Resize((20, 25)), v2.RandomHorizontalFlip(1.0)])
box = tv_tensors.BoundingBoxes([[4, 8, 20, 30]], format="XYXY", canvas_size=(40, 50))
image, box = mirror(tv_tensors.Image(picture), box)
assert type(image) is tv_tensors.Image and image.shape == (3, 20, 25)
assert box.tolist() == [[25 - 10, 4, 25 - 2, 15]]
print("done")
