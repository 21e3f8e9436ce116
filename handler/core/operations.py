"""What the service can do with a text: every operation in the same six steps.

So caches, deadlines, batches and limits are the same for all.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from handler.core.ports import MaskedLanguageModel
from handler.core.types import TextResult


class Job(Protocol):
    """A text that will be answered, with all that its answer depends on."""

    @property
    def text(self) -> str:
        """The caller's own string."""
        ...

    @property
    def key(self) -> str:
        """The cache key: equal keys mean equal uncached values."""
        ...

    @property
    def expected_tokens(self) -> int:
        """Tokens that will go through the model, at most; joint filling may look at close phrases once more."""
        ...


RequestT = TypeVar("RequestT", contravariant=True)
JobT = TypeVar("JobT", bound=Job)
ValueT = TypeVar("ValueT")


class Operation(Protocol[RequestT, JobT, ValueT]):
    """One operation; its value is what a cache may keep, its result is that value in the caller's own string."""

    def job(self, text: str, request: RequestT) -> JobT:
        """Check a text against a request.

        Raises:
            InvalidInputError, TooLargeError: the text cannot be answered.
        """
        ...

    def worst_bytes(self, job: JobT) -> int:
        """Return an upper bound of the bytes of the job's result."""
        ...

    def compute(self, job: JobT, model: MaskedLanguageModel) -> tuple[ValueT, int]:
        """Run the model; return the value and the number of passes.

        Raises:
            InvalidInputError: the text needs more passes than it may take.
            InferenceError: the runtime failed.
        """
        ...

    def dump(self, value: ValueT) -> str:
        """Return the value as a cache payload."""
        ...

    def load(self, payload: str, job: JobT) -> ValueT:
        """Read a payload back, exactly.

        Raises:
            CacheRecordInvalidError: it is not what was written for such a job.
        """
        ...

    def compose(self, job: JobT, value: ValueT, *, cached: bool) -> TextResult:
        """Put a value into the caller's own string."""
        ...
