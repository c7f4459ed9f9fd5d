# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A gated MLP block in one kernel: `(silu(x @ gate) * (x @ up)) @ down`. A second kernel computes its gradients, so that
torch can train it: `python mlp.py torch`."""

import sys

import numpy as np
import smalti
import smalti.language as sl


@smalti.kernel(grid=lambda x, bm: sl.cdiv(x.shape[0], bm))
def mlp(
    x: sl.Array,
    gate: sl.Array,
    up: sl.Array,
    down: sl.Array,
    y: sl.Array,
    size: smalti.constexpr,
    bm: smalti.constexpr = 32,
    bh: smalti.constexpr = 32,
):
    i = sl.tile_id() * bm
    rows = x[i : i + bm, 0:size]
    acc = sl.zeros((bm, size))
    for h in range(0, gate.shape[1], bh):
        g = rows @ gate[0:size, h : h + bh]
        hidden = g * sl.sigmoid(g) * (rows @ up[0:size, h : h + bh])
        acc = sl.dot(hidden.to(x.dtype), down[h : h + bh, 0:size], acc)
    y[i : i + bm, 0:size] = acc


@smalti.kernel(grid=lambda x, gate, bm, bh: (sl.cdiv(x.shape[0], bm), sl.cdiv(gate.shape[1], bh)))
def mlp_gradients(
    x: sl.Array,
    gate: sl.Array,
    up: sl.Array,
    down: sl.Array,
    dy: sl.Array,
    hidden: sl.Array,
    dgate: sl.Array,
    dup: sl.Array,
    size: smalti.constexpr,
    bm: smalti.constexpr = 32,
    bh: smalti.constexpr = 32,
):
    """The hidden values again, and the gradients of `x @ gate` and `x @ up`."""
    i, h = sl.tile_id(0) * bm, sl.tile_id(1) * bh
    rows = x[i : i + bm, 0:size]
    g, u = rows @ gate[0:size, h : h + bh], rows @ up[0:size, h : h + bh]
    dh = dy[i : i + bm, 0:size].to(x.dtype) @ down[h : h + bh, 0:size].T
    s = sl.sigmoid(g)
    hidden[i : i + bm, h : h + bh] = g * s * u
    dgate[i : i + bm, h : h + bh] = dh * u * s * (1 + g * (1 - s))
    dup[i : i + bm, h : h + bh] = dh * g * s


def reference(x, gate, up, down):
    x, gate, up, down = (t.astype(np.float64) for t in (x, gate, up, down))
    g = x @ gate
    return (g / (1 + np.exp(-g)) * (x @ up)) @ down


def reference_gradients(x, gate, up, down, dy):
    x, gate, up, down, dy = (t.astype(np.float64) for t in (x, gate, up, down, dy))
    g, u, dh = x @ gate, x @ up, dy @ down.T
    s = 1 / (1 + np.exp(-g))
    return g * s * u, dh * u * s * (1 + g * (1 - s)), dh * g * s


def main(target=None):
    if target == "torch":
        train()
        return
    rng = np.random.default_rng(0)
    x, gate, up, down, dy = (
        (rng.standard_normal(s) * 0.3).astype(np.float16) for s in ((50, 64), (64, 96), (64, 96), (96, 64), (50, 64))
    )
    y = np.full((50, 64), np.nan, np.float32)
    mlp.on(target)(x, gate, up, down, y, size=64)
    np.testing.assert_allclose(y, reference(x, gate, up, down), rtol=5e-3, atol=2e-2)
    found = [np.full((50, 96), np.nan, np.float32) for _ in range(3)]
    mlp_gradients.on(target)(x, gate, up, down, dy, *found, size=64)
    for one, wanted in zip(found, reference_gradients(x, gate, up, down, dy), strict=True):
        np.testing.assert_allclose(one, wanted, rtol=5e-3, atol=2e-2)


def operator():
    """The block as an operator of torch."""

    def hidden_like(x, gate):
        return x.new_empty(x.shape[0], gate.shape[1])

    size = {"size": lambda x: x.shape[1]}
    outputs = {"hidden": hidden_like, "dgate": hidden_like, "dup": hidden_like}
    gradients = smalti.torch.custom_op("smalti_examples::mlp_gradients", mlp_gradients, outputs=outputs, constants=size)

    def backward(grad_y, x, gate, up, down):
        hidden, dgate, dup = gradients(x, gate, up, down, grad_y)
        return dgate @ gate.T + dup @ up.T, x.T @ dgate, x.T @ dup, hidden.T @ grad_y

    return smalti.torch.custom_op("smalti_examples::mlp", mlp, outputs={"y": "x"}, constants=size, backward=backward)


def train():
    """Fits the block to another one, and compares the first gradients with those of torch."""
    import torch

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    block = operator()
    shapes = ((64, 96), (64, 96), (96, 64))
    teacher = [0.2 * torch.randn(s, device=device) for s in shapes]
    weights = [torch.nn.Parameter(0.2 * torch.randn(s, device=device)) for s in shapes]
    x = torch.randn(200, 64, device=device)

    def plain(x, gate, up, down):
        return (torch.nn.functional.silu(x @ gate) * (x @ up)) @ down

    wanted = plain(x, *teacher)

    def loss(function):
        return torch.nn.functional.mse_loss(function(x, *weights), wanted)

    for one, other in zip(
        torch.autograd.grad(loss(block), weights), torch.autograd.grad(loss(plain), weights), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=5e-3, atol=5e-3)
    optimizer = torch.optim.Adam(weights, lr=0.01)
    losses = []
    for _ in range(200):
        optimizer.zero_grad()
        current = loss(block)
        current.backward()
        optimizer.step()
        losses.append(current.item())
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    assert losses[-1] < 0.2 * losses[0]


if __name__ == "__main__":
    main(*sys.argv[1:])
