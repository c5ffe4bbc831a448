"""What a desk refuses, as exceptions: problem details by RFC 9457."""

from collections.abc import Mapping


class Problem(Exception):
    """The desk refused. `detail` says for a person what happened, `errors` maps members of the request to sentences."""

    def __init__(
        self, status: int, title: str, detail: str, errors: Mapping[str, str], *, idempotency_key: str | None = None
    ) -> None:
        members = "".join(f"\n  {name}: {text}" for name, text in errors.items())
        super().__init__(f"{status} {title}: {detail}{members}")
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = dict(errors)
        self.idempotency_key = idempotency_key


class Refused(Problem):
    """400 or 422: nothing was recorded; the request has to be another one."""


class KeyUsed(Refused):
    """422: the idempotency key was already used for another request."""


class NotSignedIn(Problem):
    """401: the token is invalid, expired or revoked."""


class NotAllowed(Problem):
    """403: the token, or its person, may not do this."""


class NotFound(Problem):
    """404: there is no such row, or the desk has several accounts and the client names none."""


class StillAnswering(Problem):
    """409: the same request was still being handled after every attempt."""


class TooManyRequests(Problem):
    """429: too many requests with this token, after every attempt."""


class NoAnswer(Exception):
    """No answer came, or none of the desk's. What was sent may or may not have been recorded.

    Send the same again with `idempotency_key`: then it is recorded once.
    """

    def __init__(self, sentence: str, *, idempotency_key: str | None) -> None:
        again = f" Send it again with idempotency_key={idempotency_key!r}." if idempotency_key else ""
        super().__init__(f"{sentence}{again}")
        self.idempotency_key = idempotency_key


class Unreadable(NoAnswer):
    """What came is no answer of a desk: another server, a proxy's page, a redirect."""


_BY_STATUS: Mapping[int, type[Problem]] = {
    400: Refused,
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: StillAnswering,
    422: Refused,
    429: TooManyRequests,
}


def of(status: int, body: Mapping[str, object], *, idempotency_key: str | None) -> Problem:
    """The exception for an answer that is a problem."""
    errors = body.get("errors")
    texts = {str(name): str(text) for name, text in errors.items()} if isinstance(errors, Mapping) else {}
    detail = str(body.get("detail", ""))
    kind = _BY_STATUS.get(status, Problem)
    if status == 422 and "Idempotency-Key" in texts:
        kind = KeyUsed
    return kind(status, str(body.get("title", "")), detail, texts, idempotency_key=idempotency_key)
