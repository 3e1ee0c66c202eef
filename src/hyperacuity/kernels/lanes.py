"""Eight numbers side by side in one register of the processor, for loops in which eight things are done alike.

A compiler turns long loops over arrays into such operations by itself, but not short ones inside others, nor does it keep their
sums in registers. Here eight numbers are one value: :func:`load` takes them from a flat array, ``+``, ``-`` and ``*`` combine
them number by number, and :func:`store` puts them back. Every operation rounds as it does on single numbers, in the order
written, so that results are the same on any machine. As plain Python, without compilation, lanes are slices of arrays.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types

from hyperacuity.kernels import Float32s, Scalar

LANES = 8

_numba: Any = extending
intrinsic, overload = _numba.intrinsic, _numba.overload

Lanes = Any
"""Eight numbers of single precision, inside a kernel."""

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_ALIGNMENT = 4  # of one number: lanes may start anywhere


def load(array: Float32s, at: int) -> Lanes:
    """The eight numbers of a flat array from an index on.

    >>> load(np.arange(10, dtype=np.float32), 2)
    array([2., 3., 4., 5., 6., 7., 8., 9.], dtype=float32)
    """
    return array[at : at + LANES].copy()


def store(array: Float32s, at: int, lanes: Lanes) -> None:
    """Write eight numbers into a flat array from an index on."""
    array[at : at + LANES] = lanes


def spread(value: Scalar) -> Lanes:
    """One number eight times.

    >>> spread(np.float32(0.5))
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], dtype=float32)
    """
    return np.full(LANES, value, np.float32)


class _LanesType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


_LANES = _LanesType()


@_numba.register_model(_LanesType)
class _LanesModel(_numba.models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Where in memory the number of an index is."""
    found = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(found.data, [at]), _VECTOR.as_pointer())


@intrinsic
def _load(typing: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _address(context, builder, signature.args[0], given[0], given[1])
        return builder.load(place, align=_ALIGNMENT)

    return _LANES(array, types.intp), generate


@intrinsic
def _store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _address(context, builder, signature.args[0], given[0], given[1])
        builder.store(given[2], place, align=_ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def _spread(typing: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), given[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), everywhere)

    return _LANES(types.float32), generate


def _operation(instruction: str) -> Any:
    @intrinsic
    def combine(typing: Any, left: Any, right: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return getattr(builder, instruction)(*given)

        return _LANES(left, right), generate

    def offered(left: Any, right: Any) -> Any:
        if isinstance(left, _LanesType) and isinstance(right, _LanesType):
            return lambda left, right: combine(left, right)
        return None

    return offered


overload(load)(lambda array, at: lambda array, at: _load(array, at))
overload(store)(lambda array, at, lanes: lambda array, at, lanes: _store(array, at, lanes))
overload(spread)(lambda value: lambda value: _spread(value))
for _operator, _instruction in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    overload(_operator, strict=False)(_operation(_instruction))
