"""The network: BERT with post-layer-norm blocks, written for few FLOPs on a CPU.

Two things differ from a stock implementation, neither of which changes the function: the last block computes queries
and the feed-forward only at the masked positions (nothing reads the others), and the vocabulary head likewise. Dropout
is left out: the model sees its corpus a handful of times and underfits.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Sizes of a network."""

    vocab: int
    layers: int = 6
    hidden: int = 256
    heads: int = 4
    positions: int = 128


class Block(nn.Module):  # type: ignore[misc, unused-ignore]  # torch is not installed where the checks run
    """Self-attention and feed-forward, each followed by a residual sum and a layer norm."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden)
        self.key_value = nn.Linear(hidden, 2 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.attention_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x: Tensor, bias: Tensor, at: Tensor) -> Tensor:
        """Attend from the rows at (batch, queries, hidden) to all of x (batch, sequence, hidden)."""
        batch, sequence, hidden = x.shape
        width = hidden // self.heads
        query = self.query(at).view(batch, -1, self.heads, width).transpose(1, 2)
        key, value = self.key_value(x).view(batch, sequence, 2, self.heads, width).permute(2, 0, 3, 1, 4)
        weights = torch.softmax((query @ key.transpose(-1, -2)) * width**-0.5 + bias, -1)
        mixed = (weights @ value).transpose(1, 2).reshape(batch, -1, hidden)
        at = self.attention_norm(at + self.output(mixed))
        normed: Tensor = self.norm(at + self.down(gelu(self.up(at))))
        return normed


class MaskedModel(nn.Module):  # type: ignore[misc, unused-ignore]  # torch is not installed where the checks run
    """Encoder and masked-language-model head with tied embeddings."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        hidden = shape.hidden
        self.words = nn.Embedding(shape.vocab, hidden)
        self.positions = nn.Embedding(shape.positions, hidden)
        self.norm = nn.LayerNorm(hidden, eps=1e-12)
        self.blocks = nn.ModuleList(Block(hidden, shape.heads) for _ in range(shape.layers))
        self.transform = nn.Linear(hidden, hidden)
        self.transform_norm = nn.LayerNorm(hidden, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(shape.vocab))
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, ids: Tensor, real: Tensor, at: Tensor) -> Tensor:
        """Score the vocabulary at chosen positions.

        Args:
            ids: int64 (batch, sequence).
            real: bool (batch, sequence), false at padding.
            at: int64 (batch, queries), positions to score.

        Returns:
            float32 (batch, queries, vocab).
        """
        bias = torch.zeros(real.shape, dtype=self.words.weight.dtype).masked_fill_(~real, -1e4)[:, None, None, :]
        x = self.norm(self.words(ids) + self.positions.weight[: ids.shape[1]])
        *early, last = self.blocks
        for block in early:
            x = block(x, bias, x)
        chosen = torch.gather(x, 1, at[:, :, None].expand(-1, -1, x.shape[2]))
        x = last(x, bias, chosen)
        x = self.transform_norm(gelu(self.transform(x)))
        return linear(x, self.words.weight, self.bias).float()


def deepened(model: MaskedModel, layers: int) -> MaskedModel:
    """The same network with more blocks, each new one a copy of its lower neighbour with its outputs scaled down.

    The copies spread over the height. A post-norm block cannot be an exact identity; with small output matrices it
    comes close, and training goes on from nearly the same loss.
    """
    old = model.shape
    new = MaskedModel(
        Shape(vocab=old.vocab, layers=layers, hidden=old.hidden, heads=old.heads, positions=old.positions)
    )
    state = {name: value for name, value in model.state_dict().items() if not name.startswith("blocks.")}
    origin = [index * old.layers // layers for index in range(layers)]
    blocks = model.state_dict()
    for index, source in enumerate(origin):
        repeated = index > 0 and origin[index - 1] == source
        for name in model.blocks[0].state_dict():
            value = blocks[f"blocks.{source}.{name}"].clone()
            if repeated and name in ("output.weight", "output.bias", "down.weight", "down.bias"):
                value *= 0.1
            if repeated and name.endswith("norm.weight"):
                value = torch.ones_like(value)
            if repeated and name.endswith("norm.bias"):
                value = torch.zeros_like(value)
            state[f"blocks.{index}.{name}"] = value
    new.load_state_dict(state)
    return new
