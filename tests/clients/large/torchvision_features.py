"""torchvision's feature extraction: names of nodes, features of ResNet and of a detector's body."""

import torch
from torchvision.models import mobilenet_v3_small, resnet18, vit_b_16
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

torch.manual_seed(0)
x = torch.rand(2, 3, 64, 64)
model = resnet18(num_classes=3)
train_names, names = get_graph_node_names(model)
assert train_names == names
assert names[:5] == ["x", "conv1", "bn1", "relu", "maxpool"] and names[-2:] == ["flatten", "fc"]
assert "layer2.0.downsample.1" in names and "layer4.1.add" in names and len(names) == 70

# Features against hooks on the layers themselves.
expected = {}
handles = [
    model.get_submodule(name).register_forward_hook(
        lambda module, args, out, name=name: expected.update({name: out})
    )
    for name in ("layer1", "layer3")
]
model.eval()
with torch.no_grad():
    model(x)
    for handle in handles:
        handle.remove()
    extractor = create_feature_extractor(model, {"layer1": "first", "layer3": "second"})
    found = extractor(x)
assert list(found) == ["first", "second"]
torch.testing.assert_close(found["first"], expected["layer1"])
torch.testing.assert_close(found["second"], expected["layer3"])
kept = {name.split(".")[0] for name, _ in extractor.named_parameters()}
assert kept == {"conv1", "bn1", "layer1", "layer2", "layer3"}  # what is behind is left out

# Nodes between modules, other outputs in training and in evaluation, and gradients.
both = create_feature_extractor(
    model, train_return_nodes=["layer4.1.add"], eval_return_nodes=["flatten"]
)
assert list(both.eval()(x)) == ["flatten"] and both(x)["flatten"].shape == (2, 512)
assert list(both.train()(x)) == ["layer4.1.add"]
both(x)["layer4.1.add"].sum().backward()
assert model.conv1.weight.grad.isfinite().all()

body = BackboneWithFPN(
    resnet18(weights=None), {"layer2": "0", "layer3": "1", "layer4": "2"}, [128, 256, 512], 16
)
assert [tuple(t.shape) for t in body(x).values()] == [
    (2, 16, 8, 8), (2, 16, 4, 4), (2, 16, 2, 2), (2, 16, 1, 1),
]  # fmt: skip

small = mobilenet_v3_small(weights=None).eval()
nodes = get_graph_node_names(small)[1]
assert nodes[0] == "x" and "features.1.block.1" in nodes
out = create_feature_extractor(small, ["features.12", "flatten"])(x)
assert out["flatten"].shape == (2, 576)

vit = vit_b_16(weights=None, num_classes=2, image_size=32).eval()
vit_names = get_graph_node_names(vit)[1]
assert "encoder.layers.encoder_layer_0.self_attention" in vit_names
token = create_feature_extractor(vit, ["getitem_5"])(torch.rand(1, 3, 32, 32))["getitem_5"]
assert token.shape == (1, 768)
print("done")
