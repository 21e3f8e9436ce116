"""The shapes of requests and answers, for the documentation only.

Requests are read by handler.core.requests, which serves every door; a test holds these models to it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from handler.core.requests import DEFAULT_TOP_K, MAX_BEAM


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FillMaskBody(_Strict):
    """Either `text` or `texts`."""

    text: str | None = Field(None, examples=["今天天气很[MASK]。"])
    texts: list[str] | None = Field(None, description="A batch; items fail one by one.")
    top_k: int | None = Field(
        None, ge=1, description=f"Candidates for each blank: {DEFAULT_TOP_K} by default, with targets all of them."
    )
    targets: list[str] | list[list[str]] | None = Field(
        None, description="The only candidates: one list for all blanks, or one list for each."
    )
    joint: Literal["auto", "off"] | None = Field(None, description="Fill several blanks together as well; auto.")
    lexicon: bool | None = Field(None, description="Look for idioms and lines of verse; true.")
    beam: int | None = Field(None, ge=1, le=MAX_BEAM, description="Hypotheses of the model's own joint decoding; 1.")
    request_id: str | None = Field(None, description="Comes back in the answer and stands in the log.")


class Candidate(BaseModel):
    """One filling."""

    token: str
    score: float = Field(description="Softmax over the whole vocabulary.")
    text: str = Field(description="The text as sent, with this filling in place of this blank.")
    target_score: float | None = Field(None, description="The score renormalised over the usable targets.")


class UnusableTarget(BaseModel):
    """A target that the model cannot score."""

    target: str
    reason: str


class Mask(BaseModel):
    """One blank; offsets count code points."""

    index: int
    start: int
    end: int
    candidates: list[Candidate]
    unusable_targets: list[UnusableTarget] | None = None


class ErrorFacts(BaseModel):
    """What went wrong and what to do."""

    type: str
    message: str
    request_id: str | None = None


class Error(BaseModel):
    """The body of every error."""

    error: ErrorFacts


class JointCandidate(BaseModel):
    """One filling of all blanks together."""

    tokens: list[str]
    score: float = Field(description="The model's probability of the filling.")
    lexicon_score: float | None = Field(None, description="The phrase's share among all that complete the text.")
    text: str
    source: Literal["lexicon", "model", "mixed"]


class TextResult(BaseModel):
    """The answer for one text; `error` in place of `masks` where it could not be answered."""

    text: str
    truncated: bool | None = None
    unknown_characters: int | None = None
    cached: bool | None = None
    masks: list[Mask] | None = None
    joint: list[JointCandidate] | None = None
    error: ErrorFacts | None = None


class ModelName(BaseModel):
    """Which model answered."""

    name: str
    digest: str


class TimingMs(BaseModel):
    """Where the time went, in milliseconds."""

    total: float
    encode: float
    run: float
    decode: float
    cache: float


class FillMaskAnswer(BaseModel):
    """Always this shape, for one blank or many, one text or many."""

    request_id: str
    model: ModelName
    timing_ms: TimingMs
    results: list[TextResult]


class CorrectBody(_Strict):
    """Either `text` or `texts`."""

    text: str | None = Field(None, examples=["我今天很高心。"])
    texts: list[str] | None = None
    particles: bool | None = Field(None, description="Correct 的, 地 and 得 into each other as well; false.")
    request_id: str | None = None


class Suggestion(BaseModel):
    """A character that should rather stand there."""

    token: str
    margin: float = Field(description="How much likelier it is, as a natural logarithm.")


class Correction(BaseModel):
    """A likely wrong character; offsets count code points."""

    start: int
    end: int
    original: str
    suggestions: list[Suggestion]


class CorrectResult(BaseModel):
    """The answer for one text."""

    text: str
    corrected: str | None = None
    unknown_characters: int | None = None
    cached: bool | None = None
    corrections: list[Correction] | None = None
    error: ErrorFacts | None = None


class CorrectAnswer(BaseModel):
    """Always this shape."""

    request_id: str
    model: ModelName
    timing_ms: TimingMs
    results: list[CorrectResult]


class ScoreBody(_Strict):
    """Either `text` or `texts`."""

    text: str | None = None
    texts: list[str] | None = Field(None, examples=[["他买了一本书。", "他买了一条书。"]])
    request_id: str | None = None


class ScoredToken(BaseModel):
    """One token, with its log-probability when it alone is hidden; null where the vocabulary lacks it."""

    token: str
    start: int
    end: int
    log_probability: float | None


class ScoreResult(BaseModel):
    """The answer for one text."""

    text: str
    pseudo_log_likelihood: float | None = None
    mean_log_probability: float | None = None
    unknown_characters: int | None = None
    cached: bool | None = None
    per_token: list[ScoredToken] | None = None
    error: ErrorFacts | None = None


class ScoreAnswer(BaseModel):
    """Always this shape; `best` only for `texts`."""

    request_id: str
    model: ModelName
    timing_ms: TimingMs
    results: list[ScoreResult]
    best: int | None = None


class PredictBody(_Strict):
    """The reference design's request."""

    text: str = Field(examples=["今天天气很[MASK]。"])
    request_id: str | None = None


class Prediction(BaseModel):
    """One candidate of the reference design."""

    token: str
    probability: float = Field(description="Percent, two decimals.")


class PredictAnswer(BaseModel):
    """The reference design's answer."""

    results: list[Prediction]


class HuggingFaceParameters(_Strict):
    """Options of the fill-mask task."""

    top_k: int | None = Field(None, ge=1)
    targets: list[str] | list[list[str]] | None = None


class HuggingFaceBody(_Strict):
    """The fill-mask task's request."""

    inputs: str | list[str] = Field(examples=["今天天气很[MASK]。"])
    parameters: HuggingFaceParameters | None = None
    options: dict[str, bool] | None = Field(None, description="Taken from older clients; has no effect.")
    request_id: str | None = None


class HuggingFaceFilling(BaseModel):
    """One filling of the fill-mask task."""

    score: float
    token: int | None = Field(description="Null for a target of several tokens.")
    token_str: str
    sequence: str


class HuggingFaceAnswer(RootModel[list[HuggingFaceFilling] | list[Any]]):
    """The fill-mask task's answer."""


class Health(BaseModel):
    """Whether the model is loaded."""

    status: str


class Model(BaseModel):
    """The model that answers."""

    model_config = ConfigDict(extra="allow")

    name: str
    digest: str
    vocabulary_size: int
    limits: dict[str, int]
    proof: dict[str, Any] | None
    cpu: list[str]


ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Error, "description": "Not JSON, not UTF-8, or bad base64"},
    413: {"model": Error, "description": "Body, batch, text or answer too large"},
    422: {"model": Error, "description": "Right JSON, wrong content"},
    500: {"model": Error, "description": "A fault of the service"},
    503: {"model": Error, "description": "Model not available, or too little time left"},
}


def body(model: type[BaseModel]) -> dict[str, Any]:
    """Return the OpenAPI description of a request body that the core reads itself."""
    schema = model.model_json_schema()
    # FastAPI publishes the definitions of models that it knows, and it knows the answers only.
    schema = _inlined(schema, schema.pop("$defs", {}))
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """Return a schema with each reference replaced by what it refers to."""
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _inlined(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {name: _inlined(part, definitions) for name, part in schema.items()}
