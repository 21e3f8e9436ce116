"""A tiny network trained for real; skipped where torch is missing."""

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from export.train.average import averaged  # noqa: E402
from export.train.checkpoint import from_bert, load_bert, load_state, save_bert, to_bert  # noqa: E402
from export.train.mixture import SHARES  # noqa: E402
from export.train.model import MaskedModel, Shape, deepened  # noqa: E402
from export.train.optimizer import orthogonalised  # noqa: E402
from export.train.tokenizer import Tokenizer, vocabulary  # noqa: E402
from export.train.train import Options, run  # noqa: E402

TEXT = "今天天气真好。我们一起去公园看花！你觉得怎么样？"
SHAPE = Shape(vocab=120, layers=2, hidden=16, heads=2, positions=64)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus of one text, in every file that training reads."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for kind in ("poem", "famous", "news", "review", "everyday", "idiom"):
        (folder / f"train_{kind}.txt").write_text(f"{TEXT}\n" * 3, encoding="utf-8")
        (folder / f"dev_{kind}.txt").write_text(TEXT + "\n", encoding="utf-8")
    (folder / "idioms.tsv").write_text("天天看花\t9\n", encoding="utf-8")
    Tokenizer(vocabulary([TEXT], min_count=1)).save(folder / "vocab.txt")
    return folder


def options(corpus: Path, out: Path, steps: int) -> Options:
    """A run of a few steps of a network of a few thousand parameters."""
    return Options(
        corpus=corpus,
        out=out,
        vocabulary=corpus / "vocab.txt",
        steps=steps,
        layers=1,
        hidden=16,
        heads=2,
        batch_tokens=256,
        threads=1,
        peak=1e-2,
        report_steps=5,
    )


def test_a_run_is_deterministic_and_learns(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same seed and number of steps give the same weights; the loss falls."""
    assert set(SHARES) >= {"poem", "idiom"}
    for name in ("one", "two"):
        run(options(corpus, tmp_path / name, 10))
    one, two = (load_state(tmp_path / name / "state" / "run.pt") for name in ("one", "two"))
    assert all(
        torch.equal(value, two["optimizer"]["masters"][key]) for key, value in one["optimizer"]["masters"].items()
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("step") and "dev" in line]
    first, last = (float(line.split("poem loss ")[1].split()[0]) for line in lines[:2])
    assert last < first


def test_a_finished_run_is_resumed_where_it_stopped(corpus: Path, tmp_path: Path) -> None:
    """More steps asked for later go on from the state."""
    run(options(corpus, tmp_path / "run", 4))
    run(options(corpus, tmp_path / "run", 6))
    state = load_state(tmp_path / "run" / "state" / "run.pt")
    assert state["step"] == 6
    model, tokenizer = load_bert(tmp_path / "run" / "final")
    assert model.shape.vocab == len(tokenizer.entries)


def test_names_of_bert_and_back(tmp_path: Path) -> None:
    """Nothing is lost, and transformers computes the same where it is installed."""
    model = MaskedModel(SHAPE).eval()
    weights = from_bert(to_bert(model.state_dict(), SHAPE.layers), SHAPE.layers)
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items())
    transformers = pytest.importorskip("transformers")
    tokenizer = Tokenizer(vocabulary([TEXT], min_count=1) + [f"[unused{n}]" for n in range(SHAPE.vocab)])
    save_bert(model.state_dict(), SHAPE, Tokenizer(tokenizer.entries[: SHAPE.vocab]), tmp_path)
    theirs = transformers.BertForMaskedLM.from_pretrained(tmp_path).eval()
    ids = torch.tensor([[2, 30, 4, 40, 3, 0]])
    with torch.inference_mode():
        ours = model(ids, ids != 0, torch.tensor([[2, 1]]))
        stock = theirs(input_ids=ids, attention_mask=(ids != 0).long()).logits[:, [2, 1]]
    assert torch.allclose(ours, stock, atol=1e-5)


def test_a_deepened_network_starts_near_the_old_one() -> None:
    """Otherwise growing would throw the training away."""
    torch.manual_seed(0)
    model = MaskedModel(SHAPE).eval()
    deeper = deepened(model, 3).eval()
    assert deeper.shape.layers == 3
    ids = torch.tensor([[2, 30, 4, 40, 3]])
    at = torch.tensor([[2]])
    with torch.inference_mode():
        one, two = (network(ids, ids != 0, at) for network in (model, deeper))
    assert torch.nn.functional.cosine_similarity(one.flatten(), two.flatten(), dim=0) > 0.9


def test_orthogonalised_matrices_have_singular_values_near_one() -> None:
    """Tall or wide."""
    torch.manual_seed(0)
    for shape in ((8, 8), (8, 32), (32, 8)):
        values = torch.linalg.svdvals(orthogonalised(torch.randn(shape)))
        assert float(values.min()) > 0.5
        assert float(values.max()) < 1.5


def test_an_average_lies_between_two_networks_of_one_shape() -> None:
    """A quarter of the way from the first to the second."""
    first, second = MaskedModel(SHAPE), MaskedModel(SHAPE)
    between = averaged(first, second, 0.25).state_dict()
    expected = 0.75 * first.words.weight + 0.25 * second.words.weight
    assert torch.allclose(between["words.weight"], expected, atol=1e-6)
    with pytest.raises(ValueError, match="differ"):
        averaged(first, deepened(second, 3), 0.5)
