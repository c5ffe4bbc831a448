"""How calls of the chain-data service leave and come back: errors, limits, pieces, and sending once."""

import json

import pytest

from chaindata.client import Absent, Busy, ChainClient, Declined, TooManyAtOnce, UnknownOperation, open_transport
from chaindata.client.limits import Window
from chaindata.wire import transactions
from tests.chaindata.conftest import Service
from tests.chaindata.small_chain import payment
from tests.exchange_ops.wire import golden
from wire.errors import BadReply, OutcomeUnknown, Unreachable

TXID = "fe28050b93faea61fa88c4c630f0e1f0a1c24d0082dd0e10d369e13212128f33"
PAID = payment(1, [(1_000, b"\x51")])


@pytest.fixture(scope="module")
def running():
    service = Service()
    yield service
    service.stop()


@pytest.fixture
def service(running):
    running.answers, running.headers = {}, {}
    running.calls.clear()
    running.bodies.clear()
    return running


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now_ms = 1_000_000
        self.slept = []

    def unix_ms(self):
        return self.now_ms

    def sleep_ms(self, length_ms):
        self.slept.append(length_ms)
        self.now_ms += length_ms


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def client(service, clock):
    transport = open_transport(base_url=service.url, deadline_s=10)
    client = ChainClient(transport, unix_ms=clock.unix_ms, sleep_ms=clock.sleep_ms)
    yield client
    client.close()


def test_a_token_whose_name_holds_a_nul_hides_no_other(service, client):
    """Anybody can make one."""
    first = golden.files("chaindata")["get_slp_tokens"]["reply"][0]
    names = ["a\0b", "a\\u0000b", "\\\0", "plain"]
    service.answers["/slp/list"] = (200, [{**first, "name": name} for name in names])
    assert [token.name for token in client.call("get_slp_tokens")] == ["a\ufffdb", "a\\u0000b", "\\\ufffd", "plain"]


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "kind", "sentence"),
    [
        ((400, {"error": "Block not found"}), Absent, "Block not found"),
        ((404, {"error": "Not found"}), Absent, "Not found"),
        ((500, {"error": "No account could be found with the requested parameters."}), Absent, "No account could"),
        ((400, {"error": "Property identifier is out of range"}), Declined, "out of range"),
        ((400, {"status": 400, "message": "Unexpected token"}), Declined, "Unexpected token"),
        ((500, {"error": {"code": -28, "message": "Loading"}}), Unreachable, "Loading"),
        ((500, {"error": "boom"}), Unreachable, "status 500: boom"),
        ((500, b""), Unreachable, "status 500"),
        ((301, b""), BadReply, "status 301"),
        ((401, b"<html>login</html>"), BadReply, "status 401"),
        ((204, b""), BadReply, "status 204"),
        ((404, b"<html>"), BadReply, "status 404"),
        ((429, {"error": "Array too large."}), TooManyAtOnce, "Array too large."),
    ],
)
def test_an_error_is_understood_by_what_to_do_next(service, client, answer, kind, sentence):
    service.answers["/blockchain/getBlockCount"] = answer
    with pytest.raises(kind) as caught:
        client.call("get_block_count")
    assert type(caught.value) is kind
    assert sentence in str(caught.value)


def test_an_error_text_is_cut_and_can_steer_no_terminal(service, client):
    service.answers["/blockchain/getBlockCount"] = (400, {"error": "\x1b[31m" + "x" * 5000})
    with pytest.raises(Declined) as caught:
        client.call("get_block_count")
    assert len(str(caught.value)) <= 200
    assert "\x1b" not in str(caught.value)


def test_a_name_that_is_none_and_a_call_with_a_key_are_refused_here(client, service):
    for name in ("get_blocks", "send_slp_token"):
        with pytest.raises(UnknownOperation):
            client.call(name)
    assert service.calls == []


# Limits ---------------------------------------------------------------------------------------------------------------


def test_a_call_that_came_too_early_waits_for_the_window_and_is_made_again(service, client, clock):
    service.headers = {"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1004"}
    answers = iter([(429, {"error": "Too many requests."}), (200, 211)])
    service.answers["/blockchain/getBlockCount"] = lambda body: next(answers)
    assert client.call("get_block_count") == 211
    assert clock.slept == [4_100]
    assert len(service.calls) == 2


def test_a_window_that_ends_too_late_is_told(service, client, clock):
    service.headers = {"X-RateLimit-Reset": "1055"}
    service.answers["/blockchain/getBlockCount"] = (429, {"error": "Too many requests."})
    with pytest.raises(Busy) as caught:
        client.call("get_block_count")
    assert (caught.value.until_s, clock.slept, len(service.calls)) == (1055, [], 1)


@pytest.mark.parametrize("reset", ["", "soon", "-5", "0", "1", "1e9", "٣", "9" * 400])
def test_a_window_that_nobody_understands_costs_a_second_each_time(service, client, clock, reset):
    service.headers = {"X-RateLimit-Reset": reset.encode().decode("latin-1")}
    service.answers["/blockchain/getBlockCount"] = (429, {"error": "Work queue depth exceeded"})
    with pytest.raises(Busy):
        client.call("get_block_count")
    assert set(clock.slept) == {1_000}
    assert len(service.calls) <= 10


def test_headers_are_read_as_far_as_they_are_whole_numbers():
    assert Window.from_headers({"X-RateLimit-Limit": "60", "X-RateLimit-Remaining": " 7 "}) == Window(60, 7, None)


def test_a_node_that_is_away_for_a_moment_is_asked_again(service, client):
    answers = iter([(503, {"error": "Network error"}), (200, 5)])
    service.answers["/blockchain/getBlockCount"] = lambda body: next(answers)
    assert client.call("get_block_count") == 5


def test_a_node_that_is_away_when_the_window_is_used_up_is_asked_in_the_next_one(service, client, clock):
    answers = iter([(503, b"")] * 4 + [(200, 5)])
    service.answers["/blockchain/getBlockCount"] = lambda body: next(answers)
    service.headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1007"}
    assert client.call("get_block_count") == 5
    assert clock.slept == [7_100]


# Bulks ----------------------------------------------------------------------------------------------------------------


def validity(txid):
    return {"txid": txid, "valid": True}


def test_a_bulk_goes_out_in_pieces_of_twenty_and_comes_back_by_id(service, client):
    ids = [f"{n:064x}" for n in range(45)]
    service.answers["/slp/validateTxid"] = lambda body: [validity(each) for each in sorted(set(body["txids"]))[::-1]]
    found = client.parts("validate_slp_transactions", [*ids, ids[3], ids[0]])
    assert [len(body["txids"]) for body in service.bodies] == [20, 20, 5], "none is asked for twice"
    assert list(found) == ids
    assert all(json.loads(found[each])["txid"] == each for each in ids)


def test_two_spellings_of_one_id_both_have_their_answer(service, client):
    service.answers["/slp/validateTxid"] = [validity(TXID)]
    found = client.parts("validate_slp_transactions", [TXID, TXID.upper()])
    assert set(found) == {TXID, TXID.upper()}


def test_what_was_not_answered_or_not_asked_for_is_not_there(service, client):
    other = "ab" * 32
    service.answers["/slp/validateTxid"] = [validity(TXID), validity("cd" * 32)]
    assert list(client.parts("validate_slp_transactions", [other, TXID])) == [TXID]


def test_a_bulk_without_ids_must_have_as_many_answers_as_questions(service, client):
    service.answers["/rawtransactions/decodeScript"] = [{"asm": "1", "type": "nonstandard"}]
    with pytest.raises(BadReply):
        client.parts("decode_scripts", ["51", "52"])


def test_a_piece_that_is_too_large_is_halved(service, client):
    service.answers["/slp/validateTxid"] = lambda body: (
        (429, {"error": "Array too large."}) if len(body["txids"]) > 4 else [validity(each) for each in body["txids"]]
    )
    ids = [f"{n:064x}" for n in range(9)]
    assert list(client.parts("validate_slp_transactions", ids)) == ids
    assert [len(body["txids"]) for body in service.bodies] == [9, 4, 5, 2, 3]


def test_a_raw_transaction_is_known_by_its_bytes(service, client):
    other = payment(2, [(5, b"\x51")])
    service.answers["/rawtransactions/getRawTransaction"] = [other.raw.hex(), PAID.raw.hex()]
    found = client.parts("get_raw_transactions", [PAID.txid, other.txid])
    assert {txid: transactions.read(bytes.fromhex(json.loads(raw))).txid for txid, raw in found.items()} == {
        PAID.txid: PAID.txid,
        other.txid: other.txid,
    }
    service.answers["/rawtransactions/getRawTransaction"] = ["zz", PAID.raw.hex()]
    with pytest.raises(BadReply):
        client.parts("get_raw_transactions", [PAID.txid, other.txid])


# Sending --------------------------------------------------------------------------------------------------------------


def test_a_refusal_of_several_is_an_unknown_outcome(service, client):
    """Those before the refused one stay sent."""
    service.answers["/rawtransactions/sendRawTransaction"] = (400, {"error": "Missing inputs"})
    with pytest.raises(OutcomeUnknown):
        client.call("send_raw_transactions", hexes=[PAID.raw.hex()])
    assert len(service.calls) == 1


LONG = payment(3, [(1_000, b"\x6a" + b"\x01\x00" * 5_000)])


def test_a_long_transaction_travels_in_a_body_and_its_refusal_is_certain(service, client):
    path = "/rawtransactions/sendRawTransaction"
    service.answers[path] = [LONG.txid]
    assert client.send_raw_transaction(raw=LONG.raw.hex()) == LONG.txid
    assert (service.calls, service.bodies) == ([f"POST {path}"], [{"hexes": [LONG.raw.hex()]}])
    service.answers[path] = (400, {"error": "scriptpubkey (code 64)"})
    with pytest.raises(Declined, match="scriptpubkey"):
        client.send_raw_transaction(raw=LONG.raw.hex())
    service.answers[path] = (500, {"error": "scriptpubkey"})
    with pytest.raises(OutcomeUnknown):
        client.send_raw_transaction(raw=LONG.raw.hex())


def test_a_transaction_that_no_call_has_room_for_is_not_sent(service, client):
    with pytest.raises(Unreachable, match="exceeds"):
        client.send_raw_transaction(raw="00" * 50_001)
    assert service.calls == []


# Other servers --------------------------------------------------------------------------------------------------------


def test_the_wrapped_details_of_the_last_servers_read_as_the_documented_ones(service, client):
    flat = golden.files("chaindata")["get_slp_transaction"]["reply"]
    wrapped = {"retData": {name: value for name, value in flat.items() if not name.startswith("token")}}
    wrapped |= {name: value for name, value in flat.items() if name.startswith("token")}
    path = f"/slp/txDetails/{flat['txid']}"
    service.answers[path] = flat
    documented = client.call("get_slp_transaction", txid=flat["txid"])
    service.answers[path] = wrapped
    assert client.call("get_slp_transaction", txid=flat["txid"]) == documented
    for odd in (b"", b"[]", b'{"retData": 7}', b'{"retData": {}}', b"[" * 5000):
        service.answers[path] = (200, odd)
        with pytest.raises(BadReply):
            client.call("get_slp_transaction", txid=flat["txid"])
