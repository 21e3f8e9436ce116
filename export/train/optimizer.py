"""Muon for the matrices of the blocks, AdamW for everything else, on float32 master weights.

Muon orthogonalises the momentum of a matrix, so that a step moves every direction of it equally; measured here against
AdamW alone from the same start it needs fewer tokens for the same loss, at about a tenth more time a step.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import torch
from torch import Tensor, nn

_COEFFICIENTS: Final = (3.4445, -4.7750, 2.0315)  # quintic Newton-Schulz with the steepest slope at zero
_ITERATIONS: Final = 5


def orthogonalised(matrix: Tensor) -> Tensor:
    """The nearest matrix with all singular values near one, by Newton-Schulz; leading axes are a batch."""
    a, b, c = _COEFFICIENTS
    tall = matrix.shape[-2] > matrix.shape[-1]
    x = matrix.transpose(-1, -2) if tall else matrix
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.transpose(-1, -2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    result: Tensor = x.transpose(-1, -2) if tall else x
    return result


class MixedOptimizer:
    """Steps a model of any floating type through its float32 masters."""

    def __init__(
        self, model: nn.Module, *, muon: bool, momentum: float = 0.95, weight_decay: float = 0.02, clip: float = 1.0
    ) -> None:
        """Copy the masters off the model, whose weights must be float32 at this moment."""
        self.clip = clip
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.masters = {name: value.detach().clone() for name, value in model.named_parameters()}
        self.matrices = [n for n, p in self.masters.items() if muon and n.startswith("blocks.") and p.dim() == 2]
        self.velocity = {name: torch.zeros_like(self.masters[name]) for name in self.matrices}
        others = {name: value for name, value in self.masters.items() if name not in self.velocity}
        self.adam = torch.optim.AdamW(
            [
                {"params": [p for p in others.values() if p.dim() > 1], "weight_decay": weight_decay},
                {"params": [p for p in others.values() if p.dim() <= 1], "weight_decay": 0.0},
            ],
            lr=0.0,
            betas=(0.9, 0.98),
            fused=True,
        )

    def step(self, model: nn.Module, rate: float) -> None:
        """Apply the gradients that the model holds, clear them, and copy the masters back into the model."""
        parameters = dict(model.named_parameters())
        for name, master in self.masters.items():
            gradient = parameters[name].grad
            if gradient is None:
                raise ValueError(f"no gradient for {name}")
            master.grad = gradient.float()
            parameters[name].grad = None
        torch.nn.utils.clip_grad_norm_(list(self.masters.values()), self.clip)
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        with torch.no_grad():
            self._step_matrices(rate)
            for name, master in self.masters.items():
                master.grad = None
                parameters[name].copy_(master)

    def _step_matrices(self, rate: float) -> None:
        for name in self.matrices:
            master, velocity = self.masters[name], self.velocity[name]
            gradient = master.grad
            assert gradient is not None
            velocity.lerp_(gradient, 1 - self.momentum)
            look_ahead = gradient.lerp(velocity, self.momentum)
            parts = _square_parts(look_ahead)
            update = orthogonalised(parts).reshape(master.shape)
            # 0.2 * sqrt(the longer side) gives the step the size that AdamW's would have, so both share one rate.
            scale = 0.2 * max(parts.shape[-2:]) ** 0.5
            master.mul_(1 - rate * self.weight_decay).add_(update, alpha=-rate * scale)

    def state(self) -> dict[str, Any]:
        """Everything needed to go on."""
        return {"masters": self.masters, "velocity": self.velocity, "adam": self.adam.state_dict()}

    def restore(self, state: Mapping[str, Any], model: nn.Module) -> None:
        """Take up a state() again, into the model too."""
        with torch.no_grad():
            for mine, theirs in ((self.masters, state["masters"]), (self.velocity, state["velocity"])):
                _copy(mine, theirs)
            _copy(dict(model.named_parameters()), state["masters"])
        self.adam.load_state_dict(state["adam"])


def _copy(into: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, tensor in into.items():
        tensor.copy_(values[name])


def _square_parts(matrix: Tensor) -> Tensor:
    """Keys and values are stacked in one matrix of two squares; orthogonalise each by itself."""
    rows, columns = matrix.shape
    return matrix.view(2, columns, columns) if rows == 2 * columns else matrix


def parameter_count(parameters: Iterable[Tensor]) -> int:
    """How many numbers the tensors hold together."""
    return sum(parameter.numel() for parameter in parameters)
