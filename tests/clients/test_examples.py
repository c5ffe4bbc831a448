"""Every example of the client's README and of the API's page is run against a live desk."""

import json
import shutil
from pathlib import Path

import pytest

from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.models import Withdrawal
from tests.clients import examples
from tests.exchange_ops import rows

README = Path(__file__).parents[2] / "clients" / "python" / "README.md"
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")


@pytest.fixture
def surroundings(live_desk, payable, make_person, token_of, monkeypatch):
    """What the examples take from the environment, and rows for them to find."""
    rows.currency(transfer_enabled=True)
    rows.entry(1, currency="BCH")
    monkeypatch.setenv("DESK", live_desk.url)
    monkeypatch.setenv("TOKEN", token_of(make_person("operator")))


@needs_curl
def test_the_examples_of_the_readme_do_what_they_say(surroundings, capsys):
    blocks = examples.of_markdown(README.read_text())
    assert ([kind for kind, _ in blocks].count("python"), [kind for kind, _ in blocks].count("bash")) == (7, 2)
    answers = examples.run(blocks)
    assert sorted(Withdrawal.objects.values_list("reason", flat=True)) == [f"Invoice {n}" for n in (2041, 2042, 2043)]
    assert Transfer.objects.count() == 1
    assert json.loads(answers[0])["request_key"] == "invoice-2043"
    assert "items" in json.loads(answers[1])
    assert "Nothing was sent." in capsys.readouterr().out
