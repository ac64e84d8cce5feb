"""A small LLaMA: RMS norm, rotary embedding, attention, SwiGLU and cross entropy, of torch's operators or of the kit's."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention, silu

VOCABULARY, WIDTH, HEADS, LENGTH, HIDDEN = 17, 16, 2, 6, 24


OPERATORS = (("normalization", "rms_norm"), ("rope", "rope"), ("attention", "flash_attention"), ("gated", "swiglu"), ("cross_entropy", "cross_entropy"))


class Stock:
    """The five operators in torch's own terms."""

    @staticmethod
    def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight

    @staticmethod
    def rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return x * cos[:, None] + torch.cat((-b, a), -1) * sin[:, None]

    @staticmethod
    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=True)

    @staticmethod
    def swiglu(x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return silu(a) * b

    @staticmethod
    def cross_entropy(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return cross_entropy(x, target.long(), reduction="none")


class Kit:
    """The same five, by the kit's operators (`torch.ops.<namespace>`)."""

    def __init__(self, ops: Any) -> None:
        self.ops = ops

    def rms_norm(self, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        return self.ops.rms_norm(x, weight, eps)[0]

    def rope(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        return self.ops.rope(x, cos, sin)

    def attention(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return self.ops.flash_attention(q, k, v, 0.0, True)[0]

    def swiglu(self, x: torch.Tensor) -> torch.Tensor:
        return self.ops.swiglu(x)

    def cross_entropy(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.ops.cross_entropy(x, target)[0]


class Llama(torch.nn.Module):
    """One block between an embedding and the loss."""

    def __init__(self, kit: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.kit = kit
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.norms = torch.nn.ParameterList([torch.nn.Parameter(torch.ones(WIDTH)) for _ in range(3)])
        self.qkv, self.out = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False), torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = torch.nn.Linear(WIDTH, 2 * HIDDEN, bias=False), torch.nn.Linear(HIDDEN, WIDTH, bias=False)
        self.head = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        size = WIDTH // HEADS
        angle = torch.outer(torch.arange(LENGTH), 10000.0 ** (-torch.arange(0, size, 2) / size)).repeat(1, 2)
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())

    def norm(self, x: torch.Tensor, index: int) -> torch.Tensor:
        return self.kit.rms_norm(x, self.norms[index], 1e-6)

    def forward(self, tokens: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        batch = x.shape[0]
        q, k, v = (part.reshape(batch, LENGTH, HEADS, -1) for part in self.qkv(self.norm(x, 0)).chunk(3, -1))
        q, k = self.kit.rope(q, self.cos, self.sin), self.kit.rope(k, self.cos, self.sin)
        attended = self.kit.attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        x = x + self.out(attended.transpose(1, 2).reshape(batch, LENGTH, WIDTH))
        x = x + self.down(self.kit.swiglu(self.up(self.norm(x, 1))))
        logits = self.head(self.norm(x, 2)).reshape(-1, VOCABULARY)
        return self.kit.cross_entropy(logits, target.reshape(-1)).mean()


def losses(kit: Any, device: str, steps: int = 8) -> list[float]:
    """The loss before each of some AdamW steps on made-up text."""
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(VOCABULARY, (4, LENGTH + 1), generator=generator)
    given, target = tokens[:, :-1].to(device), tokens[:, 1:].to(device)
    model = Llama(kit).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(given, target)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
