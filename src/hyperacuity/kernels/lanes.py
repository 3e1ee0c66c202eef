"""Sixteen numbers side by side in registers of the processor, for loops in which sixteen things are done alike.

A compiler turns long loops over arrays into such operations by itself, but not short ones inside others, nor does it keep their
sums in registers. Here sixteen numbers are one value, real ones or counts: :func:`load` takes them from a flat array, ``+``,
``-`` and ``*`` combine them number by number, and :func:`store` puts them back. How many registers that takes depends on the
machine; results do not, since every operation rounds as it does on single numbers, in the order written. Counts wrap around. As
plain Python, without compilation, lanes are slices of arrays.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numpy.typing import NDArray

from hyperacuity.kernels import Scalar

LANES = 16

_numba: Any = extending
intrinsic, overload = _numba.intrinsic, _numba.overload

Lanes = Any
"""Numbers side by side, inside a kernel."""

Numbers = NDArray[Any]
"""A flat array of single or double precision, or of counts of 16 or 32 bits."""


def load(array: Numbers, at: Scalar) -> Lanes:
    """Sixteen numbers of a flat array from an index on.

    >>> load(np.arange(20, dtype=np.uint16), 2)
    array([ 2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17],
          dtype=uint16)
    """
    return array[at : at + LANES].copy()


def store(array: Numbers, at: Scalar, lanes: Lanes) -> None:
    """Write sixteen numbers into a flat array from an index on."""
    array[at : at + LANES] = lanes


def spread(value: Scalar) -> Lanes:
    """One number sixteen times.

    >>> spread(np.uint16(5)).sum()
    np.uint64(80)
    """
    return np.full(LANES, value)


_PARTS = {"float32": ir.FloatType(), "float64": ir.DoubleType(), "uint16": ir.IntType(16), "uint32": ir.IntType(32)}


class _LanesType(types.Type):
    def __init__(self, number: str) -> None:
        self.number = number
        self.vector = ir.VectorType(_PARTS[number], LANES)
        super().__init__(name=f"Lanes({number})")


_KINDS = {number: _LanesType(number) for number in _PARTS}


@_numba.register_model(_LanesType)
class _LanesModel(_numba.models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.vector)


def _address(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
    """Address of the number at an index."""
    structure = context.make_array(kind)(context, builder, array)
    return builder.bitcast(builder.gep(structure.data, [at]), _KINDS[kind.dtype.name].vector.as_pointer())


def _alignment(kind: Any) -> int:
    """Alignment of one number, since lanes may start anywhere."""
    return int(kind.dtype.bitwidth) // 8


@intrinsic
def _load(typing: Any, array: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _address(context, builder, signature.args[0], given[0], given[1])
        return builder.load(place, align=_alignment(signature.args[0]))

    return _KINDS[array.dtype.name](array, types.intp), generate


@intrinsic
def _store(typing: Any, array: Any, at: Any, lanes: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _address(context, builder, signature.args[0], given[0], given[1])
        builder.store(given[2], place, align=_alignment(signature.args[0]))
        return context.get_dummy_value()

    return types.void(array, types.intp, lanes), generate


@intrinsic
def _spread(typing: Any, value: Any) -> Any:
    kind = _KINDS[value.name]

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        nothing = ir.Constant(kind.vector, ir.Undefined)
        one = builder.insert_element(nothing, given[0], ir.Constant(ir.IntType(32), 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
        return builder.shuffle_vector(one, nothing, everywhere)

    return kind(value), generate


def _operation(on_reals: str, on_counts: str) -> Any:
    @intrinsic
    def combine(typing: Any, left: Any, right: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            return getattr(builder, on_reals if left.number.startswith("float") else on_counts)(*given)

        return left(left, right), generate

    def offered(left: Any, right: Any) -> Any:
        if isinstance(left, _LanesType) and left == right:
            return lambda left, right: combine(left, right)
        return None

    return offered


overload(load)(lambda array, at: lambda array, at: _load(array, at))
overload(store)(lambda array, at, lanes: lambda array, at, lanes: _store(array, at, lanes))
overload(spread)(lambda value: lambda value: _spread(value))
for _operator, _on_reals, _on_counts in (
    (operator.add, "fadd", "add"),
    (operator.sub, "fsub", "sub"),
    (operator.mul, "fmul", "mul"),
):
    overload(_operator, strict=False)(_operation(_on_reals, _on_counts))
