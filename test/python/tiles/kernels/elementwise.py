# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise operations and conversions."""

from __future__ import annotations

from ..writer import Tile, Writer, is_float, sizes, stored, tensor
from .registry import ALL, ARITHMETIC_FLOATS, ENTRIES, FLOATS, INTEGERS, Build, add, kernel, load_tiles


def _elementwise(op: str, count: int) -> Build:
    def build(w: Writer, element: str) -> None:
        w.store(w.op(op, *load_tiles(w, element, count)))

    return build


for _name in ("addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"):
    add(f"arith.{_name}", ARITHMETIC_FLOATS, _elementwise(f"arith.{_name}", 2))
add("arith.negf", ARITHMETIC_FLOATS, _elementwise("arith.negf", 1))
for _name in ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui"):
    add(f"arith.{_name}", (*INTEGERS, "i1"), _elementwise(f"arith.{_name}", 2))


def _division(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = load_tiles(w, element, 2)
        # Divisors are odd, so they are not zero. The smallest number, which is even, must not be divided by -1.
        one = w.constant(1, y.shape, element)
        x = w.op("arith.ori", x, one) if element == "i3" else x
        w.store(w.op(op, x, w.op("arith.ori", y, one)))

    return build


for _name in ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi"):
    add(f"arith.{_name}", INTEGERS, _division(f"arith.{_name}"))


def _shift(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = load_tiles(w, element, 2)
        w.store(w.op(op, x, w.op("arith.andi", y, w.constant(2 if element == "i3" else 7, y.shape, element))))

    return build


for _name in ("shli", "shrsi", "shrui"):
    add(f"arith.{_name}", INTEGERS, _shift(f"arith.{_name}"))


def _comparison(op: str, predicate: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = load_tiles(w, element, 2)
        w.store(w.value(f"arith.{op} {predicate}, {x}, {y} : {x.type}", x.shape, "i1"))

    return build


for _name in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"):
    add(f"arith.cmpi {_name}", (*INTEGERS, "i1"), _comparison("cmpi", _name))
for _name in ("oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"):
    add(f"arith.cmpf {_name}", ARITHMETIC_FLOATS, _comparison("cmpf", _name))


@kernel("arith.select", ALL)
def _select(w: Writer, element: str) -> None:
    shape = sizes(w.extent, 2)
    c, x, y = w.load(shape, "i1"), w.load(shape, element), w.load(shape, element)
    w.store(w.value(f"arith.select {c}, {x}, {y} : {c.type}, {x.type}", shape, element))


def _conversion(op: str, result: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = load_tiles(w, element, 1)
        w.store(w.value(f"{op} {x} : {x.type} to {tensor(x.shape, result)}", x.shape, result))

    return build


_ORDER = ("f64", "f32", "f16", "f8E4M3FN")
_ORDER_OF_BFLOATS = ("f64", "f32", "bf16", "f8E5M2")
for _order in (_ORDER, _ORDER_OF_BFLOATS):
    for _number, _wide in enumerate(_order):
        for _narrow in _order[_number + 1 :]:
            if f"arith.truncf to {_narrow}" not in ENTRIES:
                _wider = tuple(
                    dict.fromkeys(t for o in (_ORDER, _ORDER_OF_BFLOATS) if _narrow in o for t in o[: o.index(_narrow)])
                )
                add(f"arith.truncf to {_narrow}", _wider, _conversion("arith.truncf", _narrow))
            if f"arith.extf to {_wide}" not in ENTRIES:
                _narrower = tuple(
                    dict.fromkeys(t for o in (_ORDER, _ORDER_OF_BFLOATS) if _wide in o for t in o[o.index(_wide) + 1 :])
                )
                add(f"arith.extf to {_wide}", _narrower, _conversion("arith.extf", _wide))
add("arith.truncf to f4E2M1FN", FLOATS, _conversion("arith.truncf", "f4E2M1FN"), extents=("aligned",))
add("arith.extf to f8E5M2", ("f4E2M1FN",), _conversion("arith.extf", "f8E5M2"), extents=("aligned",))
for _name in ARITHMETIC_FLOATS:
    add(f"arith.sitofp to {_name}", INTEGERS[:-1], _conversion("arith.sitofp", _name))
    add(f"arith.uitofp to {_name}", (*INTEGERS[:-1], "i1"), _conversion("arith.uitofp", _name))
for _name in INTEGERS[:-1]:
    add(f"arith.fptosi to {_name}", ARITHMETIC_FLOATS, _conversion("arith.fptosi", _name))
add("arith.extsi to i64", ("i32", "i16", "i8", "i1"), _conversion("arith.extsi", "i64"))
add("arith.extui to i32", ("i16", "i8", "i1"), _conversion("arith.extui", "i32"))
add("arith.trunci to i8", ("i64", "i32", "i16"), _conversion("arith.trunci", "i8"))
add("arith.trunci to i1", ("i64", "i32", "i16", "i8"), _conversion("arith.trunci", "i1"))
add("arith.index_cast to index", ("i64", "i32"), _conversion("arith.index_cast", "index"))
add("arith.index_cast to i32", ("index",), _conversion("arith.index_cast", "i32"))
for _element, _name in (
    ("f64", "i64"),
    ("f32", "i32"),
    ("f16", "i16"),
    ("bf16", "i16"),
    ("i32", "f32"),
    ("i16", "bf16"),
):
    add(f"arith.bitcast {_element} to {_name}", (_element,), _conversion("arith.bitcast", _name))


def _extended(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        x, y = load_tiles(w, element, 2)
        second = "i1" if op == "addui_extended" else element
        types = x.type if second == element else f"{x.type}, {tensor(x.shape, second)}"
        w.line(f"%low, %high = arith.{op} {x}, {y} : {types}")
        w.store(Tile("%low", x.shape, element))
        w.store(Tile("%high", x.shape, second))

    return build


for _name in ("addui_extended", "mulsi_extended", "mului_extended"):
    add(f"arith.{_name}", INTEGERS[:-1], _extended(_name))


def _of_positive(op: str) -> Build:
    def build(w: Writer, element: str) -> None:
        (x,) = load_tiles(w, element, 1)
        w.store(w.op(op, w.op("math.absf", x)))

    return build


def _of_unit(op: str) -> Build:
    """A function of numbers between -1 and 1."""

    def build(w: Writer, element: str) -> None:
        (x,) = load_tiles(w, element, 1)
        eighth = w.constant(0.125, x.shape, element)
        w.store(w.op(op, w.op("arith.mulf", x, eighth)))

    return build


for _name in (
    "exp",
    "exp2",
    "expm1",
    "sin",
    "cos",
    "tan",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "erf",
    "erfc",
    "cbrt",
):
    add(f"math.{_name}", ARITHMETIC_FLOATS, _elementwise(f"math.{_name}", 1))
for _name in ("absf", "ceil", "floor", "round", "roundeven", "trunc"):
    add(f"math.{_name}", ARITHMETIC_FLOATS, _elementwise(f"math.{_name}", 1))
for _name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt"):
    add(f"math.{_name}", ARITHMETIC_FLOATS, _of_positive(f"math.{_name}"))
for _name in ("asin", "acos", "atanh"):
    add(f"math.{_name}", ARITHMETIC_FLOATS, _of_unit(f"math.{_name}"))
add("math.acosh", ARITHMETIC_FLOATS, _of_positive("math.acosh"))
for _name in ("atan2", "copysign"):
    add(f"math.{_name}", ARITHMETIC_FLOATS, _elementwise(f"math.{_name}", 2))
add("math.fma", ARITHMETIC_FLOATS, _elementwise("math.fma", 3))
for _name in ("absi", "ctlz", "cttz", "ctpop"):
    add(f"math.{_name}", INTEGERS, _elementwise(f"math.{_name}", 1))


@kernel("math.clampf", ARITHMETIC_FLOATS)
def _clampf(w: Writer, element: str) -> None:
    x, low, high = load_tiles(w, element, 3)
    w.store(w.value(f"math.clampf {x} to [{low}, {high}] : {x.type}", x.shape, element))


@kernel("math.sincos", ARITHMETIC_FLOATS)
def _sincos(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    w.line(f"%sin, %cos = math.sincos {x} : {x.type}")
    w.store(Tile("%sin", x.shape, element))
    w.store(Tile("%cos", x.shape, element))


# Scales of other types than f8E8M0FNU are truncated to powers of two.
SCALES = ("f8E8M0FNU", *ARITHMETIC_FLOATS, "f8E4M3FN")


@kernel("arith.scaling_extf", ("f8E4M3FN", "f8E5M2"))
def _scaling_extf(w: Writer, element: str) -> None:
    x = w.load(sizes(w.extent, 2), element)
    for scale in [w.load(x.shape, scale) for scale in SCALES]:
        for wide in ARITHMETIC_FLOATS:
            types = f"{x.type}, {scale.type} to {tensor(x.shape, wide)}"
            w.store(w.value(f"arith.scaling_extf {x}, {scale} : {types}", x.shape, wide))


@kernel("arith.scaling_truncf", ARITHMETIC_FLOATS)
def _scaling_truncf(w: Writer, element: str) -> None:
    x = w.load(sizes(w.extent, 2), element)
    for scale in [w.load(x.shape, scale) for scale in SCALES]:
        types = f"{x.type}, {scale.type} to {tensor(x.shape, 'f8E5M2')}"
        w.store(w.value(f"arith.scaling_truncf {x}, {scale} : {types}", x.shape, "f8E5M2"))


@kernel("math.powf", ARITHMETIC_FLOATS)
def _powf(w: Writer, element: str) -> None:
    x, y = load_tiles(w, element, 2)
    w.store(w.op("math.powf", w.op("math.absf", x), y))


@kernel("math.fpowi", ARITHMETIC_FLOATS)
def _fpowi(w: Writer, element: str) -> None:
    x, n = w.load(sizes(w.extent, 2), element), w.load(sizes(w.extent, 2), "i32")
    n = w.op("arith.andi", n, w.constant(3, n.shape, "i32"))
    w.store(w.value(f"math.fpowi {x}, {n} : {x.type}, {n.type}", x.shape, element))


@kernel("math.ipowi", INTEGERS[:-1])
def _ipowi(w: Writer, element: str) -> None:
    x, n = load_tiles(w, element, 2)
    w.store(w.op("math.ipowi", x, w.op("arith.andi", n, w.constant(3, n.shape, element))))


for _name in ("isfinite", "isinf", "isnan", "isnormal"):

    @kernel(f"math.{_name}", ARITHMETIC_FLOATS)
    def _class(w: Writer, element: str, name: str = _name) -> None:
        (x,) = load_tiles(w, element, 1)
        w.store(w.value(f"math.{name} {x} : {x.type}", x.shape, "i1"))


@kernel("arith.constant", ALL)
def _constant(w: Writer, element: str) -> None:
    shape = sizes(w.extent, 1)
    bools = ["true" if n % 3 == 0 else "false" for n in range(shape[0])]
    numbers = [f"{n % 7}.0" if is_float(element) else str(n % 7) for n in range(shape[0])]
    elements = ", ".join(bools if element == "i1" else numbers)
    w.store(w.value(f"arith.constant dense<[{elements}]> : {tensor(shape, element)}", shape, element))


@kernel("tensor.splat", (*FLOATS, *INTEGERS))
def _splat(w: Writer, element: str) -> None:
    memory = stored(element)
    name, ty = w.argument((1,), memory)
    w.line("%zero = arith.constant 0 : index")
    w.line(f"%s = memref.load {name}[%zero] : {ty}")
    if memory != element:
        w.line(f"%t = arith.trunci %s : {memory} to {element}")
    shape = sizes(w.extent, 2)
    w.store(w.value(f"tensor.splat {'%s' if memory == element else '%t'} : {tensor(shape, element)}", shape, element))


@kernel("tensor.extract", ALL)
def _extract_element(w: Writer, element: str) -> None:
    """An element of the first row, which is in memory also if the tile is ragged."""
    (x,) = load_tiles(w, element, 1)
    w.line("%row = arith.constant 0 : index")
    w.line(f"%column = arith.constant {x.shape[1] // 2} : index")
    w.line(f"%s = tensor.extract {x}[%row, %column] : {x.type}")
    w.store(w.value(f"tensor.splat %s : {x.type}", x.shape, element))


@kernel("triton_xla.mask", ALL)
def _mask(w: Writer, element: str) -> None:
    (x,) = load_tiles(w, element, 1)
    w.line("%n = arith.constant 3 : index")
    number = "true" if element == "i1" else "9.0" if is_float(element) else "3"
    w.line(f"%fill = arith.constant {number}{'' if element == 'i1' else f' : {element}'}")
    rows, columns = x.shape
    w.store(w.value(f"triton_xla.mask {x} [%n, {columns // 2}], %fill : {x.type}", (rows, columns), element))
