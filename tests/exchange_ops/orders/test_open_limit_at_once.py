"""Two orders at once at the limit of open orders: the second sees the first, whichever that is."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, get_ident

import pytest
from django.db import connection

from exchange_ops.orders import policy_checks
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import CannotPlace
from tests.exchange_ops.orders.test_bounds import ask, market, publish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]
__all__ = ["market"]  # a fixture


@pytest.mark.parametrize("run", range(3))
def test_exactly_one_of_two_that_race_for_the_last_place_is_taken(operator, run, monkeypatch):
    publish(("open", 3, None, None, "refuse"))
    ask(operator, key="the-first")
    ask(operator, key="the-second")
    together, counts_open = Barrier(2, timeout=20), policy_checks.counts_open
    arrived = set()

    def at_once(**whose):
        """Both have begun before either takes its turn. SQLite lets only one of them begin."""
        if connection.vendor == "postgresql" and get_ident() not in arrived:
            arrived.add(get_ident())
            together.wait()
        return counts_open(**whose)

    monkeypatch.setattr(policy_checks, "counts_open", at_once)

    def race(number):
        try:
            return ask(operator, key=f"racer-{number}").state
        except CannotPlace as refused:
            return str(refused)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        ended = sorted(pool.map(race, (1, 2)))
    assert ended[1] == "requested", ended
    assert "The policy limit is 3 open orders; this order would bring the total to 4" in ended[0]
    assert Order.objects.count() == 3
