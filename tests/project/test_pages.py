"""How a request reaches a page: whole, bounded, in a fixed number of threads, nothing smuggled in by headers."""

import asyncio
import re
import threading

import pytest

from project.pages import PagesInThreads


def echo(environ, start_response):
    """A page that says what it was given."""
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Type", "text/plain")])
    proto = environ.get("HTTP_X_FORWARDED_PROTO", "-")
    return [f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {proto} ".encode(), body]


def ask(application, *messages, headers=(), query=b"", silence_after=False):
    """Send one request, given as ASGI messages; (status, body) of the answer."""
    sent = []
    waiting = list(messages or [{"type": "http.request", "body": b"", "more_body": False}])

    async def receive():
        if waiting:
            return waiting.pop(0)
        if silence_after:
            await asyncio.sleep(60)
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/probe/",
        "query_string": query,
        "headers": list(headers),
    }
    asyncio.run(application(scope, receive, send))
    if not sent:
        return None, b""
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


@pytest.fixture
def pages():
    return PagesInThreads(echo, threads=2, body_limit=10, body_seconds=1)


def part(body, *, more):
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_in_pieces_arrives_whole(pages):
    assert ask(pages, part(b"one ", more=True), part(b"two", more=False)) == (200, b"POST /probe/ - one two")


def test_a_body_at_the_limit_passes_and_one_byte_more_does_not(pages):
    assert ask(pages, part(b"x" * 10, more=False))[0] == 200
    assert ask(pages, part(b"x" * 11, more=False))[0] == 413


def test_pieces_count_together(pages):
    assert ask(pages, *[part(b"xxxx", more=True)] * 3)[0] == 413


def test_only_the_named_path_takes_more_and_not_without_a_limit():
    pages = PagesInThreads(echo, threads=1, body_limit=3, body_seconds=1, larger={re.compile("/probe/"): 10})
    assert ask(pages, part(b"x" * 10, more=False))[0] == 200
    assert ask(pages, part(b"x" * 11, more=False))[0] == 413
    elsewhere = PagesInThreads(echo, threads=1, body_limit=3, body_seconds=1, larger={re.compile("/prob"): 10})
    assert ask(elsewhere, part(b"x" * 4, more=False))[0] == 413


def test_few_larger_bodies_are_read_at_once_and_others_pass_by():
    pages = PagesInThreads(echo, threads=1, body_limit=3, body_seconds=60, larger={re.compile("/files/"): 10})

    async def whole():
        return part(b"x", more=False)

    async def status(path, receive):
        sent = []

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": path, "query_string": b""}
        await pages({**scope, "headers": []}, receive, send)
        return sent[0]["status"]

    async def many():
        arrives = asyncio.Event()

        async def slow():
            await arrives.wait()
            return part(b"x", more=False)

        large = [asyncio.create_task(status("/files/", receive)) for receive in (slow, slow, slow, slow, whole)]
        await asyncio.sleep(0)
        beside = await status("/probe/", whole)
        assert not any(task.done() for task in large)
        arrives.set()
        return beside, await asyncio.gather(*large)

    assert asyncio.run(many()) == (200, [200] * 5)


@pytest.mark.parametrize("stated", [b"11", b"99999999999999999999", b"-1", b"ten", b"1e1"])
def test_a_stated_length_is_refused_before_anything_is_read(pages, stated):
    status, body = ask(pages, headers=[(b"content-length", stated)], silence_after=True)
    assert status == 413
    assert b"10 bytes" in body


def test_a_slow_sender_is_ended_and_holds_no_thread(pages):
    status, body = ask(pages, part(b"x", more=True), silence_after=True)
    assert status == 408
    assert b"within 1 seconds" in body
    assert not pages._threads._threads, "no thread has been needed yet"


def test_a_sender_that_left_gets_nothing_run():
    ran = []
    pages = PagesInThreads(lambda environ, start: ran.append(environ), threads=1, body_limit=10, body_seconds=1)
    assert ask(pages, part(b"x", more=True)) == (None, b"")
    assert ran == []


def test_a_header_with_an_underscore_is_not_taken_for_the_proxys(pages):
    spoofed = [(b"x_forwarded_proto", b"https")]
    assert ask(pages, headers=spoofed)[1].split()[2] == b"-"
    assert ask(pages, headers=[(b"x-forwarded-proto", b"https")])[1].split()[2] == b"https"


def test_an_address_that_is_no_address_is_refused(pages):
    assert ask(pages, query=b"q=\xff\xfe")[0] == 400


def test_pages_run_in_a_fixed_number_of_threads():
    seen = set()
    both = threading.Barrier(2, timeout=5)

    def slow(environ, start_response):
        seen.add(threading.current_thread().name)
        both.wait()
        start_response("200 OK", [])
        return [b"done"]

    pages = PagesInThreads(slow, threads=2, body_limit=10, body_seconds=5)

    async def many():
        async def one():
            sent = []

            async def receive():
                return part(b"", more=False)

            async def send(message):
                sent.append(message)

            scope = {
                "type": "http",
                "http_version": "1.1",
                "method": "GET",
                "path": "/",
                "query_string": b"",
                "headers": [],
            }
            await pages(scope, receive, send)
            return sent[0]["status"]

        return await asyncio.gather(*(one() for _ in range(8)))

    assert asyncio.run(many()) == [200] * 8
    assert len(seen) == 2


def test_an_answer_is_whole_before_its_reader_gets_any_and_is_closed():
    closed = []

    class Answer:
        def __iter__(self):
            yield b"one "
            assert closed == []
            yield b"two"

        def close(self):
            closed.append(True)

    def page(environ, start_response):
        start_response("201 Created", [("X-Kept", "yes"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
        return Answer()

    pages = PagesInThreads(page, threads=1, body_limit=10, body_seconds=1)
    assert ask(pages) == (201, b"one two")
    assert closed == [True]


def test_a_slow_reader_holds_no_thread():
    pages = PagesInThreads(echo, threads=1, body_limit=10, body_seconds=5)

    async def scene():
        reading = asyncio.Event()

        async def receive():
            return part(b"", more=False)

        async def slow_send(message):
            await reading.wait()

        answered = []

        async def send(message):
            answered.append(message)

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "headers": [],
        }
        stuck = asyncio.create_task(pages(scope, receive, slow_send))
        await asyncio.wait_for(pages(dict(scope), receive, send), 5)
        assert answered[0]["status"] == 200
        assert not stuck.done()
        reading.set()
        await stuck

    asyncio.run(scene())


def test_a_page_that_fails_fails_loudly_and_frees_its_thread():
    def page(environ, start_response):
        raise RuntimeError("a page that its framework did not catch")

    pages = PagesInThreads(page, threads=1, body_limit=10, body_seconds=1)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="did not catch"):
            ask(pages)
