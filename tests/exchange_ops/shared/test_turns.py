"""Each round of a sweep begins with another account, and no sweep moves another one's turn."""

import pytest

from exchange_ops.shared import turns
from exchange_ops.shared.models import Account

pytestmark = pytest.mark.django_db


def test_each_round_begins_with_the_next_account_and_leaves_none_out(monkeypatch):
    monkeypatch.setattr(turns, "_rounds", type(turns._rounds)())
    assert turns.accounts("sweep") == []
    a, b, c = (Account.objects.create(name=name) for name in "abc")
    rounds = [turns.accounts("sweep") for _ in range(4)]
    assert rounds == [[a, b, c], [b, c, a], [c, a, b], [a, b, c]]
    assert turns.accounts("another") == [a, b, c], "its own rounds"
    Account.objects.filter(pk=c.pk).delete()
    assert sorted(row.pk for row in turns.accounts("sweep")) == [a.pk, b.pk]
