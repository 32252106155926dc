# A backend of one method: NumPy that reports sines. It is active within the block alone.
import tinytorch as tt
from tinytorch.backends.numpy import NumpyBackend


class Reporting(NumpyBackend):
    name = "reporting"

    def sin(self, x):
        print("sin of", x.size, "elements")
        return self.library.sin(x)


tt.register_backend("reporting", Reporting, replace=True)
with tt.backend_context("reporting"):
    inside = tt.zeros(3)
print(inside.sin().backend, tt.zeros(3).sin().backend)
print(tt.get_backend())
