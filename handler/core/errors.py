"""Every error of the service, each with its stable code and its message in two languages.

TiankongError
|-- MalformedRequestError     the bytes are no JSON
|   |-- NotJsonError
|   |-- NotUtf8Error
|   `-- BadBase64Error
|-- TooLargeError             well formed, but more than this function takes at once
|   |-- BodyTooLargeError
|   |-- TooManyTextsError
|   |-- TextTooLongError
|   `-- AnswerTooLargeError
|-- InvalidInputError         right JSON, wrong content: the caller can mend it
|   |-- RequestInvalidError
|   |-- TextNotUnicodeError
|   |-- MaskMissingError
|   |-- MaskMisspeltError
|   |-- TooManyMasksError
|   |-- MasksTooFarApartError
|   |-- PassBudgetError
|   |-- OperationUnavailableError
|   |-- TextEmptyError
|   |-- TopKInvalidError
|   |-- TargetsInvalidError
|   `-- TargetListsMismatchError
|-- EventNotRecognisedError   the function was invoked with something that is no request at all
|-- RetryableError            nothing is wrong with the request; the same one may succeed later
|   |-- ModelUnavailableError
|   |   |-- ArtifactMissingError
|   |   `-- ArtifactCorruptError
|   `-- DeadlineNearError
|-- InferenceError            the runtime failed on valid input
|-- ResultsQueueError         an answer could not be handed to the results queue
`-- CacheError                a cache failed; counted and ignored, it never reaches a caller
    |-- CacheUnavailableError
    `-- CacheRecordInvalidError

No status numbers here: a door decides how an error travels. Messages say what to do and never repeat the input.
"""

from __future__ import annotations

from typing import ClassVar, Literal

Language = Literal["en", "zh"]


class TiankongError(Exception):
    """Base of all errors of this project.

    A subclass declares a stable ``code`` (the ``type`` that callers see) and a template in each language; the keyword
    arguments of the constructor are the facts that fill the templates and stay readable as ``facts``.
    """

    code: ClassVar[str] = "internal"
    english: ClassVar[str] = "Something failed inside the service. The request may be sent again."
    chinese: ClassVar[str] = "服务内部出错，可以重新发送请求。"

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        super().__init__(self.message())

    def message(self, language: Language = "en") -> str:
        """Return the message in the language asked for."""
        template = self.chinese if language == "zh" else self.english
        return template.format(**self.facts)


class MalformedRequestError(TiankongError):
    """The bytes of the request are no JSON."""


class NotJsonError(MalformedRequestError):
    """The body is text, but no JSON."""

    code = "not_json"
    english = 'The body is not valid JSON. Send an object such as {{"text": "…[MASK]…"}}.'
    chinese = '请求体不是合法的 JSON。请发送类似 {{"text": "…[MASK]…"}} 的对象。'


class NotUtf8Error(MalformedRequestError):
    """The body is not UTF-8 (GBK, most often)."""

    code = "not_utf8"
    english = "The body is not UTF-8. Save or send the text as UTF-8 (not GBK)."
    chinese = "请求体不是 UTF-8 编码。请以 UTF-8（而不是 GBK）发送文本。"


class BadBase64Error(MalformedRequestError):
    """The event says that its body is base64, and it is not."""

    code = "bad_base64"
    english = "The event says isBase64Encoded, but its body is not valid base64."
    chinese = "事件声明 isBase64Encoded，但请求体不是合法的 base64。"


class TooLargeError(TiankongError):
    """Well formed, but more than this function takes at once."""


class BodyTooLargeError(TooLargeError):
    """The body is larger than Lambda itself would deliver."""

    code = "body_too_large"
    english = "The body is larger than {limit} bytes. Send fewer or shorter texts at once."
    chinese = "请求体超过 {limit} 字节。请减少每次发送的文本。"


class TooManyTextsError(TooLargeError):
    """More texts than MAX_TEXTS."""

    code = "too_many_texts"
    english = "At most {limit} texts may be sent at once; {actual} were. Split the batch."
    chinese = "一次最多发送 {limit} 条文本，收到 {actual} 条。请分批发送。"


class TextTooLongError(TooLargeError):
    """A text longer than MAX_TEXT_CHARS."""

    code = "text_too_long"
    english = "A text may have at most {limit} characters; this one has {actual}. Send the part around the blank."
    chinese = "每条文本最多 {limit} 个字符，这一条有 {actual} 个。请只发送空格附近的部分。"


class AnswerTooLargeError(TooLargeError):
    """The answer could exceed what the transport carries."""

    code = "answer_too_large"
    english = "The answer could exceed {limit} bytes. Ask for a smaller top_k, or send fewer or shorter texts."
    chinese = "答案可能超过 {limit} 字节。请减小 top_k，或发送更少、更短的文本。"


class InvalidInputError(TiankongError):
    """Right JSON, wrong content: the caller can mend it."""


class RequestInvalidError(InvalidInputError):
    """The object has not the fields or types that the operation takes."""

    code = "request_invalid"
    english = "{problem}"
    chinese = "{problem_zh}"


class TextNotUnicodeError(InvalidInputError):
    """A string holds half of a surrogate pair: no character at all."""

    code = "text_not_unicode"
    english = "The text holds half of a surrogate pair (a \\ud800-\\udfff escape on its own), which is no character."
    chinese = "文本含有不成对的代理项（单独的 \\ud800-\\udfff 转义），它不是字符。"


class MaskMissingError(InvalidInputError):
    """No blank in the text."""

    code = "mask_missing"
    english = "The text has no blank. Write [MASK] where a character is wanted, one for each character."
    chinese = "文本里没有空格标记。请在要填的位置写 [MASK]，一个字一个标记。"


class MaskMisspeltError(InvalidInputError):
    """No blank in the text, but something that was probably meant as one."""

    code = "mask_misspelt"
    english = "The text has something that looks like a blank, but is none. Write it as [MASK], one for each character."
    chinese = "文本里有像空格的写法，但无法识别。请写成 [MASK]，一个字一个标记。"


class TooManyMasksError(InvalidInputError):
    """More blanks than MAX_MASKS."""

    code = "too_many_masks"
    english = "A text may have at most {limit} blanks; this one has {actual}."
    chinese = "每条文本最多 {limit} 个 [MASK]，这一条有 {actual} 个。"


class MasksTooFarApartError(InvalidInputError):
    """First and last blank do not fit into one window of the model."""

    code = "masks_too_far_apart"
    english = "The blanks span {actual} tokens, more than the {limit} that the model sees at once. Split the text."
    chinese = "这些 [MASK] 跨越 {actual} 个词元，超过模型一次能看到的 {limit} 个。请拆分文本。"


class PassBudgetError(InvalidInputError):
    """A text that takes more model passes than MAX_PASSES."""

    code = "too_many_passes"
    english = (
        "This text needs more than the {limit} model passes that it may take. Shorten it, or use fewer "
        "blanks, a smaller beam or targets of fewer lengths."
    )
    chinese = (
        "这条文本需要的模型计算超过上限 {limit} 次。请缩短文本、减少 [MASK]、减小 beam，或使用长度种类更少的 targets。"
    )


class OperationUnavailableError(InvalidInputError):
    """The artifact lacks what the operation needs."""

    code = "operation_unavailable"
    english = "This model was packaged without {what}, which this operation needs."
    chinese = "此模型打包时没有包含该操作所需的 {what}。"


class TextEmptyError(InvalidInputError):
    """A text without anything that the model reads."""

    code = "text_empty"
    english = "The text has nothing to work on."
    chinese = "文本是空的，没有可处理的内容。"


class TopKInvalidError(InvalidInputError):
    """A top_k that is no whole number in range."""

    code = "top_k_invalid"
    english = "top_k must be a whole number from 1 to {limit}."
    chinese = "top_k 必须是 1 到 {limit} 之间的整数。"


class TargetsInvalidError(InvalidInputError):
    """Targets of the wrong shape."""

    code = "targets_invalid"
    english = "targets must be a list of 1 to {limit} non-empty strings, or a list of such lists, one for each blank."
    chinese = "targets 必须是 1 到 {limit} 个非空字符串的列表（用于所有空格），或每个空格各一个这样的列表。"


class TargetListsMismatchError(InvalidInputError):
    """One list of targets per blank was sent, but their numbers differ."""

    code = "targets_invalid"
    english = "targets has {actual} lists, but the text has {expected} blanks: send one list for all, or one for each."
    chinese = "targets 有 {actual} 个列表，而文本有 {expected} 个 [MASK]：请发送一个共用列表，或每个空格各一个。"


class EventNotRecognisedError(TiankongError):
    """The function was invoked with something that is no request at all.

    Its type is that of RequestInvalidError, which the same JSON gets at the other doors.
    """

    code = "request_invalid"
    english = (
        'This function takes {{"text": "…[MASK]…"}}, {{"texts": [...]}} or {{"inputs": ...}} as a direct event, '
        "an HTTP event of API Gateway (REST or HTTP API), of a function URL or of a load balancer, an SQS batch, "
        'or a warm-up ping such as {{"warmer": true}}.'
    )
    chinese = (
        '本函数接受直接事件 {{"text": "…[MASK]…"}}、{{"texts": [...]}} 或 {{"inputs": ...}}，'
        "API Gateway（REST 或 HTTP API）、函数 URL 或负载均衡器的 HTTP 事件，SQS 批次，"
        '以及预热事件，例如 {{"warmer": true}}。'
    )


class RetryableError(TiankongError):
    """Nothing is wrong with the request; the same one may succeed later."""


class ModelUnavailableError(RetryableError):
    """The model could not be loaded."""

    code = "model_unavailable"
    english = "The model is not available: {problem}"
    chinese = "模型不可用：{problem}"


class ArtifactMissingError(ModelUnavailableError):
    """The artifact's folder or one of its files is absent."""


class ArtifactCorruptError(ModelUnavailableError):
    """The artifact's files are not those that its manifest describes."""


class DeadlineNearError(RetryableError):
    """The function would be stopped before the answer is ready."""

    code = "deadline_near"
    english = "Too little time is left for this request. Send it again, with fewer texts, or raise the timeout."
    chinese = "剩余时间不足以完成这个请求。请重新发送、减少文本，或调大函数的超时时间。"


class InferenceError(TiankongError):
    """The runtime failed on valid input."""

    code = "inference_failed"
    english = "The model failed on this request. It may be sent again."
    chinese = "模型处理这个请求时出错，可以重新发送。"


class ResultsQueueError(TiankongError):
    """An answer could not be handed to the results queue; the record stays in the source queue."""

    code = "results_queue_failed"
    english = "The results queue did not take the answer: {problem}"
    chinese = "结果队列未接受答案：{problem}"


class CacheError(TiankongError):
    """A cache failed. The service counts it and goes on: it never reaches a caller."""

    code = "cache_failed"
    english = "{problem}"
    chinese = "{problem}"


class CacheUnavailableError(CacheError):
    """The cache did not answer, or not in time."""


class CacheRecordInvalidError(CacheError):
    """The cache answered with something that this version did not write."""
