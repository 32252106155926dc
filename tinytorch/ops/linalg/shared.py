"""Helpers of ``tinytorch.linalg``: checks, errors of routines, formulas for gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backends import load
from ...dispatch.op import Array, Backend
from ...dispatch.out import scalar_name

_NumpyLinAlgError: Any = load("numpy").library.linalg.LinAlgError


class LinAlgError(RuntimeError, _NumpyLinAlgError):  # type: ignore[misc]
    """Error of a decomposition or solution: a singular matrix, or an iteration that diverged.

    It is also a subclass of NumPy's ``LinAlgError``.

    Example:
        >>> try:
        ...     tt.linalg.inv(tt.zeros(1, 1))
        ... except tt.linalg.LinAlgError:
        ...     print("singular")
        singular
    """


LinAlgError.__module__ = "tinytorch.linalg"


# -- checks ----------------------------------------------------------------------------------------


def check_floating(xp: Backend, name: str, array: Array) -> None:
    """Raise RuntimeError unless the dtype is floating-point or complex, of 32 bits at least."""
    if array.dtype.kind not in "fc":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(xp.dtype_of(array))}"
        )
    if array.dtype.itemsize < 4:
        raise RuntimeError(
            f"{name}: Low precision dtypes not supported. Got {scalar_name(xp.dtype_of(array))}"
        )


def check_dimensions(name: str, matrix: Any, argument: str = "A") -> None:
    """Raise RuntimeError unless an array or tensor has two dimensions at least.

    ``name`` and ``argument`` are the function and its argument, for the error.
    """
    if matrix.ndim < 2:
        raise RuntimeError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions, got shape "
            f"{list(matrix.shape)}."
        )


def check_sides(name: str, matrix: Any, argument: str = "A") -> None:
    """Raise RuntimeError unless an array or tensor, of any dtype, is a batch of square matrices."""
    check_dimensions(name, matrix, argument)
    rows, columns = matrix.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are {rows} by "
            f"{columns} matrices"
        )


def check_matrix(xp: Backend, name: str, array: Array, argument: str = "A") -> None:
    """Raise RuntimeError unless ``array`` is a batch of matrices.

    They must be floating-point or complex, of 32 bits at least.
    """
    check_dimensions(name, array, argument)
    check_floating(xp, name, array)


def check_square(xp: Backend, name: str, array: Array, argument: str = "A") -> None:
    """Raise RuntimeError unless ``array`` is a batch of square matrices.

    They must be floating-point or complex, of 32 bits at least.
    """
    check_matrix(xp, name, array, argument)
    check_sides(name, array, argument)


def check_same_dtype(xp: Backend, name: str, a: Array, b: Array) -> None:
    """Raise RuntimeError unless two operands have one dtype."""
    if a.dtype != b.dtype:
        have, got = (scalar_name(xp.dtype_of(x)) for x in (a, b))
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {have} and B "
            f"of type {got} instead"
        )


def common_batch(xp: Backend, name: str, a: Array, b: Array) -> tuple[int, ...]:
    """The shape that the leading dimensions of two batches of matrices broadcast to.

    Raises RuntimeError if they do not broadcast; ``name`` is the function, for the error.
    """
    first, second = tuple(a.shape[:-2]), tuple(b.shape[:-2])
    if first == second:
        return first
    count = max(len(first), len(second))
    sizes = []
    for k in range(-count, 0):
        m = first[k] if -k <= len(first) else 1
        n = second[k] if -k <= len(second) else 1
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"{name}: The batch dimensions of A and B must broadcast, but got shapes "
                f"{list(a.shape)} and {list(b.shape)}: size {m} and {n} at dimension {k - 2}"
            )
        sizes.append(n if m == 1 else m)
    return tuple(sizes)


# -- failures --------------------------------------------------------------------------------------


def call_routine(
    xp: Backend, call: Callable[..., Any], *args: Any, failure: Callable[[], Any]
) -> Any:
    """Call a routine of the array library; call ``failure`` if it raises LinAlgError.

    ``failure()`` returns the exception to raise, or a result to return instead.
    """
    try:
        with xp.raising():
            return call(*args)
    except xp.linalg.LinAlgError:
        outcome = failure()
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def first_failed_element(xp: Backend, info: Array) -> tuple[str, int]:
    """Prefix of an error that names the first failed batch element, and LAPACK's code of it.

    ``info`` holds LAPACK's codes, one a matrix, at least one of which is not 0.
    """
    codes = xp.to_numpy(info).reshape(-1)
    at = int((codes != 0).argmax())
    return (f"(Batch element {at}): " if info.ndim else ""), int(codes[at])


def convergence_error(name: str, values: str) -> LinAlgError:
    """The error of an iteration that did not converge.

    ``name`` is the function, and ``values`` says which values it computes, such as "eigenvalues".
    """
    return LinAlgError(
        f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or "
        f"has too many repeated {values}, or contains non-finite values."
    )


def svd_factors(xp: Backend, A: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    """The factors ``U``, ``S`` and ``Vh`` of matrices; LinAlgError if the SVD fails.

    ``full_matrices`` is whether ``U`` and ``Vh`` are square.
    """
    if not bool(xp.isfinite(A).all()):  # LAPACK's iteration may not end for infinities
        raise svd_error(xp, A)
    u, s, vh = call_routine(xp, xp.linalg.svd, A, full_matrices, failure=lambda: svd_error(xp, A))
    return u, s, vh


def svd_error(xp: Backend, A: Array) -> LinAlgError:
    """The error of matrices whose SVD failed."""
    if not bool(xp.isfinite(A).all()):
        return LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained "
            "non-finite values."
        )
    return convergence_error("linalg.svd", "singular values")


# -- formulas for gradients ------------------------------------------------------------------------


def adjoint(xp: Any, x: Any) -> Any:
    """The conjugate transpose of each matrix."""
    x = xp.swapaxes(x, -1, -2)
    return xp.conj(x) if x.dtype.kind == "c" else x


def conjugate(xp: Any, x: Any) -> Any:
    """The complex conjugate; ``x`` itself if it is real."""
    return xp.conj(x) if x.dtype.kind == "c" else x


def check_phases(xp: Any, message: tuple[str, str, str], changes: Any, more: Any = None) -> None:
    """Raise RuntimeError if a loss depends on the phases of complex vectors, which are arbitrary.

    Args:
        xp: The backend, or the namespace in which a gradient is recorded.
        message: The name of the backward function, the name of the vectors, and the end of
            PyTorch's message.
        changes: Matrices; the imaginary part of diagonal element i is the derivative of the loss
            by the phase of vector i.
        more: The same for other vectors that share the phases, or None.
    """
    if changes.dtype.kind != "c":
        return
    given = [x for x in (changes, more) if x is not None]
    change, *rest = [xp.diagonal(x, 0, -2, -1).imag for x in given]
    allowed = 1e-2 + (1e-2 * abs(rest[0]) if rest else 0)  # PyTorch's
    name, vectors, ending = message
    xp.check_all(
        abs(change + rest[0] if rest else change) <= allowed,
        f"{name}: The {vectors} in the complex case are specified up to multiplication by "
        f"e^{{i phi}}. The specified loss function depends on this {ending} ill-defined.",
    )


def real_part(x: Any) -> Any:
    """The real part; ``x`` itself if it is real."""
    return x.real if x.dtype.kind == "c" else x


def divide_by_differences(xp: Any, x: Any, values: Any) -> Any:
    """``x_ij / (values_j - values_i)``, and 0 where the two are equal, as on the diagonal.

    Equal eigenvalues share one eigenspace, in which any basis may be chosen. The gradient is 0
    there for a function that does not depend on that choice, and undefined for others.
    """
    differences = values[..., None, :] - values[..., :, None]
    equal = differences == 0
    return xp.where(equal, 0, x / xp.where(equal, 1, differences))
