"""The learning rate: up, level, down to zero, so that a run can be prolonged at any time before it goes down."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Factor of the peak rate."""

    warmup_steps: int = 100
    decay_share: float = 0.25  # the last part of the run, where most of the loss falls

    def factor(self, step: int, progress: float) -> float:
        """The factor at a step; progress is the share of the run that is done, by steps or by the clock."""
        warm = min(1.0, (step + 1) / self.warmup_steps)
        left = max(0.0, 1.0 - progress)
        return warm * min(1.0, left / self.decay_share)
