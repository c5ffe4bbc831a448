"""Tokens made, minted and sent with a private key in the path: what happens, what not, and where the key is not."""

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import requests

from chaindata.wire import keys
from chaindata.wire.addresses import Network
from chaindata.wire.keys import PrivateKey
from sandbox import command
from sandbox.chain.handlers import naming
from sandbox.serving import InProcessSandbox
from sandbox.world.world import World
from tests.sandbox.chain.conftest import ChainService
from tests.sandbox.test_command import Start, start
from tests.sandbox.worlds import Ticking

__all__ = ["start"]  # the fixture

KEY, OTHER = (keys.of_number(number, Network.REGTEST) for number in (0xC0FFEE, 0xDECADE))
WIF = KEY.wif.reveal()
MAIN_WIF = keys.of_number(5, Network.MAIN).wif.reveal()
MAIN_ADDRESS = "simpleledger:qz9tzs6d5097ejpg279rg0rnlhz546q4fsnck9wh5m"
HASH = "ab" * 32
UNKNOWN = "12" * 32


def slp(key: PrivateKey) -> str:
    return naming.printed(key.address).slp_address


def cash(key: PrivateKey) -> str:
    return naming.printed(key.address).cash_address


class Wallet:
    """The three operations, paid by one key."""

    def __init__(self, service: ChainService) -> None:
        self.service = service
        self.box = service.box
        assert self.box is not None
        self.box.control("config", {"non_js_framework": True})
        self.box.control("chain/pay", {"address": cash(KEY), "amount": "1"})

    def url(self, operation: str, *parts: object) -> str:
        return f"/v2/slp/{operation}/" + "/".join(quote(str(part), safe="") for part in parts)

    def create(self, quantity: object = "1000", decimals: object = 2, **more: str) -> requests.Response:
        values = {"funding": slp(KEY), "wif": WIF, "to": slp(KEY), "baton": slp(KEY), "hash": HASH, **more}
        head = (values["funding"], values["wif"], values["to"], values["baton"], cash(KEY), decimals)
        tail = ("Made Here", "MADE", "https://made.example/a?b=c", values["hash"], quantity)
        return self.service.get(self.url("createTokenType1", *head, *tail))

    def created(self, **more: Any) -> str:
        answer = self.create(**more)
        assert answer.status_code == 200, answer.text
        return str(answer.json())

    def mint(self, token_id: str, quantity: object, baton: str = "") -> requests.Response:
        head = (slp(KEY), WIF, slp(KEY), baton or slp(KEY), cash(KEY))
        return self.service.get(self.url("mintTokenType1", *head, token_id, quantity))

    def send(self, token_id: str, amount: object, to: str = "", wif: str = WIF) -> requests.Response:
        return self.service.get(
            self.url("sendTokenType1", slp(KEY), wif, to or slp(OTHER), cash(KEY), token_id, amount)
        )

    def stats(self, token_id: str) -> Any:
        return self.service.good(f"/v2/slp/tokenStats/{token_id}")

    def balance(self, key: PrivateKey, token_id: str) -> object:
        return self.service.good(f"/v2/slp/balance/{slp(key)}/{token_id}")["balance"]


@pytest.fixture
def wallet(service: ChainService) -> Iterator[Wallet]:
    if service.box is None:
        pytest.skip("another server's coins are not given away")
    service.box.control("reset", {"seed": 1})
    yield Wallet(service)
    service.box.control("config", {"non_js_framework": False})


def test_a_token_is_created_minted_and_sent(wallet: Wallet) -> None:
    token_id = wallet.created()
    made = wallet.stats(token_id)
    assert (made["symbol"], made["name"], made["decimals"]) == ("MADE", "Made Here", 2)
    assert (made["documentUri"], made["documentHash"]) == ("https://made.example/a?b=c", HASH)
    assert (made["initialTokenQty"], made["mintingBatonStatus"]) == (1000, "ALIVE")
    assert (made["timestamp"], made["blockCreated"]) == (None, None)
    wallet.box.control("chain/mine", {"blocks": 1})
    minted = wallet.mint(token_id, "0.5").json()
    assert wallet.service.good(f"/v2/slp/validateTxid/{minted}") == {"txid": minted, "valid": True}
    sent = wallet.send(token_id, "999.51").json()
    assert wallet.balance(OTHER, token_id) == 999.51
    assert wallet.balance(KEY, token_id) == 0.99
    wallet.box.control("chain/mine", {"blocks": 1})
    answer = wallet.service.good(f"/v2/slp/txDetails/{sent}")
    assert answer["tokenInfo"]["sendOutputs"] == ["0", "99951", "49"]
    assert (answer["tokenIsValid"], answer["confirmations"]) == (True, 1)
    now = wallet.stats(token_id)
    assert (now["totalMinted"], now["circulatingSupply"], now["totalBurned"]) == (1000.5, 1000.5, 0)
    assert (now["txnsSinceGenesis"], now["validAddresses"], now["mintingBatonStatus"]) == (3, 2, "ALIVE")


def test_no_coin_with_tokens_pays_a_fee(wallet: Wallet) -> None:
    first, second = wallet.created(quantity="7"), wallet.created(quantity="8")
    for _ in range(3):
        assert wallet.send(first, "1").status_code == 200
    assert wallet.mint(second, "1").status_code == 200
    for token_id, quantity in ((first, 7), (second, 9)):
        assert wallet.stats(token_id)["circulatingSupply"] == quantity
        assert wallet.stats(token_id)["mintingBatonStatus"] == "ALIVE"


def test_the_baton_goes_to_its_receiver_who_alone_can_mint(wallet: Wallet) -> None:
    token_id = wallet.created(baton=slp(OTHER))
    assert wallet.stats(token_id)["mintingBatonStatus"] == "ALIVE"
    answer = wallet.mint(token_id, "1")
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "The funding address does not hold the minting baton of the token.",
    )


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda wallet, _: wallet.create(wif=OTHER.wif.reveal()), "The private key is not that of the funding"),
        (lambda wallet, _: wallet.create(wif="nonsense"), "Invalid private key: a character"),
        (lambda wallet, _: wallet.create(wif=MAIN_WIF), "This private key is not for"),
        (lambda wallet, _: wallet.create(funding="nonsense"), "Invalid BCH address. Double check"),
        (lambda wallet, _: wallet.create(to=MAIN_ADDRESS), "Invalid network."),
        (lambda wallet, _: wallet.create(hash="ab"), "documentHash has to have 64 hexadecimal digits"),
        (lambda wallet, _: wallet.create(quantity="0.001"), "initialTokenQty: The amount has more than the token's"),
        (lambda wallet, _: wallet.create(quantity="184467440737095516.16"), "Quantities must be between 0 and"),
        (lambda wallet, _: wallet.create(quantity="-1"), "JSON value is not an integer as expected"),
        (lambda wallet, _: wallet.create(quantity="NaN"), "JSON value is not an integer as expected"),
        (lambda wallet, _: wallet.create(decimals="10"), "JSON value is not an integer as expected"),
        (lambda wallet, _: wallet.create(decimals="two"), "JSON value is not an integer as expected"),
        (lambda wallet, token: wallet.send(token, "1000.01"), "The funding address does not hold as much of"),
        (lambda wallet, token: wallet.send(token, "0"), "The amount has to be more than nothing."),
        (lambda wallet, token: wallet.send(token, "1", to="slptest:x"), "Invalid BCH address."),
        (lambda wallet, _: wallet.send(UNKNOWN, "1"), "tokenId not found"),
        (lambda wallet, _: wallet.mint("nonsense", "1"), "tokenId not found"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_and_nothing_is_sent(
    wallet: Wallet, ask: Callable[[Wallet, str], requests.Response], said: str
) -> None:
    token_id = wallet.created()
    before = wallet.service.good("/v2/blockchain/getRawMempool")
    answer = ask(wallet, token_id)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(said)
    assert wallet.service.good("/v2/blockchain/getRawMempool") == before


def test_an_address_without_coins_can_do_nothing(wallet: Wallet) -> None:
    funds = {"funding": slp(OTHER), "wif": OTHER.wif.reveal()}
    answer = wallet.create(**funds)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("The funding address is short of ")


def test_without_the_setting_there_are_no_such_operations(wallet: Wallet) -> None:
    token_id = wallet.created()
    wallet.box.control("config", {"non_js_framework": False})
    before = wallet.service.good("/v2/blockchain/getRawMempool")
    for answer in (
        wallet.create(),
        wallet.create(decimals="two"),
        wallet.mint(token_id, "1"),
        wallet.send(token_id, "1"),
    ):
        assert (answer.status_code, answer.json()) == (404, {"status": 404, "message": "Not Found"})
    assert wallet.service.good("/v2/blockchain/getRawMempool") == before


def test_a_reset_leaves_the_setting_as_it_is(wallet: Wallet) -> None:
    wallet.box.control("reset", {"seed": 1})
    wallet.box.control("chain/pay", {"address": cash(KEY), "amount": "1"})
    assert wallet.create().status_code == 200


def test_the_key_is_nowhere_but_in_the_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with InProcessSandbox(seed=1, still=True, data_dir=tmp_path, non_js_framework=True) as box:
        service = ChainService(box.url, box)
        wallet = Wallet(service)
        token_id = wallet.created()
        for answer in (
            wallet.send(token_id, "1"),
            wallet.mint(token_id, "1"),
            wallet.create(funding=WIF),
            wallet.create(to=WIF),
            wallet.create(hash=WIF),
            wallet.create(wif=WIF + "1"),
            service.post(wallet.url("sendTokenType1", slp(KEY), WIF, slp(KEY), cash(KEY), token_id, "1"), {}),
            service.get(wallet.url("sendTokenType1", slp(KEY), WIF)),
        ):
            assert WIF not in answer.text
        calls = box.control("calls")
        state = box.control("state")
        service.close()
        assert {each["operation"] for each in calls["calls"]} >= {
            "create_slp_token",
            "mint_slp_token",
            "send_slp_token",
        }
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    written = capfd.readouterr()
    ours = [each.getMessage() for each in caplog.records if not each.name.startswith("urllib3")]  # the client's own log
    for place in (json.dumps(calls), json.dumps(state), kept.decode(), "".join(ours), written.out, written.err):
        assert WIF not in place
        assert KEY.secret.reveal() not in place
    world = World.open(tmp_path, still=True, now_ms=Ticking(2_000_000_000_000))
    assert world.chain.simple_ledger.token(token_id) is not None
    world.close()


def test_a_start_without_the_setting_serves_none_of_them_whatever_the_kept_world_says(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "kept").mkdir()
    world = World.open(tmp_path / "kept", still=True, now_ms=Ticking())
    world.control("config", {"non_js_framework": True})
    world.close()
    running = start()
    assert requests.get(f"{running.url}/v2/slp/sendTokenType1/x/x/x/x/{UNKNOWN}/1", timeout=5).status_code == 404


@pytest.mark.parametrize(
    ("words", "environment", "is_on"),
    [
        ([], None, False),
        ([], "", False),
        ([], "true", True),
        ([], "1", True),
        ([], "False", False),
        (["--non-js-framework"], None, True),
        (["--non-js-framework", "true"], "false", True),
        (["--non-js-framework", "false"], "true", False),
    ],
)
def test_the_option_goes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch, words: list[str], environment: str | None, is_on: bool
) -> None:
    monkeypatch.delenv("NON_JS_FRAMEWORK", raising=False)
    if environment is not None:
        monkeypatch.setenv("NON_JS_FRAMEWORK", environment)
    assert command._parser().parse_args(words).non_js_framework is is_on


def test_an_odd_setting_stops_the_start(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NON_JS_FRAMEWORK", "perhaps")
    with pytest.raises(SystemExit):
        command._parser().parse_args([])
    assert "'perhaps' is not true or false" in capsys.readouterr().err
