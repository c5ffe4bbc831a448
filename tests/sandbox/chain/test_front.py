"""The chain-data service over HTTP: routes, bodies, limits, envelopes (supplement 1.7, 1.10, 7)."""

import base64
import json

import pytest

from sandbox.server.auth import Windows, route_of
from sandbox.server.requests import MOST_CHAIN_BYTES
from tests.sandbox.chain.conftest import ChainService

NOT_FOUND = {"status": 404, "message": "Not Found"}
TOKEN = "11" * 32


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


@pytest.mark.parametrize(
    ("path", "word"),
    [("/v2/block", "block"), ("/v2/cashAccounts/", "cashaccount"), ("/v2/RAWTRANSACTIONS", "rawtransactions")],
)
def test_the_root_of_a_group_says_its_name(service: ChainService, path: str, word: str) -> None:
    assert service.good(path) == {"status": word}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v2/"),
        ("GET", "/v2/nothing/here"),
        ("GET", "/v2/blockchain/getMempoolEntry/"),
        ("GET", "/v2/block/detailsByHeight//"),
        ("DELETE", "/v2/blockchain/getBlockCount"),
        ("POST", "/v2/blockchain/getBlockCount"),
        ("POST", "/v2/block"),
    ],
)
def test_an_unknown_path_method_or_missing_part_is_not_found(service: ChainService, method: str, path: str) -> None:
    answer = service.ask(method, path)
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


def test_letter_case_a_last_slash_and_unknown_queries_do_not_matter(service: ChainService) -> None:
    height = service.good("/v2/blockchain/getBlockCount")
    assert isinstance(height, int)
    for path in (
        "/v2/BlockChain/GETBLOCKCOUNT",
        "/v2/blockchain/getBlockCount/",
        "/V2/blockchain/getblockcount?vebose=1",
    ):
        assert service.good(path) >= height


def test_a_part_that_is_no_text_is_said_to_be_so(service: ChainService) -> None:
    answer = service.get("/v2/block/detailsByHash/%ff%fe")
    assert (answer.status_code, answer.json()["status"]) == (400, 400)
    assert "%ff%fe" in answer.json()["message"].lower()


@pytest.mark.parametrize(
    "body", [b'{"hexes": [', b"nonsense", b"1", b'"x"', b"[" * 60_000, b'{"a": NaN}', b'{"a": "\\ud800"}']
)
def test_a_body_that_is_no_json_is_said_to_be_so(service: ChainService, body: bytes) -> None:
    answer = service.ask(
        "POST", "/v2/rawtransactions/decodeScript", data=body, headers={"Content-Type": "application/json"}
    )
    assert (answer.status_code, answer.json()["status"]) == (400, 400)
    assert answer.json()["message"]


def test_a_body_that_is_too_large_is_not_read(service: ChainService) -> None:
    answer = service.post("/v2/rawtransactions/decodeScript", {"hexes": ["00" * MOST_CHAIN_BYTES]})
    assert (answer.status_code, answer.json()["status"]) == (413, 413)
    assert service.good("/v2/block") == {"status": "block"}


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        ("/v2/blockchain/getBlockHeader", "hashes", "hashes needs to be an array. Use GET for single hash."),
        ("/v2/slp/list", "tokenIds", "tokenIds needs to be an array. Use GET for single tokenId."),
        ("/v2/rawtransactions/sendRawTransaction", "hexes", "hex must be an array"),
        ("/v2/block/detailsByHeight", "heights", "heights needs to be an array. Use GET for single height."),
    ],
)
def test_a_bulk_call_wants_an_array_of_no_more_than_twenty(
    service: ChainService, path: str, name: str, said: str
) -> None:
    for body in ({}, {name: TOKEN}, {name: {"0": TOKEN}}, {name: None}):
        assert service.refused(path, body) == (400, said)
    assert service.refused(path, {name: ["1"] * 21}) == (429, "Array too large.")
    assert service.good(path, {name: []}) == []


def test_a_form_is_taken_too_and_one_value_is_an_array_of_one(service: ChainService) -> None:
    one = service.ask("POST", "/v2/slp/validateTxid/", data={"txids": TOKEN})
    assert [row["txid"] for row in one.json()] == [TOKEN]
    two = service.ask("POST", "/v2/slp/validate", data=[("txids", TOKEN), ("txids", TOKEN)])
    assert [row["txid"] for row in two.json()] == [TOKEN, TOKEN]
    bracket = service.ask("POST", "/v2/slp/validate", data={"txids[]": TOKEN})
    assert [row["txid"] for row in bracket.json()] == [TOKEN]


def test_the_pro_password_raises_the_limit_of_arrays(service: ChainService) -> None:
    def sent(headers: dict[str, str], elements: int) -> int:
        body = json.dumps({"addresses": ["x"] * elements})
        headers = headers | {"Content-Type": "application/json"}
        return service.ask("POST", "/v2/util/validateAddress", data=body, headers=headers).status_code

    assert sent(basic("BITBOX", "BITBOX"), 100) == 400
    assert sent(basic("BITBOX", "BITBOX"), 101) == 429
    assert sent(basic("BITBOX", "wrong"), 21) == 429
    assert sent({"Authorization": "Basic !"}, 21) == 429


def test_every_answer_may_be_read_from_other_origins(service: ChainService) -> None:
    for path in ("/v2/block", "/v2/nothing", "/v2/blockchain/getBlockCount", "/v2/block/detailsByHash/x"):
        headers = service.get(path).headers
        assert (headers["access-control-allow-origin"], headers["x-content-type-options"]) == ("*", "nosniff")
    preflight = service.ask("OPTIONS", "/v2/blockchain/getBlockCount")
    assert (preflight.status_code, "POST" in preflight.headers["access-control-allow-methods"]) == (204, True)
    head = service.ask("HEAD", "/v2/blockchain/getBlockCount")
    assert (head.status_code, head.content) == (200, b"")


def test_a_window_counts_a_route_and_ends_as_a_whole() -> None:
    now_s = [1_000]
    windows = Windows(lambda: now_s[0])
    route = route_of("GET", "/v2/Block/detailsByHeight/5")
    assert route == route_of("GET", "/v2/block/detailsbyheight/6/") != route_of("POST", "/v2/block/detailsByHeight")
    assert [windows.count("a", route, 2).is_allowed for _ in range(3)] == [True, True, False]
    assert windows.count("b", route, 2).is_allowed
    now_s[0] = 1_059
    assert windows.count("a", route, 2).headers()[2] == ("X-RateLimit-Reset", "1060")
    now_s[0] = 1_060
    assert windows.count("a", route, 2).headers() == (
        ("X-RateLimit-Limit", "2"),
        ("X-RateLimit-Remaining", "1"),
        ("X-RateLimit-Reset", "1120"),
    )


def test_the_limit_is_off_until_it_is_switched_on(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("another server has its own limits")
    assert "X-RateLimit-Limit" not in service.get("/v2/util/validateAddress/x").headers
    service.box.control("config", {"chain_rate_limit": 2})
    try:
        path = "/v2/util/validateAddress/x"
        assert [service.get(path).status_code for _ in range(2)] == [200, 200]
        late = service.get(path)
        assert (late.status_code, late.headers["X-RateLimit-Remaining"]) == (429, "0")
        assert late.json() == {"error": "Too many requests. Limits are 2 requests per minute."}
        assert service.get(path, headers=basic("BITBOX", "BITBOX")).status_code == 200
        assert service.get("/v2/blockchain/getBlockCount").status_code == 200
    finally:
        service.box.control("config", {"chain_rate_limit": 0})


def test_faults_speak_as_the_service_does_and_are_armed_for_it_alone(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("faults are the sandbox's")
    box, path = service.box, "/v2/blockchain/getBlockCount"
    box.control("faults", {"operation": "*", "kind": "status", "status": 500})
    assert service.get(path).status_code == 200
    box.control("faults", method="DELETE")
    for fault, status, text in (
        ({"kind": "refuse", "code": 404, "description": "Not found"}, 404, "Not found"),
        ({"kind": "status", "status": 503}, 503, "Network error: Could not communicate with full node"),
        ({"kind": "rate_limit"}, 429, "Too many requests. Limits are 60 requests per minute."),
    ):
        for operation in ("get_block_count", "chain/*"):
            box.control("faults", {"operation": operation, **fault})
            answer = service.get(path)
            assert answer.status_code == status
            assert answer.json()["error"].startswith(text)
            assert service.get(path).status_code == 200
    with pytest.raises(ValueError, match="HTTP status from 400 to 599"):
        box.control("faults", {"operation": "get_block_count", "kind": "refuse", "code": 10001})


def test_calls_are_listed_without_the_path_of_a_private_key(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("the log of calls is the sandbox's")
    key = "cVPPsHbVpg6mFzgkwoC8pBCrYCr3wHvLGCW9NRqsDXZpK2dVUZyP"
    service.get(f"/v2/slp/sendTokenType1/slptest:a/{key}/slptest:b/bchtest:c/{TOKEN}/1?q={key}")
    service.get("/v2/blockchain/getBlockCount")
    listed = service.box.control("calls")
    assert key not in json.dumps(listed)
    last = listed["calls"][-1]
    assert (last["operation"], last["path"]) == ("get_block_count", "/v2/blockchain/getBlockCount")
    assert (last["executed"], last["answer"]["status"]) == (True, 200)
