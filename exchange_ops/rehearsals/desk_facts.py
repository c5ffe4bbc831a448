"""What a rehearsal takes over of the desk itself: accounts, people by name and role, the rules in force, payees.

Of people nothing is read but names and roles. A user name that is a mail address loses what follows the @. Rules and
payees that name somebody who is not active any more are left out, and counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from chaindata.wire import addresses as wire_addresses
from desk.machines import votes
from desk.models import Person
from desk.people import scopes
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.payees import book, machine
from exchange_ops.payees.models import Payee, PayeeApproval
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.groups.needs import Group
from exchange_ops.policy.ruleset import Rules
from exchange_ops.rehearsals.files import MOST_PAYEES, AccountFacts, DeskFacts, PayeeFacts, PersonFacts, PolicyFacts
from exchange_ops.shared.models import Account

_SANDBOX_PREFIX: Final = "bchreg"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is taken over, and how many rules and approved payees are not."""

    content: DeskFacts
    other_rules: int
    other_payees: int


def read(accounts: Sequence[Account], *, now: datetime) -> Facts:
    """The facts of a desk with these accounts, which are named by their place from here on."""
    people = list(Person.objects.filter(is_active=True).exclude(groups=None).distinct().order_by("pk"))
    names = _user_names(people)
    places = {account.pk: number for number, account in enumerate(accounts, 1)}
    policy, other_rules = _policy(places, names)
    payees, other_payees = _payees(accounts, places, names, now)
    content = DeskFacts(
        accounts=tuple(AccountFacts(account.name, account.quote_currency) for account in accounts),
        people=tuple(
            PersonFacts(names[each.pk], each.first_name, each.last_name, _grants(each, places)) for each in people
        ),
        policy=policy,
        payees=payees,
    )
    return Facts(content, other_rules, other_payees)


def _user_names(people: Sequence[Person]) -> dict[int, str]:
    names: dict[int, str] = {}
    for person in people:
        name = base = person.username.partition("@")[0] or "person"
        number = 2
        while name in names.values():
            name, number = f"{base}{number}", number + 1
        names[person.pk] = name
    return names


def _grants(person: Person, places: Mapping[int, int]) -> tuple[str, ...]:
    grants = []
    for grant in person.grants:
        role, scope = scopes.split(grant)
        if not scope:
            grants.append(role)
        elif int(scope) in places:
            grants.append(f"{role}:{places[int(scope)]}")
    return tuple(grants)


def _policy(places: Mapping[int, int], names: Mapping[int, str]) -> tuple[PolicyFacts | None, int]:
    version = quorum.current()
    if version is None:
        return None, 0
    rules = ruleset.rules_of(version)
    kept_rules = _of_people(rules, names)
    left_out = len(rules.limits) + len(rules.payouts) - len(kept_rules.limits) - len(kept_rules.payouts)
    content = with_names(ruleset.as_json(kept_rules), accounts=places, people=names)
    return PolicyFacts(version.number, version.note, content), left_out


def _of_people(rules: Rules, names: Mapping[int, str]) -> Rules:
    """The rules without those about people who are not there, and the approval groups without these people."""
    there = {None, *names}
    return replace(
        rules,
        groups=tuple(Group(group.name, tuple(one for one in group.members if one in names)) for group in rules.groups),
        limits=tuple(limit for limit in rules.limits if limit.person in there),
        payouts=tuple(rule for rule in rules.payouts if rule.person in there),
    )


def with_names(content: Mapping[str, Any], *, accounts: Mapping[Any, Any], people: Mapping[Any, Any]) -> dict[str, Any]:
    """Rules as `ruleset.as_json` writes them, with accounts and people called otherwise. Raises KeyError for others."""

    def called(value: Any, by: Mapping[Any, Any]) -> Any:
        return None if value is None else by[value]

    tiers = [[*tier[:3], called(tier[3], accounts), *tier[4:]] for tier in content["tiers"]]
    groups = [[name, sorted(people[one] for one in members)] for name, members in content.get("groups") or ()]
    limits = [
        [kind, most, called(person, people), called(account, accounts), *beyond]
        for kind, most, person, account, *beyond in content["limits"]
    ]
    payouts = [
        {
            **rule,
            **({"account": accounts[rule["account"]]} if "account" in rule else {}),
            **({"person": people[rule["person"]]} if "person" in rule else {}),
        }
        for rule in content.get("payouts", ())
    ]
    return {**content, "tiers": tiers, "limits": limits, "payouts": payouts, "groups": groups or None}


def _payees(
    accounts: Sequence[Account], places: Mapping[int, int], names: Mapping[int, str], now: datetime
) -> tuple[tuple[PayeeFacts, ...], int]:
    facts: list[PayeeFacts] = []
    left_out = 0
    for account in accounts:
        for row in book.usable(account=account, currency="", now=now):
            approvals = PayeeApproval.objects.filter(
                payee=row, digest=row.digest, verdict=PayeeApproval.APPROVE, person__in=names
            )
            counting = votes.among(approvals, purpose=machine.PURPOSE).order_by("at", "pk")
            approvers = tuple(names[pk] for pk in counting.values_list("person_id", flat=True))
            if row.initiator_id not in names or len(facts) == MOST_PAYEES:
                left_out += 1
                continue
            facts.append(_payee(row, places[account.pk], names[row.initiator_id], approvers))
    return tuple(facts), left_out


def _payee(row: Payee, account: int, added_by: str, approved_by: tuple[str, ...]) -> PayeeFacts:
    return PayeeFacts(
        account=account,
        currency=row.currency,
        address=_on_the_sandbox(row.currency, row.address),
        payment_id=row.payment_id,
        title=row.title,
        owner=row.owner,
        group=row.group,
        supplier=row.supplier,
        evidence=row.evidence,
        added_by=added_by,
        approved_by=approved_by,
        counts_from="" if row.counts_from is None else row.counts_from.isoformat(timespec="seconds"),
    )


def _on_the_sandbox(currency: str, address: str) -> str:
    """The address as the sandbox's chain writes it: the same hash with the prefix of its network."""
    if currency != CHAIN_CODE:
        return address
    try:
        read_address = wire_addresses.read(address)
    except wire_addresses.NotAnAddress:
        return address
    return wire_addresses.cash_encode(_SANDBOX_PREFIX, read_address.kind, read_address.hash)
