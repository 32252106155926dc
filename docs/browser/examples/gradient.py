# The gradient of a function, by backward(): here the slopes of sin(x)² at five points.
import tinytorch as tt

x = tt.linspace(0, 1, 5, requires_grad=True)
y = (x.sin() ** 2).sum()
y.backward()
print(x.grad)
