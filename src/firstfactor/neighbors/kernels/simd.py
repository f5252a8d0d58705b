"""Vectors of 8 or 16 numbers that stay in registers, for kernels.

A loop that the compiler vectorises by itself first checks whether arrays overlap, and handles the remainder one entry
at a time: with 8 numbers that takes longer than the work. Here kernels state the vectors themselves. They are added,
subtracted, multiplied and divided like numbers. A comparison gives a bit mask with one bit per lane, the lowest for
lane 0, so that kernels go from one hit to the next without testing the lanes between.

Numbers are float64, or float32 where arrays are. Positions count entries of a C-contiguous array of any shape from its
first one. They are checked only with ``NUMBA_BOUNDSCHECK=1``.
"""

import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

# Lanes of a short vector: with AVX-512 one register of doubles, with AVX2 two.
WIDTH = 8

# Vectors contain no NaN, and the sign of zero does not matter. A product and a sum may become one instruction.
_FLAGS = ("nnan", "nsz", "contract")

_INTEGER, _LANE, _BIT = ir.IntType(64), ir.IntType(32), ir.IntType(1)

# LLVM types of numba's number types.
_LLVM_TYPE: Any = {types.float64: ir.DoubleType(), types.float32: ir.FloatType()}


class Vector(types.Type):
    """Numba type of a vector of ``width`` numbers."""

    def __init__(self, width: int, number: Any = types.float64) -> None:
        self.width, self.number = width, number
        super().__init__(name=f"Vector({width}, {number})")

    @property
    def llvm_type(self) -> Any:
        """The corresponding LLVM type."""
        return ir.VectorType(_LLVM_TYPE[self.number], self.width)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    """Representation of a vector in LLVM: one value."""

    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, kind.llvm_type)


def _define_operator(function: Any, instruction: str) -> None:
    """Define an operator for two vectors of the same width, lane by lane, as one LLVM instruction."""

    def find_type(_: Any) -> Any:
        return lambda a, b: a if isinstance(a, Vector) and a == b else None  # None: numba tries other definitions

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return getattr(builder, instruction)(*arguments, flags=_FLAGS)

    type_callable(function)(find_type)
    lower_builtin(function, Vector, Vector)(generate)


_define_operator(operator.add, "fadd")
_define_operator(operator.sub, "fsub")
_define_operator(operator.mul, "fmul")
_define_operator(operator.truediv, "fdiv")


def _address(context: Any, builder: Any, kind: Any, vector: Vector, array: Any, at: Any) -> Any:
    """Return the address of a vector in an array."""
    contents = context.make_array(kind)(context, builder, array)
    if config.BOUNDSCHECK:  # type: ignore[attr-defined]
        _check_bounds(context, builder, vector.width, at, contents.nitems)
    return builder.bitcast(builder.gep(contents.data, [at]), vector.llvm_type.as_pointer())


def _check_bounds(context: Any, builder: Any, width: int, at: Any, size: Any) -> None:
    """Raise an IndexError if a vector lies outside its array; numba's own checks see single entries only."""
    beyond = builder.icmp_signed(">", builder.add(at, _INTEGER(width)), size)
    with builder.if_then(builder.or_(builder.icmp_signed("<", at, _INTEGER(0)), beyond), likely=False):
        context.call_conv.return_user_exc(builder, IndexError, ("a vector lies outside of its array",))


def _alignment(vector: Vector) -> int:
    """Return the alignment of arrays in bytes: vectors are longer, but start at any entry."""
    return int(vector.number.bitwidth) // 8


def _load(width: int) -> Any:
    @intrinsic
    def load(_: Any, array: Any, at: Any) -> Any:
        vector = Vector(width, array.dtype)

        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            address = _address(context, builder, sig.args[0], vector, *arguments)
            return builder.load(address, align=_alignment(vector))

        return vector(array, types.intp), generate

    return load


def _broadcast(width: int) -> Any:
    @intrinsic
    def broadcast(_: Any, value: Any) -> Any:
        vector = Vector(width, types.float32 if value == types.float32 else types.float64)

        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            # LLVM has no instruction for this; it recognises a shuffle that takes lane 0 for all lanes.
            undefined = ir.Constant(vector.llvm_type, ir.Undefined)
            lane_0 = ir.Constant(ir.VectorType(_LANE, width), [0] * width)
            return builder.shuffle_vector(builder.insert_element(undefined, *arguments, _LANE(0)), undefined, lane_0)

        return vector(vector.number), generate

    return broadcast


@intrinsic
def _store(_: Any, array: Any, at: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        address = _address(context, builder, sig.args[0], sig.args[2], *arguments[:2])
        builder.store(arguments[2], address, align=_alignment(sig.args[2]))
        return context.get_dummy_value()

    return types.none(array, types.intp, value), generate


@intrinsic
def _to_float32(_: Any, vector: Any) -> Any:
    rounded = Vector(vector.width, types.float32)

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fptrunc(arguments[0], rounded.llvm_type)

    return rounded(vector), generate


def _extremum(sign: str) -> Any:
    @intrinsic
    def choose(_: Any, a: Any, b: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            # A comparison and a select, which the compiler turns into one instruction and never into a branch.
            return builder.select(builder.fcmp_ordered(sign, *arguments), *arguments)

        both = a if isinstance(a, Vector) else types.float64
        return both(both, both), generate

    return choose


@intrinsic
def _where_less(_: Any, a: Any, b: Any, then: Any, otherwise: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", *arguments[:2]), *arguments[2:])

    return then(a, b, then, otherwise), generate


@intrinsic
def _at_most(_: Any, a: Any, b: Any) -> Any:
    def generate(_: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        bits = builder.bitcast(builder.fcmp_ordered("<=", *arguments), ir.IntType(sig.args[0].width))
        return builder.zext(bits, _INTEGER)

    return types.int64(a, b), generate


def _reduce(operation: str) -> Any:
    @intrinsic
    def reduce(_: Any, vector: Any) -> Any:
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            # The full name: llvmlite cannot derive the suffix of a vector type.
            name = f"llvm.vector.reduce.{operation}.v{vector.width}f{vector.number.bitwidth}"
            number = ir.FunctionType(_LLVM_TYPE[vector.number], [arguments[0].type])
            return builder.call(builder.module.declare_intrinsic(name, fnty=number), arguments, fastmath=_FLAGS[:2])

        return vector.number(vector), generate

    return reduce


@intrinsic
def _first_bit(_: Any, bits: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _BIT(1))  # 1: the result for 0 may be anything

    return types.intp(types.int64), generate


@intrinsic
def _count_bits(_: Any, bits: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.intp(types.int64), generate


def _mask_of(flags: Any) -> int:
    """Return flags as a bit mask."""
    return sum(1 << i for i, flag in enumerate(flags) if flag)


def _store_in_numpy(array: Any, at: int, vector: Any) -> None:
    array.reshape(-1)[at : at + len(vector)] = vector


# Each function for kernels, and in plain numpy for NUMBA_DISABLE_JIT=1.
_PLAIN = config.DISABLE_JIT  # type: ignore[attr-defined]

load8: Any = (lambda array, at: array.reshape(-1)[at : at + 8].copy()) if _PLAIN else _load(8)
load16: Any = (lambda array, at: array.reshape(-1)[at : at + 16].copy()) if _PLAIN else _load(16)
"""load16(array, at): return the vector that starts at a position."""
broadcast8: Any = (lambda value: np.full(8, value)) if _PLAIN else _broadcast(8)
broadcast16: Any = (lambda value: np.full(16, value)) if _PLAIN else _broadcast(16)
"""broadcast16(value): return a vector with the same number in all lanes."""
store: Any = _store_in_numpy if _PLAIN else _store
"""store(array, at, vector): write a vector to a position."""
to_float32: Any = (lambda vector: vector.astype(np.float32)) if _PLAIN else _to_float32
"""to_float32(vector): round a vector of doubles to float32."""
smaller: Any = np.minimum if _PLAIN else _extremum("<")
larger: Any = np.maximum if _PLAIN else _extremum(">")
"""Return the smaller or the larger of two numbers, or of two vectors lane by lane, without a branch."""
where_less: Any = (lambda a, b, then, otherwise: np.where(a < b, then, otherwise)) if _PLAIN else _where_less
"""where_less(a, b, then, otherwise): return the lanes of ``then`` where a < b, otherwise those of ``otherwise``."""
at_most: Any = (lambda a, b: _mask_of(a <= b)) if _PLAIN else _at_most
"""at_most(a, b): return the int64 bit mask of the lanes where a ≤ b."""
least: Any = np.min if _PLAIN else _reduce("fmin")
greatest: Any = np.max if _PLAIN else _reduce("fmax")
"""Return the smallest or the largest lane of a vector."""
first_bit: Any = (lambda bits: (int(bits) & -int(bits)).bit_length() - 1) if _PLAIN else _first_bit
"""Return the index of the lowest set bit in a mask other than 0."""
count_bits: Any = (lambda bits: int(bits).bit_count()) if _PLAIN else _count_bits
"""Return the number of set bits of a mask."""
