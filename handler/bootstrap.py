"""Builds everything once per execution environment. The only place that names concrete adapters."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from handler.adapters import cpu
from handler.adapters.artifact import Artifact, open_artifact
from handler.adapters.memory_cache import MemoryCache
from handler.core.breaker import GuardedCache
from handler.core.cache_chain import CacheChain
from handler.core.error_model import ErrorModel
from handler.core.errors import CacheUnavailableError, InferenceError, ModelUnavailableError, ResultsQueueError
from handler.core.lexicon import Lexicon
from handler.core.ports import ResultCache, ResultsQueue
from handler.core.service import Service
from handler.core.types import Limits
from handler.settings import Settings
from handler.telemetry import Telemetry

_CONNECT_S: Final = 1.0  # for the first connection to the table, inside init
_PATIENT_MS: Final = 5_000  # for each call where nobody waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """All that an invocation needs. With a model that cannot be loaded, everything but the model."""

    settings: Settings
    telemetry: Telemetry
    limits: Limits
    cpu: tuple[str, ...]
    artifact: Artifact | None
    loaded: Service | ModelUnavailableError
    results_queue: ResultsQueue | None

    def service(self) -> Service:
        """Return the service.

        Raises:
            ModelUnavailableError: the model could not be loaded; the same one on every call.
        """
        if isinstance(self.loaded, ModelUnavailableError):
            # Raised by every request: without this the traceback would grow by each, and keep its frames alive.
            raise self.loaded.with_traceback(None)
        return self.loaded


@dataclass(slots=True)
class _Stopwatch:
    """Milliseconds by part of the init phase."""

    parts: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.parts[name] = (time.perf_counter() - start) * 1000


def start(settings: Settings, *, patient: bool = False) -> Environment:
    """Build the environment: the session, the tokenizer, the caches and the clients, connected.

    What fails to load is kept as an error for the requests that need it; importing the function always succeeds.

    Args:
        settings: what the environment's variables say.
        patient: nobody waits for the answers (``python -m handler.precompute``): the shared cache gets seconds instead
            of milliseconds and no breaker, so that every fault is counted and can be made good.

    Raises:
        CacheUnavailableError: only where patient; there is no table, or it does not answer.
    """
    telemetry = Telemetry(function_name=settings.function_name, level=settings.log_level)
    watch = _Stopwatch()
    with watch.part("total"), ThreadPoolExecutor(4, thread_name_prefix="init") as pool:
        # boto3's import and the first connection run beside the session's creation, which releases Python's lock.
        shared = pool.submit(_patient_cache if patient else _shared_cache, settings, telemetry)
        artifact: Artifact | None = None
        limits = settings.limits(settings.max_tokens)
        loaded: Service | ModelUnavailableError
        try:
            artifact = open_artifact(settings.model_dir)
            limits = settings.limits(artifact.max_positions)
            loaded = _service(settings, artifact, limits, shared, pool, watch)
        except ModelUnavailableError as error:
            loaded = error
            telemetry.notice("ERROR", "model not available", problem=str(error), folder=str(settings.model_dir))
        if artifact is not None and artifact.proof is None:
            telemetry.notice("WARNING", "this model was exported without proof of its accuracy", model=artifact.name)
        queue = _results_queue(settings)
    features = cpu.features()
    telemetry.initialised(init_ms=watch.parts, cpu=features)
    return Environment(
        settings=settings,
        telemetry=telemetry,
        limits=limits,
        cpu=features,
        artifact=artifact,
        loaded=loaded,
        results_queue=queue,
    )


def _service(
    settings: Settings,
    artifact: Artifact,
    limits: Limits,
    shared: Future[ResultCache | None],
    pool: ThreadPoolExecutor,
    watch: _Stopwatch,
) -> Service:
    # No byte is parsed before its digest is known to be right. The weights, most of the bytes, are only mapped: reading
    # them goes on beside the session's creation, which also brings them into memory, until anything is answered.
    weights_verified = pool.submit(artifact.verify, artifact.mapped)
    verified = pool.submit(artifact.verify, frozenset(artifact.sha256) - artifact.mapped)
    try:
        with watch.part("imports"):
            from handler.adapters.onnx_model import OnnxMaskedLanguageModel
            from handler.adapters.tokenizer import WordPieceTokenizer
    except ImportError as error:
        raise ModelUnavailableError(problem=f"its runtime cannot be imported ({error.name}).") from error
    verified.result()
    try:
        with watch.part("tokenizer"):
            tokenizer = WordPieceTokenizer(artifact.path("tokenizer.json"), artifact.special, artifact.vocabulary_size)
        language = pool.submit(_language_data, artifact, tokenizer.vocabulary)  # beside the session's creation
        with watch.part("session"):
            model = OnnxMaskedLanguageModel(
                artifact.path("model.onnx"), threads=settings.threads, vocabulary_size=artifact.vocabulary_size
            )
        lexicon, errors = language.result()
    finally:
        with watch.part("digests"):
            weights_verified.result()  # wrong ones explain whatever else went wrong
    caching = settings.cache_ttl_s > 0
    service = Service(
        tokenizer=tokenizer,
        model=model,
        identity=artifact.identity,
        limits=limits,
        cache=CacheChain(
            local=MemoryCache(ttl_s=settings.cache_ttl_s) if caching else None,
            shared=shared.result(),
            admit_after=settings.cache_admit_after,
        ),
        lexicon=lexicon,
        errors=errors,
    )
    try:
        with watch.part("first_run"):
            service.warm_up()
    except InferenceError as error:
        raise ModelUnavailableError(problem="its first run failed.") from error
    return service


def _language_data(artifact: Artifact, vocabulary: Sequence[str]) -> tuple[Lexicon | None, ErrorModel | None]:
    token_ids = {token: token_id for token_id, token in enumerate(vocabulary)}
    phrases, facts = artifact.lexicon(), artifact.error_model()
    return (
        Lexicon(phrases, token_ids) if phrases else None,
        ErrorModel(facts, token_ids, len(vocabulary)) if facts else None,
    )


def _shared_cache(settings: Settings, telemetry: Telemetry) -> ResultCache | None:
    if settings.cache_table is None or settings.cache_ttl_s == 0:
        return None
    from handler.adapters.dynamodb_cache import DynamoDbCache, create_client

    try:
        client = create_client(settings.cache_read_ms)
    except CacheUnavailableError as error:
        telemetry.notice("WARNING", "the shared cache is off", problem=str(error))
        return None
    cache = DynamoDbCache(
        client, table=settings.cache_table, ttl_s=settings.cache_ttl_s, read_ms=settings.cache_read_ms
    )
    guarded = GuardedCache(cache)
    try:
        cache.connect(_CONNECT_S)
    except CacheUnavailableError as error:
        telemetry.notice(
            "WARNING", "the shared cache does not answer; it is left alone for a while", problem=str(error)
        )
        guarded.trip()
    return guarded


def _patient_cache(settings: Settings, _telemetry: Telemetry) -> ResultCache | None:
    """Connect, or raise CacheUnavailableError: without the table there is nothing to fill."""
    from handler.adapters.dynamodb_cache import DynamoDbCache, create_client

    if settings.cache_table is None or settings.cache_ttl_s == 0:
        raise CacheUnavailableError(problem="TIANKONG_CACHE_TABLE names no table, or TIANKONG_CACHE_TTL_S is 0")
    cache = DynamoDbCache(
        create_client(_PATIENT_MS),
        table=settings.cache_table,
        ttl_s=settings.cache_ttl_s,
        read_ms=_PATIENT_MS,
        write_ms=_PATIENT_MS,
    )
    cache.connect(_PATIENT_MS / 1000)
    return cache


def _results_queue(settings: Settings) -> ResultsQueue | None:
    if settings.results_queue is None:
        return None
    from handler.adapters.sqs_results import SqsResultsQueue, create_client

    try:
        return SqsResultsQueue(create_client(), settings.results_queue)
    except ResultsQueueError as error:
        return _UnreachableQueue(str(error))


class _UnreachableQueue:
    """Stands for a results queue that was asked for and cannot be reached: every record stays in its source queue."""

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def send(self, messages: Mapping[str, str]) -> Mapping[str, str]:
        """See handler.core.ports.ResultsQueue."""
        return dict.fromkeys(messages, self._problem)
