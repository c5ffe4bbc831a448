"""The workers' way to the broker: a message that can't be read is dropped and counted, and the worker goes on.

The library ends its consumer, and with it the worker, on several kinds of them: what is no JSON, what is JSON of
another shape, and what has headers of the wrong kind; a time limit that is none even costs a place in its pool for
good, in silence. So it is given nothing but messages as our own senders write them (Celery's message protocol 2).
Messages only wake, so none is worth a worker (`desk.dropped`).
"""

from collections.abc import Callable
from datetime import datetime
from queue import Empty
from typing import Any

import msgspec
from kombu.transport import redis as _untyped
from redis import exceptions as broken

from desk import dropped

library: Any = _untyped  # its types are declared in part only
# What says that the line to the broker is bad, and not the message.
_OF_THE_LINE = (OSError, Empty, broken.RedisError, library.InconsistencyError)


class _Headers(msgspec.Struct):
    """What the headers of a message of ours are at most. Nothing is asked for a later time: rows know when."""

    task: str
    id: str
    root_id: str | None = None
    parent_id: str | None = None
    group: str | None = None
    group_index: int | None = None
    shadow: str | None = None
    eta: None = None
    expires: datetime | None = None
    retries: int = 0
    timelimit: tuple[int | None, int | None] = (None, None)
    argsrepr: str = ""
    kwargsrepr: str = ""
    origin: str = ""
    ignore_result: bool | None = None
    replaced_task_nesting: int = 0
    stamped_headers: list[str] | None = None
    stamps: dict[str, Any] = {}
    request_id: str = ""


class _Embedded(msgspec.Struct):
    """What a message may order besides its task: nothing."""

    callbacks: None = None
    errbacks: None = None
    chain: None = None
    chord: None = None


_BODY = msgspec.json.Decoder(tuple[list[int | str], dict[str, Any], _Embedded])


def _check(message: Any) -> None:
    """Raises `msgspec.ValidationError` or another `ValueError` for what none of our senders writes."""
    if (message.content_type, message.content_encoding) != ("application/json", "utf-8"):
        raise ValueError("not JSON by its own account")
    msgspec.convert(message.headers, _Headers)
    _BODY.decode(message.body)


class _Unacknowledged(library.QoS):  # type: ignore[misc]
    """What was taken and not yet acknowledged; a record of it that can't be read is not given back for ever."""

    def restore_by_tag(self, tag: Any, client: Any = None, leftmost: bool = False) -> None:
        """Give one message back to its queue."""
        try:
            super().restore_by_tag(tag, client, leftmost)
        except _OF_THE_LINE:
            raise
        except Exception as problem:
            dropped.note("unacknowledged", type(problem).__name__)
            with self.channel.conn_or_acquire(client) as line, self.pipe_or_acquire(client=line) as pipe:
                self._remove_from_indices(tag, pipe).execute()


class Channel(library.Channel):  # type: ignore[misc]
    """The library's channel, which outlives whatever it is sent."""

    QoS = _Unacknowledged

    def basic_consume(
        self, queue: str, no_ack: bool, callback: Callable[[Any], Any], consumer_tag: str, **options: Any
    ) -> Any:
        """Hand on messages; one that the consumer stumbles over is acknowledged, so that it never comes again."""

        def outliving(message: Any) -> Any:
            try:
                _check(message)
                return callback(message)
            except _OF_THE_LINE:
                raise
            except Exception as problem:
                dropped.note("odd", type(problem).__name__)
                if not message.acknowledged:
                    message.ack()

        return super().basic_consume(queue, no_ack, outliving, consumer_tag, **options)

    def _brpop_read(self, **options: Any) -> Any:
        """Take one message. It has left the queue when it turns out to be unreadable."""
        try:
            return super()._brpop_read(**options)
        except broken.DataError as problem:
            dropped.note("unreadable", type(problem).__name__)
        except _OF_THE_LINE:
            raise
        except Exception as problem:
            dropped.note("unreadable", type(problem).__name__)
        return True


class Transport(library.Transport):  # type: ignore[misc]
    """The library's transport with these channels."""

    Channel = Channel
