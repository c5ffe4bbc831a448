"""Log lines: one event per line, as keys and values, without secrets and without a way to forge a second line.

Everything that goes to standard error passes here, also the lines of the framework and the libraries. LOG_FORMAT
chooses JSON or plain text, LOG_LEVEL the lowest level.
"""

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from django.conf import settings

MASK = "[hidden]"
LONGEST_VALUE = 4000
_SECRET_KEYS = re.compile(
    r"passw|secret|token|authorization|cookie|session_?key|api_?key|private|credential|key_?ring|wif|seed|otp", re.I
)
_HARMLESS_KEYS = {"request_id"}
_SHAPES = [
    (re.compile(r"\b(Basic|Bearer|HS256)\s+[A-Za-z0-9+/=._~-]{6,}"), r"\1 " + MASK),
    (re.compile(r"(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"), MASK),
    (re.compile(r"\b[5KLc9][1-9A-HJ-NP-Za-km-z]{50,51}\b"), MASK),
    (re.compile(r"\b(?:csn|v1:[A-Za-z0-9_-]{1,40})[_:][A-Za-z0-9_=:-]{20,}"), MASK),
    # A private key and a transaction id look alike; six characters still tell transactions apart in a log.
    (re.compile(r"(?<![0-9A-Za-z])([0-9a-fA-F]{6})[0-9a-fA-F]{58}(?![0-9A-Za-z])"), r"\1…"),
]
# Everything that ends a line or steers a terminal, the Unicode line ends and direction marks included.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
Event = MutableMapping[str, Any]


def configure(_: Mapping[str, object]) -> None:
    """Called by Django at start (LOGGING_CONFIG)."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _add_request_id,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    last = _plain_line if settings.LOG_FORMAT == "plain" else structlog.processors.JSONRenderer(ensure_ascii=True)
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, hide_secrets, last],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.LOG_LEVEL)
    for name in ("urllib3", "requests", "websockets", "asyncio", "fido2", "kombu", "amqp"):
        # Their finer lines carry whole addresses, headers and frames.
        logging.getLogger(name).setLevel(logging.WARNING)
    for name in ("django", "django.server"):
        logging.getLogger(name).handlers[:] = []
        logging.getLogger(name).propagate = True
    # One line per request is written by our own middleware; the framework's repeats it for every refusal.
    logging.getLogger("django.request").setLevel(logging.ERROR)
    logging.getLogger("django.security.DisallowedHost").filters[:] = [_without_traceback]


def _without_traceback(record: logging.LogRecord) -> bool:
    """Drop the traceback: anybody can send a foreign host name, and one line is enough for it."""
    record.exc_info = None
    return True


def hide_secrets(_: Any, __: str, event: Event) -> Event:
    """The processor that masks secrets by the names of keys and by the shape of values, at every depth."""
    secrets = _own_secrets()
    return {key: _hidden(key, value, secrets, depth=0) for key, value in event.items()}


def _hidden(key: str, value: Any, secrets: list[str], *, depth: int) -> Any:
    if key not in _HARMLESS_KEYS and _SECRET_KEYS.search(key) and not isinstance(value, bool | int | None):
        return MASK
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping) and depth < 5:
        return {str(name): _hidden(str(name), member, secrets, depth=depth + 1) for name, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and depth < 5:
        return [_hidden("", member, secrets, depth=depth + 1) for member in value]
    return scrubbed(_last_lines(str(value)) if key == "exception" else str(value), secrets)


def _last_lines(trace: str) -> str:
    """The last whole lines of a traceback that are not cut: the end names the cause."""
    return trace if len(trace) <= LONGEST_VALUE else trace[-LONGEST_VALUE:].partition("\n")[2]


def scrubbed(text: str, secrets: list[str] | None = None) -> str:
    """The text without anything that looks like a secret, cut at 4,000 characters."""
    text = text[:LONGEST_VALUE]
    for secret in _own_secrets() if secrets is None else secrets:
        text = text.replace(secret, MASK)
    for shape, replacement in _SHAPES:
        text = shape.sub(replacement, text)
    return text


def _own_secrets() -> list[str]:
    """The secrets of this process's own settings, which it must never log."""
    secrets = [settings.SECRET_KEY, *re.split(r"[,:\n]", settings.KEY_RING)]
    secrets.append(str(settings.DATABASES["default"].get("PASSWORD") or ""))
    return [secret for secret in secrets if len(secret) >= 8]


def _plain_line(_: Any, __: str, event: Event) -> str:
    """`12:01:02 info event key=value …`; a traceback follows on lines that can't be taken for events."""
    trace = str(event.pop("exception", "") or "")
    moment = str(event.pop("timestamp", ""))[11:19]
    first = f"{moment} {event.pop('level', 'info'):7} {_escaped(str(event.pop('event', '')))}"
    pairs = [f"{_escaped(key)}={_escaped(str(value))}" for key, value in event.items() if value not in (None, "")]
    lines = [" ".join([first, *pairs])]
    lines += ["    | " + _escaped(line) for line in trace.splitlines()]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)


def _add_request_id(_: Any, __: str, event: Event) -> Event:
    from desk.processes import request_ids

    request_id = request_ids.current_id()
    if request_id:
        event.setdefault("request_id", request_id)
    return event


def connect_celery() -> None:
    """Carry the request id of the page into the task that it woke."""
    from celery import signals

    signals.setup_logging.connect(_keep_our_logging, dispatch_uid="desk.logs.setup", weak=False)
    signals.task_prerun.connect(_enter_task, dispatch_uid="desk.logs.prerun", weak=False)
    signals.task_postrun.connect(_leave_task, dispatch_uid="desk.logs.postrun", weak=False)


def _keep_our_logging(**_: Any) -> None:
    """Do nothing: where this signal has a receiver, Celery leaves the handlers alone."""


def _enter_task(*, task: Any = None, **_: Any) -> None:
    from desk.processes import request_ids

    number = task.request.get("request_id") if task is not None else None
    request_ids.enter(request_ids.usable_id(number if isinstance(number, str) else None))
    structlog.contextvars.bind_contextvars(task=getattr(task, "name", ""))


def _leave_task(**_: Any) -> None:
    from desk.processes import request_ids

    request_ids.enter("")
    structlog.contextvars.unbind_contextvars("task")
