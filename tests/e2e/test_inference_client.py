"""``huggingface_hub.InferenceClient``, unchanged, against the local server."""

from __future__ import annotations

import pytest
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError

from tests.support.events import TEXT

MANY = "[MASK]天天气很[MASK]。"


@pytest.fixture(params=["", "/", "/hf/fill-mask", "/models/google-bert/bert-base-chinese"])
def client(request: pytest.FixtureRequest, server: str) -> InferenceClient:
    """A client of each address that the task is answered at."""
    return InferenceClient(model=server + request.param)


def test_one_mask_gives_fillings(client: InferenceClient) -> None:
    """The client reads our answer into its own objects: ranked, spliced, and without spaces."""
    fillings = client.fill_mask(TEXT)

    assert len(fillings) == 5
    assert [f.score for f in fillings] == sorted((f.score for f in fillings), reverse=True)
    assert all(f.sequence == TEXT.replace("[MASK]", f.token_str) for f in fillings)
    assert all(isinstance(f.token, int) for f in fillings)


def test_top_k_and_targets_reach_the_service(client: InferenceClient) -> None:
    """The client's own parameters do what they say."""
    assert len(client.fill_mask(TEXT, top_k=3)) == 3
    assert {f.token_str for f in client.fill_mask(TEXT, targets=["好", "冷"])} == {"好", "冷"}
    assert len(client.fill_mask(TEXT, targets=["好", "冷"], top_k=1)) == 1


def test_several_masks_give_a_list_for_each(client: InferenceClient) -> None:
    """The task answers several masks with one list each, which the client passes on."""
    lists = client.fill_mask(MANY, top_k=2)

    assert [len(fillings) for fillings in lists] == [2, 2]


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ("没有", {}, "The text has no blank. Write [MASK]"),
        ("很[MAKS]", {}, "Write it as [MASK]"),
        (TEXT, {"top_k": 0}, "top_k must be a whole number"),
        (TEXT, {"targets": []}, "targets must be a list"),
    ],
)
def test_error_is_readable(text: str, options: dict[str, object], told: str, client: InferenceClient) -> None:
    """Our message stands in the exception, beside the status."""
    with pytest.raises(HfHubHTTPError, match=r"422[\s\S]*") as caught:
        client.fill_mask(text, **options)  # type: ignore[arg-type]  # options of several types

    assert told in str(caught.value)
