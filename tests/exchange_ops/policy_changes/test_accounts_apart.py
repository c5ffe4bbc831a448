"""Tiers of one account: drafted, said in words, judged for that account alone, and put in force."""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import set_script_prefix

from desk import audit_check, clock
from desk.people import totp
from exchange_ops.policy import comparison, quorum, ruleset
from exchange_ops.policy.models import QuorumTier
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.ruleset import Limit, Tier
from exchange_ops.policy_changes import carrying_over, open_requests, workflow
from exchange_ops.policy_changes.models import PolicyChange
from exchange_ops.policy_changes.workflow import CannotChange
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.policy_changes.keeping import DAY, FIRST, LOOSER, SECRET, TIGHTER, Codes, agree, propose

NAMES = {"account:2": "Second desk"}
OWN = replace(
    FIRST, tiers=(*FIRST.tiers, Tier(Decimal(100), 2, HOLD_THEN_APPROVE, 2), Tier(None, 4, APPROVE_THEN_HOLD, 2))
)
HAS_OWN = ("scope", "Second desk has its own tiers; the default tiers no longer apply to it.")
HAS_NONE = ("scope", "Second desk no longer has its own tiers; the default tiers apply to it.")


def said(new, old=FIRST):
    def kind(each):
        return "scope" if each.is_scope else "looser" if each.is_looser else "tighter"

    return [(kind(each), each.sentence) for each in comparison.differences(old, new, names=NAMES)]


def shared(*tiers):
    return replace(OWN, tiers=(*tiers, *OWN.tiers[3:]))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            FIRST,
            OWN,
            [
                HAS_OWN,
                ("tighter", "Second desk, up to 100 USD: 2 approvals (was 1)."),
                ("tighter", "Second desk, above 100 to 10,000 USD: 4 approvals (was 1)."),
                (
                    "tighter",
                    "Second desk, above 100 to 10,000 USD: approval comes before funds are reserved.",
                ),
                ("tighter", "Second desk, above 10,000 to 250,000 USD: 4 approvals (was 2)."),
                (
                    "tighter",
                    "Second desk, above 10,000 to 250,000 USD: approval comes before funds are reserved.",
                ),
                ("tighter", "Second desk, above 250,000 USD: 4 approvals (was 3)."),
            ],
        ),
        (
            OWN,
            FIRST,
            [
                HAS_NONE,
                ("looser", "Second desk, up to 100 USD: 1 approval (was 2)."),
                ("looser", "Second desk, above 100 to 10,000 USD: 1 approval (was 4)."),
                ("looser", "Second desk, above 100 to 10,000 USD: funds are reserved before approval."),
                ("looser", "Second desk, above 10,000 to 250,000 USD: 2 approvals (was 4)."),
                ("looser", "Second desk, above 10,000 to 250,000 USD: funds are reserved before approval."),
                ("looser", "Second desk, above 250,000 USD: 3 approvals (was 4)."),
            ],
        ),
        # What changes for every other account changes nothing where an account has its own.
        (
            OWN,
            shared(replace(FIRST.tiers[0], approvals=9), *FIRST.tiers[1:]),
            [("tighter", "All other accounts, up to 10,000 USD: 9 approvals (was 1).")],
        ),
        # Own tiers that say the same as all others loosen nothing.
        (
            FIRST,
            replace(FIRST, tiers=(*FIRST.tiers, *(replace(tier, account=2) for tier in FIRST.tiers))),
            [HAS_OWN],
        ),
        # Tightening all the others in the same draft doesn't hide that one gets looser.
        (
            FIRST,
            replace(FIRST, tiers=(Tier(None, 5, APPROVE_THEN_HOLD), Tier(None, 1, HOLD_THEN_APPROVE, 2))),
            [
                ("tighter", "All other accounts, up to 10,000 USD: 5 approvals (was 1)."),
                ("tighter", "All other accounts, up to 10,000 USD: approval comes before funds are reserved."),
                ("tighter", "All other accounts, above 10,000 to 250,000 USD: 5 approvals (was 2)."),
                (
                    "tighter",
                    "All other accounts, above 10,000 to 250,000 USD: approval comes before funds are reserved.",
                ),
                ("tighter", "All other accounts, above 250,000 USD: 5 approvals (was 3)."),
                HAS_OWN,
                ("looser", "Second desk, above 10,000 to 250,000 USD: 1 approval (was 2)."),
                ("looser", "Second desk, above 250,000 USD: 1 approval (was 3)."),
                ("looser", "Second desk, above 250,000 USD: funds are reserved before approval."),
            ],
        ),
        (
            OWN,
            replace(OWN, tiers=OWN.tiers[:4]),
            [("tighter", "Second desk, above 100 USD: no payouts allowed.")],
        ),
    ],
)
def test_what_differs_is_said_for_each_account_by_what_judges_it(old, new, expected):
    assert said(new, old) == expected


def test_tiers_of_accounts_come_back_and_drafts_from_before_name_none():
    content = ruleset.as_json(OWN)
    assert ruleset.from_json(content).tiers == OWN.tiers
    content["tiers"] = [row[:3] for row in content["tiers"][:3]]
    assert ruleset.from_json(content) == FIRST


@pytest.mark.parametrize(
    ("tiers", "sentence"),
    [
        ((Tier(None, 1, HOLD_THEN_APPROVE, 2),), "Enter at least one tier"),
        ((*OWN.tiers, Tier(Decimal(100), 3, HOLD_THEN_APPROVE, 2)), "have the same upper limit"),
        ((*FIRST.tiers, *(Tier(Decimal(n), 1, HOLD_THEN_APPROVE, 2) for n in range(1, 10))), "at most 8 tiers"),
        ((*FIRST.tiers, Tier(Decimal(-1), 1, HOLD_THEN_APPROVE, 2)), "greater than zero"),
        ((*FIRST.tiers, Tier(None, 0, HOLD_THEN_APPROVE, 2)), "1 to 9 approvals"),
    ],
)
def test_what_is_wrong_with_the_tiers_of_an_account_is_said(tiers, sentence):
    assert any(sentence in found for found in ruleset.problems(replace(FIRST, tiers=tiers)))
    same_end = replace(
        FIRST, tiers=(*FIRST.tiers, replace(FIRST.tiers[0], account=2), replace(FIRST.tiers[0], account=3))
    )
    assert list(ruleset.problems(same_end)) == []


@pytest.fixture
def second():
    rows.account()
    return Account.objects.create(name="Second desk", quote_currency="USD")


@pytest.fixture
def people(make_person):
    quorum.ensure_first(now=clock.now())
    found = [make_person("treasury", username=name) for name in ("ada", "ben")]
    for person in found:
        totp.enrol(person, SECRET)
    return found


def own(account, *tiers):
    return replace(
        FIRST, tiers=ruleset.in_order([*FIRST.tiers, *(replace(tier, account=account.pk) for tier in tiers)])
    )


@pytest.mark.django_db
def test_an_accounts_tiers_are_published_at_once_when_tighter_and_taken_away_a_day_later(people, second):
    codes, (ada, ben) = Codes(), people
    wanted = own(second, Tier(None, 3, APPROVE_THEN_HOLD))
    row = agree(codes, ben, propose(codes, ada, wanted, now=codes.now), now=codes.now)
    assert (row.state, row.is_looser) == ("published", False)
    assert workflow.in_force() == wanted
    assert QuorumTier.objects.get(policy__number=2, account=second).approvals == 3
    row = agree(codes, ben, propose(codes, ada, FIRST, now=codes.now), now=codes.now)
    assert (row.state, row.is_looser, workflow.in_force()) == ("agreed", True, wanted)
    workflow.review(now=codes.now + DAY)
    assert workflow.in_force() == FIRST
    assert not any("quorumtier" in finding for finding in audit_check.verify(replay=True))


@pytest.mark.django_db
def test_both_sign_whose_tiers_they_are(people, second):
    first, tier = Account.objects.get(name="Main desk"), Tier(None, 3, APPROVE_THEN_HOLD)
    contents = [ruleset.as_json(own(account, tier)) for account in (first, second)]
    digests = {workflow.digest_of(content, base=1, reason="x") for content in contents}
    assert len(digests) == 2


@pytest.mark.django_db
def test_tiers_of_an_account_that_is_not_there_are_refused(people, second):
    codes = Codes()
    wanted = replace(FIRST, tiers=(*FIRST.tiers, Tier(None, 3, APPROVE_THEN_HOLD, second.pk + 7)))
    with pytest.raises(CannotChange, match="A tier refers to an unknown account"):
        propose(codes, people[0], wanted, now=codes.now)
    assert not PolicyChange.objects.exists()


@pytest.mark.django_db
def test_what_is_open_on_either_account_is_listed_with_what_its_own_tiers_take(people, second, operator):
    codes, (ada, ben) = Codes(), people
    now = codes.now
    facts.note(account=second, name=facts.HOLD_END, value=facts.LAPSES, now=now)
    rows.currency("BCH", now=now)
    rows.price("BCH", "USD", last="500", now=now)
    here, there = (
        rows.submitted(operator, to="review", now=now, amount=Decimal("0.1"), account=account)
        for account in (Account.objects.get(name="Main desk"), second)
    )
    wanted = own(second, Tier(None, 3, APPROVE_THEN_HOLD))
    assert [(each.reference, each.account, each.sentence) for each in open_requests.requests_touched_by(wanted)] == [
        (there.reference, "Second desk", "approvals will start again: 3 approvals required"),
    ]
    set_script_prefix(f"/accounts/{second.pk}/")
    try:
        addresses = [each.url for each in open_requests.requests_touched_by(wanted)]
    finally:
        set_script_prefix("/")
    assert addresses == [f"/withdrawals/{there.pk}/"], "it opens from either account"
    assert all(policy_evaluation.still_holds(row) for row in (here, there))
    agree(codes, ben, propose(codes, ada, wanted, now=now), now=now)
    # What the rules say about its own account is part of what was signed, and the number of all rules is not.
    for number, needs, holds in ((here.pk, 1, True), (there.pk, 3, False)):
        row = Withdrawal.objects.get(pk=number)
        assert policy_evaluation.still_holds(row) == holds
        assert policy_evaluation.evaluate(row, now=now)[0].approvals == needs


@pytest.mark.django_db
def test_a_change_for_one_account_overtakes_no_other_one(people, second):
    codes, (ada, ben) = Codes(), people
    now, first = codes.now, Account.objects.get(name="Main desk")
    later = [now + timedelta(minutes=minute) for minute in range(8)]
    of_desk = agree(codes, ben, propose(codes, ada, LOOSER, now=now), now=now)
    of_second = propose(codes, ada, own(second, Tier(None, 4, APPROVE_THEN_HOLD)), now=later[1])
    of_first = propose(codes, ada, own(first, Tier(None, 3, APPROVE_THEN_HOLD)), now=later[2])
    again = propose(codes, ada, own(first, Tier(None, 5, APPROVE_THEN_HOLD)), now=later[3])
    assert of_desk.state == "agreed"
    agree(codes, ben, of_first, now=later[4])
    with pytest.raises(CannotChange, match="another rule change was published first"):
        agree(codes, ben, again, now=later[5])
    workflow.review(now=later[5])
    states = {row.pk: row.state for row in PolicyChange.objects.all()}
    assert (states[of_desk.pk], states[of_second.pk], states[again.pk]) == ("agreed", "proposed", "overtaken")
    agree(codes, ben, of_second, now=later[6])
    workflow.review(now=now + DAY)
    of_desk.refresh_from_db()
    assert (of_desk.state, of_desk.version_number) == ("published", 4)
    then = workflow.in_force()
    assert [tier.approvals for tier in ruleset.tiers_for(then, first.pk)] == [3]
    assert [tier.approvals for tier in ruleset.tiers_for(then, second.pk)] == [4]
    assert ruleset.tiers_for(then, None) == LOOSER.tiers


def test_what_somebody_changed_meanwhile_is_never_carried_over():
    limited = replace(FIRST, limits=(Limit("order", Decimal(5), account=2),))
    aged = replace(FIRST, value_max_age_s=60)
    carried = carrying_over.carried_over(aged, base=FIRST, current=limited)
    assert carried == replace(limited, value_max_age_s=60)
    assert carrying_over.carried_over(limited, base=FIRST, current=aged) == carried
    for current in (replace(FIRST, value_max_age_s=90), TIGHTER):
        assert carrying_over.carried_over(aged, base=FIRST, current=current) is None
    assert carrying_over.carried_over(limited, base=FIRST, current=OWN) is None, "both are about one account"


def text(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", response.content.decode()))


def typed(account, **changes):
    """The first rules as the page sends them, and the rows of this account that begin as a copy of them."""
    table = {
        "t0-up_to": "10000",
        "t0-approvals": "1",
        "t1-up_to": "250000",
        "t1-approvals": "2",
        "above-approvals": "3",
    }
    table |= {"t0-mode": "hold_then_approve", "t1-mode": "hold_then_approve", "above-mode": "approve_then_hold"}
    rest = {"l0-kind": "order", "l1-kind": "order", "value_max_age_s": "300", "price_distance": "", "reason": "New"}
    rest |= {"fee_factor": "1.5", "fee_floor": "5"}
    copy = {f"a{account.pk}-{name}": value for name, value in table.items()}
    return table | rest | copy | {f"a{account.pk}-{name}": value for name, value in changes.items()}


@pytest.mark.django_db
def test_an_accounts_tiers_are_drafted_and_stand_beside_the_others(signed_in, people, second):
    ada, ben = (signed_in(person) for person in people)
    first = Account.objects.get(name="Main desk")
    page = ada.get("/policy/draft/").content.decode()
    assert f'name="a{second.pk}-t0-up_to" value="10000"' in page, "it begins as a copy"
    sent = typed(second, own="on", **{"t0-approvals": "4"})
    reviewed = ada.post("/policy/draft/", sent)
    assert "Second desk has its own tiers; the default tiers no longer apply to it." in text(reviewed)
    assert "Second desk, up to 10,000 USD: 4 approvals (was 1)." in text(reviewed)
    digest = re.search(r'name="digest" value="(\w+)"', reviewed.content.decode())[1]
    code = totp.code_at(SECRET, totp.step_at(clock.now()))
    ada.post("/policy/draft/", sent | {"confirmed": "yes", "digest": digest, "code": code})
    row = PolicyChange.objects.get()
    ben.post(f"/policy/changes/{row.pk}/agree/", {"digest": row.digest, "code": code})
    assert quorum.current().number == 2
    for path, here in (
        (f"/accounts/{first.pk}/policy/", "All other accounts"),
        (f"/accounts/{second.pk}/policy/", "Second desk"),
    ):
        page = text(ben.get(path))
        assert f"{here} Applies here" in re.sub(r"\s+", " ", page)
        assert page.count("Applies here") == 1
    page = text(ben.get("/policy/versions/2/"))
    assert page.index("All other accounts Main desk") < page.rindex("Second desk Value up to")
    assert "Applies here" not in page
    # The draft begins with what is in force; without the mark the account is judged as every other one again.
    assert f'name="a{second.pk}-own" id="id_a{second.pk}-own" checked' in ada.get("/policy/draft/").content.decode()
    page = text(ada.post("/policy/draft/", typed(second, **{"t0-approvals": "4"})))
    assert "Second desk no longer has its own tiers" in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"t0-approvals": "4"},
            "You changed tiers for Second desk. Tick “This account has its own tiers” or undo the changes.",
        ),
        (
            {"own": "on", "t0-up_to": "", "t1-up_to": "", "above-approvals": ""},
            "Enter at least one tier for Second desk, or untick “This account has its own tiers”.",
        ),
        ({"own": "on", "t0-up_to": "1,5"}, "Second desk, Tier 1, Value up to: Enter the amount with a decimal point"),
        ({"t0-approvals": "99"}, "Second desk, Tier 1, Approvals: Ensure this value is less than or equal to 9."),
        ({"own": "on", "t1-up_to": "10000"}, "Two tiers have the same upper limit."),
    ],
)
def test_rows_of_an_account_that_do_not_fit_are_said_and_stay(signed_in, people, second, changes, sentence):
    answer = signed_in(people[0]).post("/policy/draft/", typed(second, **changes))
    assert answer.status_code == 422
    assert sentence in text(answer)
    assert f'data-account="{second.pk}" open' in answer.content.decode()
    assert not PolicyChange.objects.exists()


@pytest.mark.django_db
def test_rows_of_an_account_that_nobody_offered_count_for_nothing(signed_in, people, second):
    sent = typed(second) | {"a99-own": "on", "a99-above-approvals": "1", "t0-approvals": "2"}
    page = text(signed_in(people[0]).post("/policy/draft/", sent))
    assert "Up to 10,000 USD: 2 approvals (was 1)." in page
    assert "its own tiers;" not in page


@pytest.mark.django_db
def test_a_desk_with_one_account_names_none(signed_in, people):
    rows.account()
    client = signed_in(people[0])
    for path in ("/policy/draft/", "/policy/", "/policy/versions/1/"):
        page = client.get(path).content.decode()
        assert "tiers-of" not in page
        assert "All other accounts" not in page
