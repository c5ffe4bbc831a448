"""Judging a payout by a policy of 100 rules, over a month of 2,000 payouts: `python -m tools.bench.measure_policy`.

The peer is the database alone: the sums of those payouts over the windows that the rules name, one statement for each
window and table, by currency, on the same rows in the same run. It gives no verdict and no sentence, and looks at
neither prices nor payees nor whether the rules were changed past the desk. SQLite works in this process, so processor
time counts what it does as well. Measured twice: the whole judgement, and the rules once its facts are read.
"""

import os
import random
import tempfile
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from tools.bench.rounds import line, spend

PAYOUTS, RULES, RECIPIENTS = 2_000, 100, 200
MOST_MS, ROUNDS = 5.0, 25
CODES = ("BCH", "BTC", "ETH", "USD")


def rules(people: list[int], account: int) -> list[Any]:
    """Rules of every measure, for everybody, for one person, for a role, for an account and for one currency."""
    from exchange_ops.policy import payout_rules
    from exchange_ops.policy.payout_rules import PayoutRule

    dice = random.Random(1)
    by_scope: dict[tuple[Any, ...], PayoutRule] = {}
    measures = [*payout_rules.OVER_TIME, *payout_rules.OVER_TIME, *payout_rules.MEASURES]
    while len(by_scope) < RULES:
        measure = dice.choice(sorted(measures))
        has_figure = measure not in payout_rules.WITHOUT_FIGURE
        rule = PayoutRule(
            measure,
            most=Decimal(dice.randint(1, 100) if measure in payout_rules.SHARES else 10 ** dice.randint(4, 9))
            if has_figure
            else None,
            window_h=dice.choice([*payout_rules.WINDOWS_H]) if measure in payout_rules.OVER_TIME else 0,
            hours=(0, dice.randint(20, 23)) if measure == payout_rules.HOURS else None,
            approvals=dice.randint(1, 3),
            account=dice.choice([None, account]),
            currency=dice.choice(CODES) if measure == payout_rules.AMOUNT else dice.choice(["", *CODES]),
            person=dice.choice([None, *people]),
        )
        by_scope[rule.scope] = rule
    return list(by_scope.values())


def publish(some: list[Any], account: Any, now: datetime) -> None:
    """A version of the policy with these rules, tiers for everybody and for the account, and limits."""
    from django.db import transaction

    from exchange_ops.policy.models import PolicyPayoutRule, PolicyVersion, QuorumTier, ValueLimit
    from exchange_ops.policy.quorum import FIRST_TIERS

    with transaction.atomic():
        last = PolicyVersion.objects.order_by("-number").first()
        policy = PolicyVersion.objects.create(number=last.number + 1 if last else 1, note="Measured.", published_at=now)
        for owner in (None, account):
            for up_to, approvals, mode in FIRST_TIERS:
                QuorumTier.objects.create(policy=policy, up_to=up_to, approvals=approvals, mode=mode, account=owner)
        for place, rule in enumerate(some, 1):
            PolicyPayoutRule.of(rule, policy=policy, place=place).save(force_insert=True)
        ValueLimit.objects.create(policy=policy, kind=ValueLimit.ORDER, most=Decimal(1_000_000))


def history(account: Any, people: list[Any], now: datetime) -> None:
    """A month of payouts: half of them requested here and paid, half made elsewhere."""
    from django.db import connection

    from exchange_ops.ledger.models import LedgerEntry
    from exchange_ops.withdrawals import states
    from exchange_ops.withdrawals.machine import GUARDS
    from exchange_ops.withdrawals.models import Withdrawal

    dice, requests, lines = random.Random(2), [], []
    for number in range(PAYOUTS // 2):
        at = now - timedelta(days=30) * dice.random()
        common = {
            "account": account,
            "currency": dice.choice(CODES),
            "amount": Decimal(dice.randint(1, 10**6)).scaleb(-6),
            "address": f"recipient-{dice.randrange(RECIPIENTS)}",
        }
        requests.append(
            Withdrawal(
                **common,
                initiator=dice.choice(people),
                request_key=f"r{number}",
                state=states.SETTLED,
                created_at=at,
                updated_at=at,
                decided_at=at,
                decision="commit",
            )
        )
        columns = {"type": "payout", "status": "success", "updated_at": at, "first_seen_at": at, "seen_at": at}
        lines.append(LedgerEntry(**common, **columns, exchange_id=f"l{number}", index=number, created_at=at))
    GUARDS.remove(connection)
    Withdrawal.objects.bulk_create(requests, batch_size=500)
    LedgerEntry.objects.bulk_create(lines, batch_size=500)
    GUARDS.install(connection)


def database_alone(now: datetime) -> None:
    """The sums of both tables over each window, by currency."""
    from django.db.models import Count

    from desk.fields import ExactSum
    from exchange_ops.ledger.models import LedgerEntry
    from exchange_ops.policy import payout_rules
    from exchange_ops.withdrawals.models import Withdrawal

    for hours in payout_rules.WINDOWS_H:
        since = now - timedelta(hours=hours)
        requests = Withdrawal.objects.filter(state="settled", decided_at__gte=since)
        lines = LedgerEntry.objects.filter(type="payout", status="success", withdrawal=None, updated_at__gte=since)
        for rows in (requests, lines):
            list(rows.order_by().values_list("currency").annotate(Count("pk"), ExactSum("amount")))


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3", "DATA_DIR": folder, "REDIS_URL": ""}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "project.settings", "DEMO": "1", "LOG_LEVEL": "ERROR"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        _measure()


def _measure() -> None:
    from desk import clock
    from desk.models import Person
    from exchange_ops.market.models import Currency, Symbol, Ticker
    from exchange_ops.policy import quorum, ruleset
    from exchange_ops.shared.models import Account
    from exchange_ops.withdrawals.decisions import policy_evaluation
    from exchange_ops.withdrawals.decisions.intent import Intent

    now, account = clock.now(), Account.objects.create(name="Measured", quote_currency="USD")
    people = [Person.objects.create_user(username=f"person-{number}") for number in range(3)]
    for code in CODES:
        Currency.objects.create(code=code, full_name=code, crypto=True, read_at=now)
        if code != "USD":
            Symbol.objects.create(
                code=f"{code}USD",
                base_currency=code,
                quote_currency="USD",
                fee_currency="USD",
                read_at=now,
                quantity_increment=1,
                tick_size=1,
                take_liquidity_rate=0,
                provide_liquidity_rate=0,
            )
            Ticker.objects.create(symbol=f"{code}USD", last=Decimal(500), timestamp=now, read_at=now)
    history(account, people, now)
    publish(rules([person.pk for person in people], account.pk), account, now)
    intent = Intent(
        account=account,
        currency="BCH",
        amount=Decimal(1),
        fee=Decimal("0.001"),
        address="recipient-1",
        payment_id="",
        requester=people[0],
        requested_at=now,
    )
    assert len(ruleset.rules_of(quorum.current()).payouts) == RULES
    verdict, _ = policy_evaluation.verdict_on(intent, now=now)
    if verdict.blocked or len(verdict.trace) < 3:
        raise SystemExit(f"Nothing was judged: {verdict}")
    ready = [facts_of(intent, now) for _ in range(ROUNDS + 1)]

    def judge() -> None:
        policy_evaluation.verdict_on(intent, now=now)

    judged_ms, alone_ms, peer_ms = spend(
        judge, lambda: rules_alone(ready.pop()), lambda: database_alone(now), pieces=1, rounds=ROUNDS
    )
    peer = "the database's sums of the same windows alone"
    what = f"a payout by {RULES} rules over {PAYOUTS:,} payouts"
    print(line(what=what, ours_ms=judged_ms, peer=peer, peer_ms=peer_ms, target=0.25))
    print(line(what="of that the rules alone", ours_ms=alone_ms, peer=peer, peer_ms=peer_ms, target=1))
    verdict_of_it = "holds" if alone_ms < MOST_MS else "MISSED"
    print(f"{RULES} rules in {alone_ms:.1f} ms (target under {MOST_MS:g} ms: {verdict_of_it})")


def facts_of(intent: Any, now: datetime) -> Any:
    """The facts of the payout, read; nothing of it is added up yet."""
    from exchange_ops.market.valuation import Prices
    from exchange_ops.policy import quorum, ruleset
    from exchange_ops.withdrawals.decisions import payout_facts

    prices = Prices(now=now)
    prices.values_of(amounts=dict.fromkeys(CODES, Decimal(1)), quote="USD")
    rules = ruleset.rules_of(quorum.current())
    return rules, payout_facts.payout_of(
        intent, rules=rules, value=Decimal(500), prices=prices, fresh=lambda each: each
    )


def rules_alone(facts: Any) -> None:
    """Which of the rules the payout exceeds."""
    from exchange_ops.policy import payout_judging

    rules, payout = facts
    if not payout_judging.matches(rules.payouts, payout, currency=rules.currency):
        raise SystemExit("No rule is exceeded, so nothing was measured.")


if __name__ == "__main__":
    main()
