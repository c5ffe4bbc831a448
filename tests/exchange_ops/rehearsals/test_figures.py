"""The figures of a rehearsal: what the desk writes is what its sandbox answers, and an odd file is refused."""

import contextlib
import json
import shutil
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.client import ExchangeClient
from exchange_ops.market.models import Currency, Symbol
from exchange_ops.market.reference import refresh
from exchange_ops.rehearsals import files, writing
from exchange_ops.subaccounts.models import SubAccountBalance
from exchange_ops.wire import refusals
from sandbox.serving import InProcessSandbox
from sandbox.world.figures import reading
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from wire.transport import Credentials, Transport
from wire.values import Secret

pytestmark = pytest.mark.django_db


@pytest.fixture
def figures(make_person, tmp_path):
    """The file of a desk with coins that the sandbox lists and one that it doesn't, a sub-account and open orders."""
    make_person("operator")
    for code, changes in {"BCH": {}, "ZED": {"precision_payout": 6, "payout_fee": Decimal("0.25")}}.items():
        rows.currency(code, **changes)
        rows.price(code, last={"BCH": "500", "ZED": "0.75"}[code])
        rows.balance(code)
    rows.currency("USD", crypto=False, payin_enabled=False)
    rows.balance("USD", bank="1000000.5", trading="50000")
    SubAccountBalance.objects.create(
        sub_account=rows.subaccount(), currency="BCH", wallet="main", available=Decimal("1.5"), reserved=Decimal("0.5")
    )
    order = {
        "side": "buy",
        "symbol": "BCHUSD",
        "quantity": Decimal(3),
        "cum_quantity": Decimal(1),
        "price": Decimal("450.25"),
    }
    order_rows.elsewhere(now=rows.NOW, number=1, **order)
    order_rows.elsewhere(now=rows.NOW, number=2, **order, time_in_force="GTD")
    path = tmp_path / files.FILE_NAME
    written = writing.write(path, now=clock.now())
    assert "1 open order" in next(iter(written.sentences()))
    return path


def client_of(sandbox, key="read"):
    login = f"rehearsal-1-{key}"
    credentials = Credentials(login, Secret(f"{login}-secret"))
    transport = Transport(base_url=sandbox.url, credentials=credentials, deadline_s=5, refusals=refusals.NOTHING_DONE)
    return contextlib.closing(ExchangeClient(transport))


def held(listing):
    return {
        each.currency: (each.available, each.reserved) for each in listing.records if each.available or each.reserved
    }


def test_a_sandbox_answers_the_figures_of_the_desk_and_does_so_after_a_restart(figures, tmp_path):
    described = list(Currency.objects.order_by("code").values())
    symbols = list(Symbol.objects.order_by("code").values())
    place = tmp_path / "world"
    place.mkdir()
    with InProcessSandbox(figures=reading.read(figures), data_dir=place) as sandbox:
        assert not sandbox.world.warnings
        with client_of(sandbox) as client, client_of(sandbox, "trade") as trader:
            bank, trading = held(client.get_balances()), held(trader.get_trading_balances())
            assert bank == {"BCH": (500, 0), "ZED": (500, 0), "USD": (Decimal("1000000.5"), 0)}
            assert {code: sum(pair) for code, pair in trading.items()} == {"BCH": 10, "ZED": 10, "USD": 50000}
            assert trading["USD"][1] >= Decimal("900.5")
            (order,) = trader.get_orders().records
            assert (order.symbol, order.quantity, order.price) == ("BCHUSD", 2, Decimal("450.25"))
            refresh(client=client, now=rows.NOW.replace(year=2027))
            prices = {each.symbol: each for each in client.get_tickers().records}
        assert Decimal("499.5") < prices["BCHUSD"].bid < prices["BCHUSD"].ask < Decimal("500.5")
    again = [list(model.objects.order_by("code").values()) for model in (Currency, Symbol)]
    for before, after in zip((*described, *symbols), (*again[0], *again[1]), strict=True):
        assert before | {"read_at": None} == after | {"read_at": None}
    figures.unlink()
    with (
        InProcessSandbox(data_dir=place) as sandbox,
        client_of(sandbox) as client,
        client_of(sandbox, "trade") as trader,
    ):
        assert held(client.get_balances()) == bank
        assert held(trader.get_trading_balances()) == trading


def changed(content, path, value):
    at = content
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("version",), 2, "has version 2 of the format"),
        (("format",), "a recipe", "no file of figures"),
        (("exchange", "currencies", 0, "payout_fee"), "-1", "odd value"),
        (("exchange", "currencies", 0, "usd"), "0", "a step or a price below"),
        (("exchange", "currencies", 0, "code"), "BCH\n", "odd value"),
        (("exchange", "accounts", 0, "balances"), {"BCH": ["1e9", "0"]}, "odd value"),
        (("exchange", "accounts", 0, "balances"), {"XYZ": ["1", "0"]}, "uses XYZ, which it does not describe"),
        (("exchange", "symbols", 0, "tick_size"), "0.0000000000000000001", "a step or a price below"),
        (("exchange", "extra"), 1, "odd value"),
    ],
)
def test_a_sandbox_refuses_an_odd_or_old_file(figures, path, value, sentence):
    figures.write_text(json.dumps(changed(json.loads(figures.read_text()), path, value)))
    with pytest.raises(reading.CannotReadFigures, match=sentence):
        reading.read(figures)


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("version",), 0, "has version 0 of the format"),
        (("format",), None, "odd value"),
        (("desk", "people"), [], "odd value"),
        (("desk", "people", 0, "password"), "pbkdf2", "odd value"),
        (("desk", "accounts", 0, "name"), "", "odd value"),
    ],
)
def test_a_desk_refuses_an_odd_or_old_file(figures, path, value, sentence):
    figures.write_text(json.dumps(changed(json.loads(figures.read_text()), path, value)))
    with pytest.raises(files.CannotReadFile, match=sentence):
        files.read(figures)


def test_a_file_that_is_none_is_refused_by_both(tmp_path):
    path = tmp_path / "figures.json"
    for raw in (b"", b"[]", b"\xff\xfe", b"{"):
        path.write_bytes(raw)
        with pytest.raises(reading.CannotReadFigures):
            reading.read(path)
        with pytest.raises(files.CannotReadFile):
            files.read(path)
    shutil.rmtree(tmp_path)
    with pytest.raises(files.CannotReadFile, match=r"can't be read.*Nothing was loaded"):
        files.read(path)
