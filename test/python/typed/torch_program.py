# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An operator of torch, as a user defines it. `tools/dev lint` checks its types; torch is not installed for that."""

from __future__ import annotations

import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x: x.shape[0])
def softmax_kernel(x: sl.Array, y: sl.Array, block: smalti.constexpr = 128) -> None:
    row = sl.tile_id()
    t = x.at[row, 0:block].load(fill=-float("inf"))
    e = sl.exp(t - t.max())
    y[row, 0:block] = e / e.sum()


softmax = smalti.torch.custom_op(
    "typed::softmax",
    softmax_kernel,
    outputs={"y": lambda x: x.new_empty(x.shape)},
    constants={"block": lambda x: x.shape[1]},
    backward=lambda grad_y, y: y * (grad_y - (y * grad_y).sum(1, keepdim=True)),
)


@smalti.torch.custom_op("typed::scaled", outputs={"y": "x"})
@smalti.kernel(grid=lambda x, block: sl.cdiv(x.shape[0], block))
def scaled(x: sl.Array, y: sl.Array, factor: float, block: smalti.constexpr = 128) -> None:
    i = sl.tile_id() * block
    y[i : i + block] = x[i : i + block] * factor
