# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles with a number of elements that few threads divide, which GPUs pad (PadTiles.cpp).

Each kernel reads arrays that continue past the windows, so that an undefined element would change a result.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
import smalti
import smalti.language as sl
from smalti.check import check
from smalti.compiler import entry

TARGETS = ("emu:sm_80", "emu:gfx942", "emu:gfx1201", "sim:sm_90a")

SUM = "^bb0(%l: f32, %r: f32):\n %c = arith.addf %l, %r : f32\n triton_xla.yield %c : f32"
# The region is not one op, so no value is neutral.
LARGER = """^bb0(%l: f32, %r: f32):
  %p = arith.cmpf ogt, %l, %r : f32
  %c = arith.select %p, %l, %r : f32
  triton_xla.yield %c : f32"""

# The arguments after `%x: memref<60x90xf32>`, and the body. `%t` is the window of 37 x 45 elements at (3, 5).
KERNELS = {
    "element-wise": (
        "%y: memref<60x90xf32>",
        """%u = arith.mulf %t, %t : T
        %v = math.exp %t : T
        %w = arith.addf %u, %v : T
        triton_xla.insert %w into %y[%three, %five] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
    "insert at an edge": (
        "%y: memref<60x90xf32>",
        "triton_xla.insert %t into %y[%forty, %sixty] [37, 45] [1, 1] : T into memref<60x90xf32>",
    ),
    "insert before the start": (
        "%y: memref<60x90xf32>",
        "triton_xla.insert %t into %y[%minus, %minus] [37, 45] [1, 1] : T into memref<60x90xf32>",
    ),
    "offset near 2^63": (
        "%y: memref<60x90xf32>",
        """%e = arith.constant 9223372036854775800 : index
        %z = arith.constant dense<3.0> : tensor<32xf32>
        triton_xla.insert %t into %y[%e, %five] [37, 45] [1, 1] : T into memref<60x90xf32>
        triton_xla.insert %z into %y[%three, %e] [1, 32] [1, 1] : tensor<32xf32> into memref<60x90xf32>""",
    ),
    "strided": (
        "%y: memref<90x100xf32>",
        """%s = triton_xla.extract %x[%three, %five] [27, 23] [2, 3] fill 7.0 : f32 : memref<60x90xf32> to tensor<27x23xf32>
        triton_xla.insert %s into %y[%three, %five] [27, 23] [3, 4] : tensor<27x23xf32> into memref<90x100xf32>""",
    ),
    "dropped dimension": (
        "%y: memref<60x90xf32>",
        """%s = triton_xla.extract %x[%forty, %five] [1, 77] [1, 1] : memref<60x90xf32> to tensor<77xf32>
        triton_xla.insert %s into %y[%three, %minus] [1, 77] [1, 1] : tensor<77xf32> into memref<60x90xf32>""",
    ),
    "reshape of one element": (
        "%y: memref<45xf32>",
        f"""%s = triton_xla.reduce %t dims [0, 1] init %low : (T, f32) -> tensor<f32> {{ {LARGER} }}
        %p = tensor.splat %one : tensor<f32>
        %a = arith.addf %s, %p : tensor<f32>
        %r = triton_xla.reshape %a : tensor<f32> -> tensor<1xf32>
        %b = triton_xla.broadcast %r dims [0] : tensor<1xf32> -> tensor<45xf32>
        triton_xla.insert %b into %y[0] [45] [1] : tensor<45xf32> into memref<45xf32>""",
    ),
    "sum": (
        "%y: memref<37xf32>",
        f"""%s = triton_xla.reduce %t dims [1] init %one : (T, f32) -> tensor<37xf32> {{ {SUM} }}
        triton_xla.insert %s into %y[0] [37] [1] : tensor<37xf32> into memref<37xf32>""",
    ),
    "sum of negative zeros": (
        "%y: memref<45xf32>",
        f"""%n = arith.constant dense<-0.0> : T
        %m = arith.constant -0.0 : f32
        %z = arith.mulf %n, %n : T
        %k = arith.negf %z : T
        %s = triton_xla.reduce %k dims [0] init %m : (T, f32) -> tensor<45xf32> {{ {SUM} }}
        triton_xla.insert %s into %y[0] [45] [1] : tensor<45xf32> into memref<45xf32>""",
    ),
    "maximum by a select": (
        "%y: memref<1xf32>",
        f"""%s = triton_xla.reduce %t dims [0, 1] init %low : (T, f32) -> tensor<f32> {{ {LARGER} }}
        %v = tensor.extract %s[] : tensor<f32>
        memref.store %v, %y[%zero] : memref<1xf32>""",
    ),
    "two operands": (
        "%y: memref<37xf32>, %n: memref<37xi32>",
        """%i = triton_xla.iota dim 1 : tensor<37x45xi32>
        %s, %j = triton_xla.reduce %t, %i dims [1] init %low, %none : (T, tensor<37x45xi32>, f32, i32)
            -> (tensor<37xf32>, tensor<37xi32>) {
        ^bb0(%l: f32, %li: i32, %r: f32, %ri: i32):
          %p = arith.cmpf ogt, %l, %r : f32
          %c = arith.select %p, %l, %r : f32
          %k = arith.select %p, %li, %ri : i32
          triton_xla.yield %c, %k : f32, i32
        }
        triton_xla.insert %s into %y[0] [37] [1] : tensor<37xf32> into memref<37xf32>
        triton_xla.insert %j into %n[0] [37] [1] : tensor<37xi32> into memref<37xi32>""",
    ),
    "scan": (
        "%y: memref<60x90xf32>",
        f"""%s = triton_xla.scan %t dim 0 init %one : (T, f32) -> T {{ {SUM} }}
        triton_xla.insert %s into %y[0, 0] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
    "reverse scan": (
        "%y: memref<60x90xf32>",
        f"""%s = triton_xla.scan %t dim 1 init %one exclusive reverse : (T, f32) -> T {{ {SUM} }}
        triton_xla.insert %s into %y[0, 0] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
    "reverse scan of selects": (
        "%y: memref<60x90xf32>",
        f"""%s = triton_xla.scan %t dim 1 init %low exclusive reverse : (T, f32) -> T {{ {LARGER} }}
        triton_xla.insert %s into %y[0, 0] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
    "dot": (
        "%y: memref<37x27xf32>",
        """%s = triton_xla.extract %x[%five, %three] [45, 27] [1, 1] : memref<60x90xf32> to tensor<45x27xf32>
        %z = arith.constant dense<1.0> : tensor<37x27xf32>
        %d = triton_xla.dot %t, %s, %z : T, tensor<45x27xf32> -> tensor<37x27xf32>
        triton_xla.insert %d into %y[0, 0] [37, 27] [1, 1] : tensor<37x27xf32> into memref<37x27xf32>""",
    ),
    "transposed dot": (
        "%y: memref<45x45xf32>",
        """%s = triton_xla.transpose %t [1, 0] : T -> tensor<45x37xf32>
        %z = arith.constant dense<0.0> : tensor<45x45xf32>
        %d = triton_xla.dot %s, %t, %z : tensor<45x37xf32>, T -> tensor<45x45xf32>
        triton_xla.insert %d into %y[0, 0] [45, 45] [1, 1] : tensor<45x45xf32> into memref<45x45xf32>""",
    ),
    "broadcast, transpose, iota": (
        "%y: memref<45x37xf32>",
        f"""%s = triton_xla.reduce %t dims [1] init %zf : (T, f32) -> tensor<37xf32> {{ {SUM} }}
        %b = triton_xla.broadcast %s dims [1] : tensor<37xf32> -> tensor<45x37xf32>
        %i = triton_xla.iota dim 0 : tensor<45x37xi32>
        %f = arith.sitofp %i : tensor<45x37xi32> to tensor<45x37xf32>
        %u = triton_xla.transpose %t [1, 0] : T -> tensor<45x37xf32>
        %v = arith.addf %b, %f : tensor<45x37xf32>
        %w = arith.addf %u, %v : tensor<45x37xf32>
        triton_xla.insert %w into %y[0, 0] [45, 37] [1, 1] : tensor<45x37xf32> into memref<45x37xf32>""",
    ),
    "iota of i8": (
        "%y: memref<127xi8>",
        """%i = triton_xla.iota dim 0 : tensor<127xi8>
        triton_xla.insert %i into %y[0] [127] [1] : tensor<127xi8> into memref<127xi8>""",
    ),
    "reshape": (
        "%y: memref<1665xf32>",
        """%s = triton_xla.reshape %t : T -> tensor<1665xf32>
        triton_xla.insert %s into %y[0] [1665] [1] : tensor<1665xf32> into memref<1665xf32>""",
    ),
    "concat and slice": (
        "%y: memref<60x90xf32>",
        """%s = triton_xla.concat %t, %t dim 0 : (T, T) -> tensor<74x45xf32>
        %u = triton_xla.slice %s [9, 2] [37, 21] [1, 2] : tensor<74x45xf32> -> tensor<37x21xf32>
        %v = triton_xla.slice %t [0, 3] [37, 8] [1, 5] : T -> tensor<37x8xf32>
        triton_xla.insert %u into %y[0, 0] [37, 21] [1, 1] : tensor<37x21xf32> into memref<60x90xf32>
        triton_xla.insert %v into %y[0, 40] [37, 8] [1, 1] : tensor<37x8xf32> into memref<60x90xf32>""",
    ),
    "constant of several values": (
        "%y: memref<5x7xi32>",
        """%k = arith.constant dense<[[1, 2, 3, 4, 5, 6, 7], [8, 9, 1, 2, 3, 4, 5], [6, 7, 8, 9, 1, 2, 3],
            [4, 5, 6, 7, 8, 9, 1], [2, 3, 4, 5, 6, 7, 8]]> : tensor<5x7xi32>
        triton_xla.insert %k into %y[0, 0] [5, 7] [1, 1] : tensor<5x7xi32> into memref<5x7xi32>""",
    ),
    "gather in a tile": (
        "%y: memref<60x90xf32>, %n: memref<37x45xi32>",
        """%i = triton_xla.extract %n[0, 0] [37, 45] [1, 1] : memref<37x45xi32> to tensor<37x45xi32>
        %k = arith.constant dense<6> : tensor<37x45xi32>
        %j = arith.muli %i, %k : tensor<37x45xi32>
        %g = triton_xla.gather_tile %t[%j] dim 1 fill 3.0 : f32 : T, tensor<37x45xi32> -> T
        triton_xla.insert %g into %y[0, 0] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
    "gather and scatter": (
        "%y: memref<60x90xf32>",
        """%i = triton_xla.iota dim 0 : tensor<37x45xi32>
        %j = triton_xla.iota dim 1 : tensor<37x45xi32>
        %g = triton_xla.gather %x[%j, %i] : memref<60x90xf32>, tensor<37x45xi32>, tensor<37x45xi32> -> T
        %p = arith.cmpf ogt, %g, %t : T
        triton_xla.scatter %g into %y[%i, %j] mask %p unique
            : T into memref<60x90xf32>, tensor<37x45xi32>, tensor<37x45xi32>""",
    ),
    "integer division": (
        "%y: memref<37x45xi32>, %n: memref<60x90xi32>",
        """%i = triton_xla.extract %n[0, 0] [37, 45] [1, 1] : memref<60x90xi32> to tensor<37x45xi32>
        %o = arith.constant dense<1> : tensor<37x45xi32>
        %j = arith.ori %i, %o : tensor<37x45xi32>
        %k = triton_xla.iota dim 1 : tensor<37x45xi32>
        %d = arith.divsi %k, %j : tensor<37x45xi32>
        %m = arith.remsi %k, %j : tensor<37x45xi32>
        %s = arith.addi %d, %m : tensor<37x45xi32>
        triton_xla.insert %s into %y[0, 0] [37, 45] [1, 1] : tensor<37x45xi32> into memref<37x45xi32>""",
    ),
    "maximum without infinities": (
        "%y: memref<37xf32>",
        """%a = math.absf %t : T
        %k = arith.negf %a : T
        %s = triton_xla.reduce %k dims [1] init %low : (T, f32) -> tensor<37xf32> {
        ^bb0(%l: f32, %r: f32):
          %c = arith.maximumf %l, %r fastmath<ninf> : f32
          triton_xla.yield %c : f32
        }
        triton_xla.insert %s into %y[0] [37] [1] : tensor<37xf32> into memref<37xf32>""",
    ),
    "atomic": (
        "%y: memref<90xi32>",
        """%i = triton_xla.iota dim 0 : tensor<37x45xi32>
        %j = triton_xla.iota dim 1 : tensor<37x45xi32>
        %k = arith.addi %i, %j : tensor<37x45xi32>
        %o = arith.constant dense<1> : tensor<37x45xi32>
        %old = triton_xla.atomic_rmw addi %o into %y[%k] : tensor<37x45xi32> into memref<90xi32>, tensor<37x45xi32>""",
    ),
    "assert": (
        "%y: memref<60x90xf32>",
        """%a = math.absf %t : T
        %z = arith.constant dense<-1.0> : T
        %p = arith.cmpf ogt, %a, %z : T
        %i = triton_xla.iota dim 0 : tensor<37x45xi32>
        %k = arith.constant dense<37> : tensor<37x45xi32>
        %q = arith.cmpi slt, %i, %k : tensor<37x45xi32>
        %b = arith.andi %p, %q : tensor<37x45xi1>
        triton_xla.assert %b, "in the window" : tensor<37x45xi1>
        triton_xla.insert %a into %y[0, 0] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
    "loops and branches": (
        "%y: memref<60x90xf32>",
        """%r = scf.for %k = %zero to %five step %one_index iter_args(%a = %t) -> (T) {
          %n = arith.addf %a, %t : T
          %big = arith.cmpi sge, %k, %three : index
          %s = scf.if %big -> (T) {
            %m = triton_xla.mask %n [%k, 45], %one : T
            scf.yield %m : T
          } else {
            scf.yield %n : T
          }
          scf.yield %s : T
        }
        triton_xla.insert %r into %y[0, 0] [37, 45] [1, 1] : T into memref<60x90xf32>""",
    ),
}

PRELUDE = """
  %zero = arith.constant 0 : index
  %one_index = arith.constant 1 : index
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %forty = arith.constant 40 : index
  %sixty = arith.constant 60 : index
  %minus = arith.constant -9 : index
  %zf = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant -1.0e30 : f32
  %none = arith.constant -1 : i32
  %t = triton_xla.extract %x[%three, %five] [37, 45] [1, 1] : memref<60x90xf32> to T
"""


def source_of(name: str, dynamic: bool = False) -> str:
    arguments, body = KERNELS[name]
    text = f"triton_xla.entry_func @k(%x: memref<60x90xf32>, {arguments}, %tile: index) tiles 1 {{{PRELUDE}{body}\n  triton_xla.return\n}}\n"
    text = re.sub(r"\bT\b", "tensor<37x45xf32>", text)
    return text.replace("memref<60x90xf32>", "memref<?x?xf32>") if dynamic else text


@pytest.mark.parametrize("name", KERNELS)
def test_results_ignore_undefined_elements(name: str) -> None:
    target = random.Random(name).choice(TARGETS)
    module = smalti.parse(source_of(name))
    check(smalti.compile(module, target=target), module).require()


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_results_on_every_target(name: str, target: str, dynamic: bool) -> None:
    module = smalti.parse(source_of(name, dynamic))
    given = {a.index: "60x90" for a in entry.describe(entry.find_entry(module)).arguments if a.shape == (None, None)}
    check(smalti.compile(module, target=target), module, given=given).require()


@pytest.mark.parametrize("target", TARGETS)
def test_blocks_with_disjoint_windows_do_not_race(target: str) -> None:
    """Each instance updates its own 45 elements in place. A read past the window would be a race."""
    module = smalti.parse("""
      triton_xla.entry_func @k(%x: memref<180xf32>, %tile: index) tiles 4 {
        %c45 = arith.constant 45 : index
        %first = arith.muli %tile, %c45 : index
        %t = triton_xla.extract %x[%first] [45] [1] : memref<180xf32> to tensor<45xf32>
        %u = arith.addf %t, %t : tensor<45xf32>
        triton_xla.insert %u into %x[%first] [45] [1] : tensor<45xf32> into memref<180xf32>
        triton_xla.return
      }
    """)
    options = {"sanitize": "thread"} if target.startswith("emu:") else {}
    check(smalti.compile(module, target=target, **options), module).require()


NUMPY_TARGETS = ("cpu", "emu:sm_80", "emu:gfx942")


@smalti.kernel
def sort(x: sl.Array, y: sl.Array, n: smalti.constexpr) -> None:
    y[0:n] = sl.sort([x[0:n]], 0)[0]


@smalti.kernel
def rotate(x: sl.Array, y: sl.Array, n: smalti.constexpr) -> None:
    t = x[0:n]
    y[0:n] = sl.concat([t[1:], t[:1]], 0)


@smalti.kernel
def join(x: sl.Array, y: sl.Array, n: smalti.constexpr) -> None:
    t = x[0:n, 0:3]
    y[0 : 2 * n + 3, 0:3] = sl.concat([t[n - 1 :], t[1:], t[: n // 2], t[n // 2 :], t[:1], t[3:5]], 0)


# The array continues past the window with numbers that are less than those in the window.
@pytest.mark.grid(6)
@pytest.mark.parametrize("n", [113, 117, 120, 121, 127, 128, 251, 255, 509, 1000, 1021, 1023])
@pytest.mark.parametrize("target", NUMPY_TARGETS)
def test_sorts_are_those_of_numpy(target: str, n: int) -> None:
    x = np.concatenate([np.random.default_rng(n).integers(0, n, n), np.full(1100, -1)]).astype(np.float32)
    y = np.full(n, np.nan, np.float32)
    sort.on(target)(x, y, n=n)
    np.testing.assert_array_equal(y, np.sort(x[:n]))


@pytest.mark.grid(6)
@pytest.mark.parametrize("n", [2, 113, 119, 120, 121, 127, 128, 129, 251, 255, 509, 1000, 1021, 1023])
@pytest.mark.parametrize("target", NUMPY_TARGETS)
def test_concats_are_those_of_numpy(target: str, n: int) -> None:
    x = np.arange(n + 100, dtype=np.float32)
    y = np.full(n, np.nan, np.float32)
    rotate.on(target)(x, y, n=n)
    np.testing.assert_array_equal(y, np.roll(x[:n], -1))


@pytest.mark.grid(3)
@pytest.mark.parametrize("n", [37, 113, 127, 128, 251])
@pytest.mark.parametrize("target", NUMPY_TARGETS)
def test_concats_of_many_parts_are_those_of_numpy(target: str, n: int) -> None:
    x = np.arange(3 * n + 300, dtype=np.float32).reshape(n + 100, 3)
    t = x[:n]
    wanted = np.concatenate([t[n - 1 :], t[1:], t[: n // 2], t[n // 2 :], t[:1], t[3:5]])
    y = np.full_like(wanted, np.nan)
    join.on(target)(x, y, n=n)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize("target", NUMPY_TARGETS)
def test_gathers_read_before_the_next_store(target: str) -> None:
    """LLVM 22 moves a masked load past stores if a select with the same mask uses the result (issue 215453)."""
    kernel = smalti.compile(
        """
triton_xla.entry_func @k(%x: memref<128xf32>, %y: memref<128xf32>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[64] [32] [1] : memref<128xf32> to tensor<32xf32>
  %i = triton_xla.iota dim 0 : tensor<128xi32>
  %size = arith.constant dense<32> : tensor<128xi32>
  %is_valid = arith.cmpi ult, %i, %size : tensor<128xi32>
  %a = triton_xla.gather_tile %t[%i] dim 0 : tensor<32xf32>, tensor<128xi32> -> tensor<128xf32>
  %u = triton_xla.extract %x[0] [128] [1] : memref<128xf32> to tensor<128xf32>
  %last = arith.constant dense<127> : tensor<128xi32>
  %j = arith.subi %last, %i : tensor<128xi32>
  %b = triton_xla.gather_tile %u[%j] dim 0 : tensor<128xf32>, tensor<128xi32> -> tensor<128xf32>
  %r = arith.select %is_valid, %a, %b : tensor<128xi1>, tensor<128xf32>
  triton_xla.insert %r into %y[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.return
}""",
        target=target,
    )
    x = np.arange(2, 130, dtype=np.float32)
    y = np.zeros_like(x)
    kernel(x, y)
    np.testing.assert_array_equal(y, np.concatenate([x[64:96], x[95::-1]]))


@pytest.mark.parametrize("target", NUMPY_TARGETS)
def test_gathers_of_an_array_read_before_the_next_store(target: str) -> None:
    """A select with the same mask uses the result of the gather, after a store to the array (issue 215453)."""
    kernel = smalti.compile(
        """
triton_xla.entry_func @k(%x: memref<128xf32>, %y: memref<128xf32>, %n: i32, %tile: index) tiles 1 {
  %i = triton_xla.iota dim 0 : tensor<128xi32>
  %size = tensor.splat %n : tensor<128xi32>
  %is_valid = arith.cmpi slt, %i, %size : tensor<128xi32>
  %t = triton_xla.gather %x[%i] mask %is_valid : memref<128xf32>, tensor<128xi32> -> tensor<128xf32>
  %minus = arith.constant dense<-1.0> : tensor<128xf32>
  triton_xla.insert %minus into %x[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  %five = arith.constant dense<5.0> : tensor<128xf32>
  %r = arith.select %is_valid, %t, %five : tensor<128xi1>, tensor<128xf32>
  triton_xla.insert %r into %y[0] [128] [1] : tensor<128xf32> into memref<128xf32>
  triton_xla.return
}""",
        target=target,
    )
    x = np.arange(128, dtype=np.float32)
    y = np.zeros_like(x)
    kernel(x, y, 60)
    np.testing.assert_array_equal(y, np.where(np.arange(128) < 60, np.arange(128), 5))
