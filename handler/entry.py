"""The one door: ``handler.entry.lambda_handler``. Everything is built once, when this module is imported."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from handler import bootstrap, events, settings
from handler.core import answers
from handler.core.errors import EventNotRecognisedError, InvalidInputError, TiankongError, TooLargeError
from handler.core.observation import Observation
from handler.core.requests import parse_direct, request_id_of
from handler.events import Kind
from handler.queue import QueueWorker

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from fastapi import FastAPI


@functools.cache
def _event_loop() -> AbstractEventLoop:
    """Return the one event loop of this process's HTTP events; Lambda hands them over one at a time."""
    import asyncio

    return asyncio.new_event_loop()


class Function:
    """The function with all that it needs, for any number of events.

    Args:
        environment: what bootstrap built.
    """

    def __init__(self, environment: bootstrap.Environment) -> None:
        self.environment = environment
        self._http: Callable[[dict[str, Any], Any], dict[str, Any]] | None = None
        if environment.settings.initialised_ahead:
            # Nobody waits for this init: pay for FastAPI now, not in the first request.
            self._http = self._mangum()

    def __call__(self, event: Any, context: Any) -> Any:
        """Answer one event of any kind.

        Raises:
            TiankongError: direct events only; a fault that a retry may mend, so that Lambda retries an asynchronous
                invocation and its failure destination works. A bad request is answered with an error object.
        """
        kind = events.kind_of(event)
        if kind is Kind.HTTP:
            return self._answer_http(event, context)
        start = time.perf_counter()
        given = request_id_of(event)
        observation = Observation(kind=kind.value, request_id=given or events.request_id(event, context))
        try:
            return self._answer(kind, event, context, observation)
        except TiankongError as error:
            observation.error_type = error.code
            observation.faulty = not isinstance(error, InvalidInputError | TooLargeError | EventNotRecognisedError)
            if observation.faulty:
                raise
            return answers.render_error(error, observation.request_id)
        except Exception as error:
            observation.error_type, observation.faulty = TiankongError.code, True
            self.environment.telemetry.fault(error, observation.request_id)
            raise
        finally:
            observation.total_ms = (time.perf_counter() - start) * 1000
            self.environment.telemetry.event(observation)

    def http_app(self, executor: Executor | None = None) -> FastAPI:
        """Build the HTTP application; imports FastAPI.

        Args:
            executor: runs the model beside a server's event loop; None where requests come one at a time.
        """
        from handler.api.app import Backend, create_app

        environment = self.environment
        return create_app(
            Backend(
                service=environment.service,
                limits=environment.limits,
                about=lambda: _about(environment),
                observe=environment.telemetry.event,
                fault=environment.telemetry.fault,
                executor=executor,
            ),
            cors_origins=environment.settings.cors_origins,
            base_path=environment.settings.base_path,
        )

    def _answer(self, kind: Kind, event: Any, context: Any, observation: Observation) -> Any:
        if kind is Kind.WARM_UP:
            return {"warm": True}
        if kind is Kind.OTHER:
            raise EventNotRecognisedError
        environment, deadline = self.environment, events.ContextDeadline(context)
        if kind is Kind.QUEUE:
            worker = QueueWorker(
                service=environment.service(), results=environment.results_queue, telemetry=environment.telemetry
            )
            return worker.run(event["Records"], deadline, observation)
        request = parse_direct(event, environment.limits)  # first: a bad request is one with or without a model
        answer = environment.service().answer(request, deadline)
        observation.take(answer)
        return answers.render(answer, request, observation.request_id)

    def _answer_http(self, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        if self._http is None:
            self._http = self._mangum()
        return self._http(events.repaired(event), context)

    def _mangum(self) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
        import asyncio

        from mangum import Mangum

        # Mangum takes the thread's event loop. Python 3.12 warns where none is set, and 3.14 makes none any more.
        loop = _event_loop()
        asyncio.set_event_loop(loop)
        answer = Mangum(self.http_app(), lifespan="off")

        def on_our_loop(event: dict[str, Any], context: Any) -> dict[str, Any]:
            asyncio.set_event_loop(loop)  # whatever else ran in this thread
            return answer(event, context)

        return on_our_loop


def _about(environment: bootstrap.Environment) -> dict[str, Any]:
    """Return what ``/v1/model`` tells beside the limits."""
    environment.service()  # there is an artifact where there is a service
    artifact = environment.artifact
    assert artifact is not None
    return {
        "name": artifact.name,
        "digest": artifact.digest,
        "vocabulary_size": artifact.vocabulary_size,
        **{fact: artifact.manifest.get(fact) for fact in ("licence", "source", "quantization", "proof")},
        "cpu": list(environment.cpu),
    }


_PARALLEL_RUNS: Final = 2  # of the local server; more would only wait for the same processors

_function = Function(bootstrap.start(settings.load()))


def lambda_handler(event: Any, context: Any) -> Any:
    """Answer an event: HTTP (REST API, HTTP API, function URL, load balancer), direct, queue batch or warm-up ping."""
    return _function(event, context)


def http_app() -> FastAPI:
    """Return the HTTP application for a local server (``make serve``), which takes many requests at once."""
    return _function.http_app(ThreadPoolExecutor(_PARALLEL_RUNS, thread_name_prefix="model"))
