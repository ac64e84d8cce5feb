"""What dropout means, in double precision: y[i] = x[i] / (1 - p) where u[i] >= p, else 0; u[i] in [0, 1) depends on i, seed and offset only."""

import numpy as np
import torch


def philox(counters: np.ndarray, offset: int, seed: int) -> list[np.ndarray]:
    """Four random 32-bit words for each counter: Philox 4x32-10 of (counter, 0, low and high word of offset) under the key seed."""
    low = np.uint64(0xFFFFFFFF)
    word = np.uint64(32)
    zeros = np.zeros_like(counters)
    c = [counters, zeros, zeros + np.uint64(offset & 0xFFFFFFFF), zeros + np.uint64(offset >> 32 & 0xFFFFFFFF)]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        first, second = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(second >> word) ^ c[1] ^ np.uint64(key[0]), second & low, (first >> word) ^ c[3] ^ np.uint64(key[1]), first & low]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return c


def golden(x: torch.Tensor, p: float, seed: int, offset: int) -> torch.Tensor:
    """The result for a float64 tensor. Elements 1024 i + 256 k to 1024 i + 256 k + 255 use word k of the counters 256 i to 256 i + 255."""
    blocks = (x.numel() + 1023) // 1024
    words = philox(np.arange(256 * blocks, dtype=np.uint64), offset, seed)
    bits = np.stack([word.reshape(blocks, 256) for word in words], 1).reshape(-1)[: x.numel()] >> np.uint64(8)
    keep = torch.from_numpy(bits.astype(np.int64) >= round(p * 2**24)).reshape(x.shape)
    scale = 1 / (1 - p) if p < 1 else 0.0
    return torch.where(keep, x * scale, 0.0)


def dropout_backward(grad_y: torch.Tensor, p: float, seed: int, offset: int) -> torch.Tensor:
    """The result for a float64 tensor. Elements 1024 i + 256 k to 1024 i + 256 k + 255 use word k of the counters 256 i to 256 i + 255."""
    blocks = (grad_y.numel() + 1023) // 1024
    words = philox(np.arange(256 * blocks, dtype=np.uint64), offset, seed)
    bits = np.stack([word.reshape(blocks, 256) for word in words], 1).reshape(-1)[: grad_y.numel()] >> np.uint64(8)
    keep = torch.from_numpy(bits.astype(np.int64) >= round(p * 2**24)).reshape(grad_y.shape)
    scale = 1 / (1 - p) if p < 1 else 0.0
    return torch.where(keep, grad_y * scale, 0.0)
