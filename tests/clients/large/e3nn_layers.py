"""e3nn: layers whose code ``fx`` generates are equivariant under rotations."""

import torch
from e3nn import o3
from e3nn.nn import BatchNorm, FullyConnectedNet, Gate

torch.manual_seed(0)
irreps = o3.Irreps("4x0e + 3x1o + 2x2e")
hidden = o3.Irreps("3x0e + 2x1o + 1x1e + 1x2e")
x, y = irreps.randn(5, -1), irreps.randn(5, -1)
rotation = o3.rand_matrix()


def assert_equivariant(layer, inputs, outputs, *given):
    """Rotating the inputs rotates the output."""
    kinds = [*zip(inputs, given, strict=True)]
    rotated = [value @ kind.D_from_matrix(rotation).T for kind, value in kinds]
    expected = layer(*given) @ outputs.D_from_matrix(rotation).T
    torch.testing.assert_close(layer(*rotated), expected, rtol=1e-4, atol=1e-4)


linear = o3.Linear(irreps, hidden)
assert_equivariant(linear, [irreps], hidden, x)
product = o3.FullyConnectedTensorProduct(irreps, irreps, hidden)
assert_equivariant(product, [irreps, irreps], hidden, x, y)
assert any(isinstance(m, torch.fx.GraphModule) for m in product.modules())
square = o3.TensorSquare(irreps)
assert_equivariant(square, [irreps], square.irreps_out, x)

gate = Gate("4x0e", [torch.tanh], "3x0e", [torch.sigmoid], "2x1o + 1x2e")
given = gate.irreps_in.randn(5, -1)
assert_equivariant(gate, [gate.irreps_in], gate.irreps_out, given)
assert BatchNorm(irreps)(x).shape == x.shape

vectors = torch.nn.functional.normalize(torch.randn(5, 3), dim=1)
harmonics = o3.Irreps.spherical_harmonics(2)
values = o3.spherical_harmonics(harmonics, vectors, normalize=True)
turned = o3.spherical_harmonics(harmonics, vectors @ rotation.T, normalize=True)
torch.testing.assert_close(
    turned, values @ harmonics.D_from_matrix(rotation).T, rtol=1e-4, atol=1e-4
)

# A convolution's weights from a network of distances, trained for some steps.
net = FullyConnectedNet([1, 8, product.weight_numel], torch.nn.functional.silu)
weighted = o3.FullyConnectedTensorProduct(
    irreps, irreps, hidden, internal_weights=False, shared_weights=False
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
target, losses = hidden.randn(5, -1), []
for _ in range(20):
    optimizer.zero_grad()
    out = weighted(x, y, net(torch.linspace(0, 1, 5)[:, None]))
    loss = (out - target).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 2, losses
print("done")
