"""The learning rate."""

import pytest

from export.train.schedule import Schedule


@pytest.mark.parametrize(
    ("step", "progress", "factor"), [(0, 0.0, 0.1), (9, 0.1, 1.0), (500, 0.5, 1.0), (900, 0.75, 0.5), (1000, 1.0, 0.0)]
)
def test_factor_warms_up_stays_and_decays(step: int, progress: float, factor: float) -> None:
    """Ten steps up, half of the run at the peak, the other half down to zero."""
    assert Schedule(warmup_steps=10, decay_share=0.5).factor(step, progress) == pytest.approx(factor)
