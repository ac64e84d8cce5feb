"""What flash_attention means, in double precision: out = softmax(scale * q k^T) v, lse = log sum exp(scale * q k^T); causal: query i sees keys 0 to i."""

import torch


def golden(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, ...]:
    """The results for float64 tensors."""
    group = q.shape[1] // max(k.shape[1], 1)
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ k.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    if k.shape[2] == 0:
        return torch.zeros_like(q), torch.full_like(q[..., 0], -torch.inf)
    peak = scores.amax(-1, keepdim=True).clamp_min(torch.finfo(q.dtype).min)
    weights = torch.exp(scores - peak)
    total = weights.sum(-1, keepdim=True)
    return weights / total @ v, (peak + torch.log(total)).squeeze(-1)


def flash_attention_backward(
    grad_out: torch.Tensor, grad_lse: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, lse: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, ...]:
    """The results for float64 tensors."""
    group = q.shape[1] // max(k.shape[1], 1)
    keys, values = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    factor = scale or q.shape[-1] ** -0.5
    p = torch.exp(q @ keys.mT * factor - lse[..., None])
    s = p * (grad_out @ values.mT - (out * grad_out).sum(-1, keepdim=True) + grad_lse[..., None])
    if causal:
        hidden = torch.ones(p.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        p, s = p.masked_fill(hidden, 0), s.masked_fill(hidden, 0)
    groups = (*k.shape[:2], group, *k.shape[2:])
    grad_k, grad_v = s.mT @ q * factor, p.mT @ grad_out
    return s @ keys * factor, grad_k.reshape(groups).sum(2), grad_v.reshape(groups).sum(2)


def flash_attention_backward_saved(
    grad_out: torch.Tensor, grad_lse: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, lse: torch.Tensor, scale: float, causal: bool
) -> tuple[torch.Tensor, ...]:
    """The inputs that the forward operator saved (None here), from the others: what tests call the operator with."""
    group = q.shape[1] // max(k.shape[1], 1)
    keys, values = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = q @ keys.mT * (scale or q.shape[-1] ** -0.5)
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    if k.shape[2] == 0:
        return torch.zeros_like(q), torch.full_like(q[..., 0], -torch.inf)
    total = scores.logsumexp(-1)
    return torch.exp(scores - total[..., None]) @ values, total
