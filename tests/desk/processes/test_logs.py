"""Log lines: no secrets in them, and one event stays one line."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog

from desk.processes import logs, request_ids
from wire.values import Secret

WIF = "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"
PRIVATE_HEX = "0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d"


@pytest.fixture
def lines(settings: Any) -> Iterator[Callable[[str], list[str]]]:
    """Configure the log in one of its two shapes; the returned function gives back what was written."""
    root = logging.getLogger()
    kept = root.handlers[:], root.level
    stream = io.StringIO()

    def start(shape: str) -> list[str]:
        settings.LOG_FORMAT, settings.LOG_LEVEL = shape, "INFO"
        logs.configure({})
        root.handlers[0].setStream(stream)  # type: ignore[attr-defined]
        return written

    class Written(list[str]):
        def __iter__(self) -> Iterator[str]:
            return iter(stream.getvalue().splitlines())

    written = Written()
    yield start
    root.handlers[:], root.level = kept


@pytest.mark.parametrize("shape", ["plain", "json"])
@pytest.mark.parametrize(
    ("event", "members"),
    [
        ("call", {"headers": {"Authorization": "Basic ZGVtby1mdWxsOmRlbW8tZnVsbC1zZWNyZXQ="}}),
        ("call with Basic ZGVtby1mdWxsOmRlbW8tZnVsbC1zZWNyZXQ= inside", {}),
        ("call", {"detail": ["Bearer csn_kf83nfk39fkd93kfkd93kfk39f"]}),
        ("call", {"path": f"/v2/slp/sendTokenType1/{WIF}/simpleledger:x"}),
        ("key", {"found": PRIVATE_HEX}),
        ("key", {"api_key": "demo-full-secret"}),
        ("key", {"deep": {"deeper": [{"password": "demo-full-secret"}]}}),
        ("key", {"secret": Secret("demo-full-secret")}),
        ("key", {"value": Secret("demo-full-secret")}),
        ("address", {"url": "redis://user:demo-full-secret@host/0"}),
        ("sealed v1:demo:AAAABBBBCCCCDDDDEEEEFFFFGGGG:AAAABBBBCCCC", {}),
    ],
)
def test_secrets_are_hidden_by_name_and_by_shape(
    lines: Callable[[str], list[str]], shape: str, event: str, members: dict[str, Any]
) -> None:
    written = lines(shape)
    structlog.get_logger("test").warning(event, **members)
    logging.getLogger("a.library").warning("%s %s", event, members)
    text = "\n".join(written)
    assert len(text.splitlines()) == 2
    for secret in ("ZGVtby1mdWxs", "kf83nfk39", WIF, PRIVATE_HEX[8:], "demo-full-secret", "DDDDEEEE"):
        assert secret not in text.splitlines()[0]
    for secret in ("ZGVtby1mdWxs", "kf83nfk39", WIF, PRIVATE_HEX[8:], "user:demo-full-secret", "DDDDEEEE"):
        assert secret not in text.splitlines()[1]


def test_the_desks_own_keys_are_hidden(lines: Callable[[str], list[str]], settings: Any) -> None:
    written = lines("plain")
    settings.KEY_RING = "demo:c2VjcmV0LXJpbmcta2V5LW9mLXRoaXJ0eS10d28tYj0="
    structlog.get_logger("test").error(f"odd setting {settings.SECRET_KEY} and {settings.KEY_RING}")
    text = "\n".join(written)
    assert settings.SECRET_KEY not in text
    assert "c2VjcmV0LXJpbmc" not in text


@pytest.mark.parametrize(
    "hostile", ["a\n12:00:00 info signed in", "a\r\nb", "a\x1b[2Jb", "a\u2028b", "a\x00b", "a\x85b"]
)
@pytest.mark.parametrize("shape", ["plain", "json"])
def test_one_event_is_one_line(lines: Callable[[str], list[str]], shape: str, hostile: str) -> None:
    written = lines(shape)
    structlog.get_logger("test").warning("refused", name=hostile, **{"k" + hostile: 1})
    logging.getLogger("a.library").warning(hostile)
    assert len(list(written)) == 2
    assert not any(odd in "\n".join(written) for odd in ("\x1b", "\u2028", "\x00", "\x85", "\r"))


@pytest.mark.parametrize("shape", ["plain", "json"])
def test_tracebacks_are_kept_without_looking_like_events(lines: Callable[[str], list[str]], shape: str) -> None:
    written = lines(shape)
    try:
        raise ValueError(f"line one\n12:00:00 info forged {WIF}")
    except ValueError:
        structlog.get_logger("test").exception("failed")
    text = "\n".join(written)
    assert "ValueError" in text
    assert WIF not in text
    assert all(line.startswith(("    | ", "{")) for line in list(written)[0 if shape == "json" else 1 :])


@pytest.mark.parametrize("shape", ["plain", "json"])
def test_a_request_for_another_host_is_one_line(lines: Callable[[str], list[str]], client: Any, shape: str) -> None:
    written = lines(shape)
    assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 400
    rows = [line for line in written if "elsewhere.example" in line]
    assert len(rows) == 1
    assert "Traceback" not in "\n".join(written)


def test_json_lines_can_be_read_by_machines(lines: Callable[[str], list[str]]) -> None:
    written = lines("json")
    token = request_ids.enter("request-0042")
    structlog.get_logger("test").info("moved", withdrawal=12, txid=PRIVATE_HEX, ok=True)
    request_ids.leave(token)
    (line,) = written
    read = json.loads(line)
    assert read["event"] == "moved"
    assert read["withdrawal"] == 12
    assert read["ok"] is True
    assert read["request_id"] == "request-0042"
    assert read["txid"] == "0c28fc…"
    assert read["level"] == "info"


def test_a_huge_value_is_cut(lines: Callable[[str], list[str]]) -> None:
    written = lines("plain")
    structlog.get_logger("test").info("big", body="x" * 1_000_000)
    assert len("\n".join(written)) < 5_000


@pytest.mark.parametrize("shape", ["plain", "json"])
def test_a_long_traceback_is_cut_at_its_beginning_and_still_names_the_cause(
    lines: Callable[[str], list[str]], shape: str
) -> None:
    written = lines(shape)
    try:
        raise ValueError("f" * 100 + "\n" * 4_000 + f"the cause of it all, {WIF}")
    except ValueError:
        structlog.get_logger("test").exception("failed")
    text = "\n".join(written)
    assert "the cause of it all" in text
    assert "f" * 100 not in text
    assert WIF not in text
