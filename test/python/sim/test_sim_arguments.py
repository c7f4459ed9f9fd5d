# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of a simulated kernel: dynamic shapes, scalars, overlapping arrays, and invalid arguments."""

import numpy as np
import pytest
import smalti
from click.testing import CliRunner
from numpy.lib.stride_tricks import as_strided
from smalti import LaunchError
from smalti.cli import commands

THREADS = """
gpu.module @m {
  gpu.func @k(ARGUMENTS) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: GRID, 1, 1>} {
BODY
    gpu.return
  }
}
"""
BLOCK = THREADS.replace("64, 1, 1>, known", "128, 1, 1>, known")


def compiled(text, arguments, body, grid=1):
    text = text.replace("ARGUMENTS", arguments).replace("BODY", body).replace("GRID", str(grid))
    return smalti.compile(text, target="sim:sm_90a")


SCALE = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %rows = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %columns = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %size = arith.constant 64 : index
    scf.for %i = %t to %columns step %size {
      %v = memref.load %x[%b, %i] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %w = arith.mulf %v, %s : f32
      memref.store %w, %y[%b, %i] : memref<?x?xf32>
    }
"""
SCALED = "%x: memref<?x?xf32, strided<[?, ?], offset: ?>>, %s: f32, %y: memref<?x?xf32>"


@pytest.mark.parametrize("columns", [1, 63, 64, 130])
def test_arrays_give_the_sizes_of_a_thread_level_kernel(columns):
    kernel = compiled(THREADS, SCALED, SCALE, grid=3)
    whole = np.arange(columns * 6, dtype=np.float32).reshape(columns, 6)
    for x in (np.ascontiguousarray(whole.T[:3]), whole.T[:3], whole.T[::2], whole.T[2::-1]):
        y = np.zeros((3, columns), np.float32)
        kernel(x, 2.5, y)
        assert (y == x * np.float32(2.5)).all()


def test_accesses_are_checked_with_the_sizes_of_the_arrays():
    kernel = compiled(THREADS, SCALED, SCALE, grid=3)
    (finding,) = kernel.find(np.ones((2, 64), np.float32), 1, np.zeros((3, 64), np.float32))
    assert finding.kind == "out-of-bounds" and "index 2 of argument 0; dimension 0 has size 2" in finding.message
    (finding,) = kernel.find(np.ones((3, 70), np.float32), 1, np.zeros((3, 64), np.float32))
    assert "writes index 64 of argument 2; dimension 1 has size 64" in finding.message


METADATA = """
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %x
      : memref<?x16xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    memref.store %offset, %o[%c0] : memref<3xindex>
    memref.store %sizes#0, %o[%c1] : memref<3xindex>
    memref.store %strides#0, %o[%c2] : memref<3xindex>
"""


@pytest.mark.parametrize("text", [THREADS, BLOCK])
def test_metadata_of_memory_are_those_of_the_array(text):
    body = METADATA + ("" if text is THREADS else "    mosaic_gpu.async_commit_group\n")
    kernel = compiled(text, "%x: memref<?x16xf32, strided<[?, 1], offset: ?>>, %o: memref<3xindex>", body)
    found = np.zeros(3, np.int64)
    kernel(np.zeros((9, 40), np.float32)[2:, 8:24], found)
    assert found.tolist() == [0, 7, 40]


OF_A_BLOCK = """
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %rows = memref.dim %x, %c0 : memref<?x64xf32, strided<[?, 1]>>
    %s = mosaic_gpu.slice_smem 0 : memref<64x64xf32, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %rows step %c64 {
      mosaic_gpu.async_copy %x[%i, %c0] to %s
          : memref<?x64xf32, strided<[?, 1]>> to memref<64x64xf32, #gpu.address_space<workgroup>>
      mosaic_gpu.async_commit_group
      mosaic_gpu.async_wait_group 0
      gpu.barrier
      %v = mosaic_gpu.vector_load %s : memref<64x64xf32, #gpu.address_space<workgroup>> -> vector<64x64xf32>
      %factor = vector.broadcast %f : f32 to vector<64x64xf32>
      %w = arith.mulf %v, %factor : vector<64x64xf32>
      %left = arith.subi %rows, %i : index
      %part = memref.subview %y[%i, 0] [%left, 64] [1, 1]
          : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
      %box = memref.subview %part[0, 0] [64, 64] [1, 1]
          : memref<?x64xf32, strided<[64, 1], offset: ?>> to memref<64x64xf32, strided<[64, 1], offset: ?>>
      mosaic_gpu.vector_store %w, %box : vector<64x64xf32>, memref<64x64xf32, strided<[64, 1], offset: ?>>
      gpu.barrier
    }
"""


def test_arrays_give_the_sizes_of_a_block_level_kernel():
    kernel = compiled(BLOCK, "%x: memref<?x64xf32, strided<[?, 1]>>, %f: f32, %y: memref<?x64xf32>", OF_A_BLOCK)
    for rows in (64, 192):
        x, y = np.random.default_rng(rows).random((rows, 80), np.float32)[:, 8:72], np.zeros((rows, 64), np.float32)
        kernel(x, 3.0, y)
        assert (y == x * np.float32(3)).all()
    found = kernel.find(np.ones((100, 64), np.float32), 3.0, np.zeros((100, 64), np.float32))
    assert {finding.kind for finding in found} == {"out-of-bounds"}
    assert any("indices 0 to 63 in dimension 0, whose size is 36" in finding.message for finding in found)


def test_a_cast_to_a_size_is_a_promise():
    body = """
    %c0 = arith.constant 0 : index
    %k = memref.cast %x : memref<?xf32> to memref<64xf32>
    %t = gpu.thread_id x
    %v = memref.load %k[%t] : memref<64xf32>
    memref.store %v, %k[%t] : memref<64xf32>
"""
    for text in (THREADS, BLOCK):
        kernel = compiled(
            text,
            "%x: memref<?xf32>",
            body
            if text is THREADS
            else body.replace("%v = memref", "mosaic_gpu.async_commit_group\n    %v = memref").replace(
                "%k[%t]", "%k[%c0]"
            ),
        )
        assert not kernel.find(np.zeros(64, np.float32))
        (finding,) = kernel.find(np.zeros(65, np.float32))
        assert (
            finding.kind == "assertion"
            and "the result type of the cast states size 64 for dimension 0; the actual size is 65" in finding.message
        )


def test_random_arguments_need_the_sizes():
    kernel = compiled(THREADS, SCALED, SCALE)
    with pytest.raises(LaunchError, match=r"argument 0 \(memref<\?x\?xf32.*set its shape, such as --arg 0=64x64"):
        kernel.random_arguments()
    x, s, y = kernel.random_arguments(seed=1, shapes={0: (1, 30), 2: (1, 30)})
    kernel(x, s, y)
    assert x.shape == y.shape == (1, 30) and (y == x * s).all()
    for shapes, message in (
        ({0: (3,)}, r"the shape is 3; the kernel requires \?x\?"),
        ({1: (3,)}, "argument 1, which is not an array"),
    ):
        with pytest.raises(LaunchError, match=message):
            kernel.random_arguments(shapes=shapes)


# ---------------------------------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------------------------------

NUMBERS = """
    %a = arith.index_cast %i : index to i64
    %b = arith.extsi %n : i32 to i64
    %c = arith.extui %p : i1 to i64
    %d = arith.addi %a, %b : i64
    %e = arith.addi %d, %c : i64
    %z = arith.extf %h : f16 to f32
    %f = arith.mulf %z, %g : f32
    %c0 = arith.constant 0 : index
    memref.store %e, %o[%c0] : memref<1xi64>
    memref.store %f, %q[%c0] : memref<1xf32>
"""


@pytest.mark.parametrize("text", [THREADS, BLOCK])
def test_numbers_are_arguments(text):
    arguments = "%i: index, %n: i32, %p: i1, %h: f16, %g: f32, %o: memref<1xi64>, %q: memref<1xf32>"
    body = NUMBERS + ("" if text is THREADS else "    mosaic_gpu.async_commit_group\n")
    kernel = compiled(text, arguments, body)
    for i, n in ((5, -7), (np.int64(1 << 40), 2**32 - 1), (np.array(3), np.uint8(9))):
        o, q = np.zeros(1, np.int64), np.zeros(1, np.float32)
        kernel(i, n, True, 0.1, np.float64(1.3), o, q)
        signed = int(n) - (1 << 32 if int(n) >= 1 << 31 else 0)
        assert o[0] == int(i) + signed + 1
        assert q[0] == np.float32(np.float16(0.1)) * np.float32(1.3)
    for place, wrong, message in (
        (0, 1.5, r"argument 0 \(index\): an integer is required, not float"),
        (1, 1 << 32, r"argument 1 \(i32\): 4294967296 is out of range"),
        (3, "x", r"argument 3 \(f16\): a number is required, not str"),
        (4, np.zeros(2), r"argument 4 \(f32\): a number is required"),
        (1, None, r"argument 1 \(i32\): an integer is required"),
    ):
        given = [1, 1, 1, 1.0, 1.0, np.zeros(1, np.int64), np.zeros(1, np.float32)]
        given[place] = wrong
        with pytest.raises(LaunchError, match=message):
            kernel(*given)


# ---------------------------------------------------------------------------------------------------------------------
# Arrays that share memory
# ---------------------------------------------------------------------------------------------------------------------

SHIFT = """
    %t = gpu.thread_id x
    %v = memref.load %x[%t] : memref<64xf32>
    memref.store %v, %y[%t] : memref<64xf32>
"""
SHIFT_BLOCK = """
    %v = mosaic_gpu.vector_load %x : memref<64xf32> -> vector<64xf32>
    mosaic_gpu.vector_store %v, %y : vector<64xf32>, memref<64xf32>
"""


@pytest.mark.parametrize(("text", "body"), [(THREADS, SHIFT), (BLOCK, SHIFT_BLOCK)])
def test_races_between_arrays_that_share_memory_are_found(text, body):
    kernel = compiled(text, "%x: memref<64xf32>, %y: memref<64xf32>", body)
    whole = np.arange(128, dtype=np.float32)
    kernel(whole[:64], whole[64:])
    assert (whole[64:] == np.arange(64)).all()
    kernel(whole[:64], whole[:64])
    found = kernel.find(whole[:64], whole[1:65])
    assert {finding.kind for finding in found} == {"race"} and "of argument 0 and argument 1" in found[0].message
    # Between the elements of one there may be those of another.
    pairs = np.arange(128, dtype=np.float32).reshape(64, 2)
    kernel(pairs[:, 0], pairs[:, 1])
    assert (pairs[:, 1] == np.arange(0, 128, 2)).all()
    with pytest.raises(LaunchError, match=r"because it shares memory with argument 0"):
        kernel(whole[:64], whole[0:128:2])


def test_overlapping_arguments_are_written_once():
    body = """
    %t = gpu.thread_id x
    %c32 = arith.constant 32 : index
    %v = arith.index_cast %t : index to i32
    %low = arith.cmpi ult, %t, %c32 : index
    scf.if %low {
      memref.store %v, %x[%t] : memref<64xi32>
    } else {
      memref.store %v, %y[%t] : memref<64xi32>
    }
"""
    kernel = compiled(THREADS, "%x: memref<64xi32>, %y: memref<64xi32>", body)
    whole = np.full(96, -1, np.int32)
    kernel(whole[:64], whole[16:80])
    assert whole.tolist() == [*range(32), *[-1] * 16, *range(32, 64), *[-1] * 16]
    assert kernel.find(whole[:64], whole[:64]) == ()
    found = kernel.find(whole[32:], whole[16:80])
    assert {finding.kind for finding in found} == {"race"}


def test_arrays_that_are_only_read_may_overlap():
    kernel = compiled(THREADS, "%x: memref<64xf32>, %z: memref<64xf32>, %y: memref<64xf32>", SHIFT)
    whole = np.arange(128, dtype=np.float32)
    y = np.zeros(64, np.float32)
    kernel(whole[::2], whole[:64], y)
    assert (y == whole[::2]).all()


# ---------------------------------------------------------------------------------------------------------------------
# What is refused
# ---------------------------------------------------------------------------------------------------------------------


class _NoArray:
    def __array__(self, *_, **__):
        raise RuntimeError("the device is gone")


X, Y = np.zeros((4, 64), np.float32), np.zeros((4, 64), np.float32)
READ_ONLY = Y.copy()
READ_ONLY.flags.writeable = False
BAD = {
    "too few": ((X,), r"takes 2 arguments \(.*\); the call passes 1"),
    "rank": ((X[0], Y), r"argument 0 .*: the shape is 64; the kernel requires \?x64"),
    "shape": ((X[:, :63], Y), r"argument 0 .*: the shape is 4x63; the kernel requires \?x64"),
    "type": ((X.astype(np.float64), Y), "argument 0 .* the element type is float64; the kernel requires float32"),
    "bytes": ((X.astype(">f4"), Y), "argument 0 .* non-native byte order"),
    "objects": ((X.astype(object), Y), "argument 0 .* the element type is object; the kernel requires float32"),
    "read-only": (
        (X, READ_ONLY),
        "argument 1 .* the array is read-only, but the kernel writes it; pass a writable array",
    ),
    "a list": ((X, Y.tolist()), "argument 1 .* the kernel writes this argument; pass a numpy array instead of list"),
    "nothing": ((None, Y), "argument 0 "),
    "ragged": (([[1], [2, 3]], Y), "argument 0 .*: list is not an array"),
    "broken": ((_NoArray(), Y), "argument 0 .* is not an array: the device is gone"),
    "one element": (
        (X, as_strided(Y, strides=(0, 4))),
        r"argument 1 .* along dimension 0 share one address \(stride 0\)",
    ),
}
ROWS = """
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %v = memref.load %x[%c0, %t] : memref<?x64xf32, strided<[?, 1]>>
    memref.store %v, %y[%c0, %t] : memref<?x64xf32, strided<[?, 1]>>
"""


@pytest.mark.parametrize("name", BAD)
def test_arrays_that_do_not_fit_are_refused(name):
    kernel = compiled(THREADS, "%x: memref<?x64xf32, strided<[?, 1]>>, %y: memref<?x64xf32, strided<[?, 1]>>", ROWS)
    given, message = BAD[name]
    with pytest.raises(LaunchError, match=message):
        kernel(*given)


def test_strides_that_are_not_a_multiple_of_the_element_are_refused():
    kernel = compiled(THREADS, "%x: memref<?x64xf32, strided<[?, 1]>>, %y: memref<?x64xf32, strided<[?, 1]>>", ROWS)
    x = as_strided(np.zeros(2000, np.uint8)[:1040].view(np.float32), (4, 64), (258, 4))
    with pytest.raises(LaunchError, match=r"argument 0 .* stride of dimension 0 is 258 B"):
        kernel(x, Y.copy())


@pytest.mark.parametrize("text", [THREADS, BLOCK])
def test_arrays_of_nothing_and_of_one_element(text):
    body = """
    %v = memref.load %x[] : memref<f32>
    memref.store %v, %y[] : memref<f32>
""" + ("" if text is THREADS else "    mosaic_gpu.async_commit_group\n")
    kernel = compiled(text, "%x: memref<f32>, %y: memref<f32>, %z: memref<0x?xf32>, %w: memref<?xf32>", body)
    y, z = np.zeros((), np.float32), np.zeros((0, 5), np.float32)
    kernel(np.float32(3), y, z, np.zeros(0, np.float32))
    assert y == 3
    empty = compiled(
        text,
        "%x: memref<?xf32>",
        body.replace("[]", "[%c0]")
        .replace("memref<f32>", "memref<?xf32>")
        .replace("%y", "%x")
        .replace("%v = ", "%c0 = arith.constant 0 : index\n    %v = "),
    )
    found = empty.find(np.zeros(0, np.float32))
    assert {finding.kind for finding in found} == {"out-of-bounds"}


@pytest.mark.parametrize("text", [THREADS, BLOCK])
def test_grids_that_are_too_large_or_none(text):
    body = "    gpu.barrier\n" + ("" if text is THREADS else "    mosaic_gpu.async_commit_group\n")
    kernel = compiled(text, "%x: memref<f32>", body, grid=2**31 - 1)
    with pytest.raises(LaunchError, match="2147483647 blocks exceed the limit"):
        kernel(np.zeros((), np.float32))
    how = smalti.sim.Simulation(blocks=range(2**31 - 2, 2**31 - 1))
    assert kernel.find(np.zeros((), np.float32), simulation=how) == ()
    for grid in (0, -1):
        with pytest.raises(LaunchError, match=f"invalid grid size {grid} x 1 x 1"):
            compiled(text, "%x: memref<f32>", body, grid=grid)(np.zeros((), np.float32))


def test_arbitrary_arguments():
    """A call with a wrong argument of any kind names the argument and the error."""
    kernel = compiled(THREADS, "%x: memref<?x64xf32, strided<[?, 1]>>, %y: memref<?x64xf32, strided<[?, 1]>>", ROWS)
    number = compiled(THREADS, "%n: i32, %f: f32, %y: memref<1xi32>", "    gpu.barrier")
    odd = [None, 1, -1.5, "text", b"bytes", [], {}, (1, 2), range(3), object(), lambda: 0, np.float32(1), _NoArray()]
    odd += [np.zeros((4, 64), dtype) for dtype in ("i1", "u2", "i8", "c8", "M8[s]", "S3", "V4", "f2", "f4", "f8", "?")]
    odd += [np.zeros(shape, np.float32) for shape in ((), (0,), (0, 64), (64, 0), (1, 64), (1, 1, 64), (2**3, 64))]
    odd += [np.ma.zeros((4, 64), np.float32), np.zeros((2, 2))[0]]
    fine = 0
    for one in odd:
        for two in (np.zeros((4, 64), np.float32), one):
            for call in (
                lambda a, b: kernel.find(a, b),
                lambda a, b: number.find(a, 1.0, np.zeros(1, np.int32)),
                lambda a, b: number.find(1, a, np.zeros(1, np.int32)),
            ):
                try:
                    call(one, two)
                    fine += 1
                except smalti.SmaltiError as error:
                    assert "argument" in str(error)
    assert fine > 10


# ---------------------------------------------------------------------------------------------------------------------
# What the host computes, and the shell
# ---------------------------------------------------------------------------------------------------------------------

HOST = """
func.func @add_one(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %blocks = affine.apply affine_map<()[n] -> (n ceildiv 32)>()[%n]
  %d = gpu.alloc (%n) : memref<?xf32>
  gpu.memcpy %d, %x : memref<?xf32>, memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%nx = %c32, %ny = %c1, %nz = %c1) {
    %first = arith.muli %bx, %c32 : index
    %i = arith.addi %first, %tx : index
    %inside = arith.cmpi ult, %i, %n : index
    scf.if %inside {
      %v = memref.load %d[%i] : memref<?xf32>
      %one = arith.constant 1.0 : f32
      %w = arith.addf %v, %one : f32
      memref.store %w, %y[%i] : memref<?xf32>
    }
    gpu.terminator
  }
  return
}
"""


def test_the_host_computes_how_many_blocks_there_are():
    kernel = smalti.compile(HOST, target="sim:sm_90a")
    for size in (1, 32, 100):
        x, y = np.arange(size, dtype=np.float32), np.zeros(size, np.float32)
        kernel(x, y)
        assert (y == x + 1).all()
    with pytest.raises(LaunchError, match="invalid grid size 0 x 1 x 1"):
        kernel(np.zeros(0, np.float32), np.zeros(0, np.float32))
    unchecked = smalti.compile(HOST.replace("ult, %i, %n", "sge, %i, %c0"), target="sim:sm_90a")
    found = unchecked.find(np.zeros(100, np.float32), np.zeros(100, np.float32))
    assert {finding.kind for finding in found} == {"out-of-bounds"}


def test_the_shell_takes_shapes_and_numbers(tmp_path):
    file = tmp_path / "scale.mlir"
    text = THREADS.replace("ARGUMENTS", SCALED).replace("BODY", SCALE).replace("GRID", "2")
    file.write_text(text)

    def run(*words):
        out = CliRunner().invoke(commands.main, ["sim", str(file), "--target", "sm_90a", *words])
        return out.exit_code, out.output

    np.save(tmp_path / "x.npy", np.ones((2, 70), np.float32))
    out = str(tmp_path / "out.npz")
    code, said = run("--arg", f"0={tmp_path / 'x.npy'}", "--arg", "1=2.5", "--arg", "2=2x70", "--save", out)
    assert code == 0 and "nothing found" in said
    assert (np.load(out)["arg2"] == 2.5).all()
    code, said = run("--arg", "0=2x70")
    assert code != 0 and "argument 2 (memref<?x?xf32>): set its shape, such as --arg 2=64x64" in said
    code, said = run("--arg", "1=much", "--arg", "0=2x70", "--arg", "2=2x70")
    assert code != 0 and "argument 1 (f32): 'much' is not a number" in said


COLUMNS = """
triton_xla.entry_func @k(%x: memref<?x?xf32>, %y: memref<?x?xf32, strided<[1, ?]>>, %tile: index) tiles 1 {
  %t = triton_xla.extract %x[0, 0] [16, 32] [1, 1] : memref<?x?xf32> to tensor<16x32xf32>
  triton_xla.insert %t into %y[0, 0] [16, 32] [1, 1] : tensor<16x32xf32> into memref<?x?xf32, strided<[1, ?]>>
  triton_xla.return
}
"""


def test_sim_takes_the_arguments_of_a_kernel_with_dynamic_sizes(tmp_path):
    program, rows = tmp_path / "columns.mlir", np.arange(512, dtype=np.float32).reshape(16, 32)
    program.write_text(COLUMNS)
    np.save(tmp_path / "x.npy", rows)

    def run(*words):
        done = CliRunner().invoke(commands.main, ["sim", str(program), *words])
        return done.exit_code, f"{done.output}{done.exception}"

    given = ("--arg", f"0={tmp_path / 'x.npy'}", "--arg", "1=16x32")
    code, said = run(*given, "--save", str(tmp_path / "after.npz"))
    assert code == 0 and "nothing found" in said
    np.testing.assert_array_equal(np.load(tmp_path / "after.npz")["arg1"], rows)
    assert run(*given, "--level", "thread")[0] == 0
    assert run(*given, "--timeline", str(tmp_path / "times.json"))[0] == 0
    code, said = run(*given, "--mutants")
    assert code == 0 and "mutants killed" in said
    assert "such as --arg 1=64x64" in run("--arg", "0=16x32")[1]
    assert "argument 2 does not exist; @k takes 2 arguments" in run(*given, "--arg", "2=3")[1]
