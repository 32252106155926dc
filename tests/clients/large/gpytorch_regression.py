"""GPyTorch: an exact Gaussian process that learns its kernel, and a variational one."""

import gpytorch
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 40)
y = torch.sin(6 * x) + 0.1 * torch.randn(40)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def train(model, objective, steps, parameters):
    optimizer = torch.optim.Adam(parameters, lr=0.1)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0], losses


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Exact(x, y, likelihood)
train(model, gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model), 40, model.parameters())
model.eval(), likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    found = likelihood(model(x))
    assert (found.mean - torch.sin(6 * x)).abs().mean() < 0.1
    low, high = found.confidence_region()
    assert ((low < y) & (y < high)).float().mean() > 0.8
    assert model(x).sample(torch.Size([3])).shape == (3, 40)


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self, inducing):
        q = gpytorch.variational.CholeskyVariationalDistribution(inducing.shape[0])
        super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, q))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Variational(x[::4].clone()[:, None])
parameters = [*model.parameters(), *likelihood.parameters()]
x = x[:, None]
train(model, gpytorch.mlls.VariationalELBO(likelihood, model, 40), 30, parameters)
print("done")
