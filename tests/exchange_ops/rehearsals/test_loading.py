"""The second desk: the same people, rules and payees, factors and keys of its own, and nothing secret of the first."""

import base64
import json
from decimal import Decimal

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.db import transaction

from desk import clock
from desk.models import Person
from desk.notifications import channels
from desk.people import totp
from exchange_ops.keys import store
from exchange_ops.keys.models import ApiKey
from exchange_ops.payees import book
from exchange_ops.policy import publishing, quorum, ruleset
from exchange_ops.policy.groups.needs import Group
from exchange_ops.policy.modes import APPROVE_THEN_HOLD, HOLD_THEN_APPROVE
from exchange_ops.policy.payout_rules import FIRST, PayoutRule
from exchange_ops.policy.ruleset import Limit, Rules, Tier
from exchange_ops.rehearsals import files, loading, writing
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from tests.exchange_ops import rows
from tests.exchange_ops.permissions.shared_form import SECRET
from tests.exchange_ops.permissions.subjects.payees import added, approved_by_two
from wire.values import Secret

pytestmark = pytest.mark.django_db
PASSWORD, EXCHANGE_SECRET = "a sentence that nobody guesses", "the-secret-of-the-real-exchange"


class FirstDesk:
    """A desk with a payee, rules for one person and one account, and secrets; its file stays, its rows don't."""

    def __init__(self, path):
        self.path = path
        with transaction.atomic():
            self.account = rows.account()
            self.operator = self._person("ada@mills.example", "operator", first_name="Ada")
            limited = self._person("ben", f"treasury:{self.account.pk}")
            gone = self._person("gone", "operator", is_active=False)
            rows.currency()
            self.payee = approved_by_two(added(self.operator))
            self.secrets = self._secrets()
            account, person = self.account.pk, self.operator.pk
            rules = Rules(
                tiers=(Tier(None, 2, HOLD_THEN_APPROVE, account, (("Board", 1),)), Tier(None, 3, APPROVE_THEN_HOLD)),
                groups=(Group("Board", (limited.pk, gone.pk)),),
                value_max_age_s=60,
                limits=(Limit("order", Decimal(700), person, account), Limit("order", Decimal(5), gone.pk)),
                payouts=(PayoutRule(FIRST, approvals=2, account=account, person=person),),
            )
            publishing.publish(rules, number=7, note="Ours", publisher=limited, now=clock.now())
            self.written = writing.write(path, now=self.payee.counts_from)
            transaction.set_rollback(True)

    def _person(self, name, grant, **facts):
        from desk.people import scopes

        person = Person.objects.create_user(name, email=f"{name}@mail.example", password=PASSWORD, **facts)
        scopes.set_grants(person, [grant])
        totp.enrol(person, Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"))
        return person

    def _secrets(self):
        """Everything that opens something, as text: in clear, hashed and sealed."""
        words = {"login": "real-login", "secret": Secret(EXCHANGE_SECRET), "rights": [Right.PAYMENTS]}
        store.add(account=self.account, label="Real", actor=None, now=clock.now(), **words)
        keys = list(ApiKey.objects.all())
        texts = [PASSWORD, EXCHANGE_SECRET, "real-login", "mail.example", "mills.example", SECRET.reveal()]
        texts += ["JBSWY3DPEHPK3PXP", *(row.sealed_secret for row in keys), *(row.fingerprint for row in keys)]
        texts += [row.password for row in Person.objects.all()]
        texts += [row.data["secret"] for row in Authenticator.objects.filter(type=Authenticator.Type.TOTP)]
        assert len(texts) > 15
        assert all(texts)
        return texts


@pytest.fixture
def first(tmp_path):
    return FirstDesk(tmp_path / files.FILE_NAME)


@pytest.fixture
def loaded(first, settings):
    settings.REHEARSAL = True
    assert not Account.objects.exists()
    return loading.load(files.read(first.path), now=clock.now())


def everything_stored():
    """Every row of every table, as text."""
    return "\n".join(
        json.dumps(list(model._base_manager.values()), default=str, ensure_ascii=False)
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    )


def test_nothing_secret_is_in_the_file_or_in_the_second_desk(first, loaded):
    raw, stored = first.path.read_text(), everything_stored()
    assert "Harbour Hosting" in raw
    assert "Harbour Hosting" in stored
    for secret in first.secrets:
        forms = {secret, base64.b64encode(secret.encode()).decode()}
        assert not [form for form in forms if form in raw or form in stored], secret
    assert first.path.stat().st_mode & 0o777 == 0o600


def test_people_rules_and_payees_are_those_of_the_first_desk(first, loaded):
    account, ada, ben = Account.objects.get(), Person.objects.get(username="ada"), Person.objects.get(username="ben")
    assert (account.name, ada.get_full_name(), ada.email, ben.grants) == (
        "Main desk",
        "Ada",
        "",
        [f"treasury:{account.pk}"],
    )
    assert not Person.objects.filter(username="gone").exists()
    access = {each.username: each for each in loaded.access}
    assert ada.check_password(access["ada"].password)
    assert totp.secret_of(ada) == Secret(access["ada"].totp_secret)
    assert len({each.password for each in loaded.access} | {each.totp_secret for each in loaded.access}) == 2 * len(
        access
    )
    rules = ruleset.rules_of(quorum.current())
    tiers = [(tier.approvals, tier.account, tier.needs) for tier in rules.tiers]
    assert tiers == [(2, account.pk, (("Board", 1),)), (3, None, ())]
    assert rules.groups == (Group("Board", (ben.pk,)),)
    assert [(limit.most, limit.person, limit.account) for limit in rules.limits] == [(700, ada.pk, account.pk)]
    assert [(rule.measure, rule.person, rule.account) for rule in rules.payouts] == [(FIRST, ada.pk, account.pk)]
    (payee,) = book.usable(account=account, currency="BCH", now=clock.now())
    assert (payee.title, payee.address, payee.initiator) == ("Harbour Hosting", rows.ADDRESS, ada)
    assert {key.login for key in ApiKey.objects.all()} == {f"rehearsal-1-{name}" for name in loading.KEYS}
    assert loaded.problems == []
    assert loading.load(files.read(first.path), now=clock.now()) is None, "a second start changes nothing"


def test_a_real_desk_is_never_made_from_a_file(first):
    with pytest.raises(loading.CannotLoad, match="this is not the folder of a rehearsal"):
        loading.load(files.read(first.path), now=clock.now())
    assert not Account.objects.exists()


def test_a_payee_that_names_nobody_leaves_nothing_behind(first, settings):
    settings.REHEARSAL = True
    first.path.write_text(first.path.read_text().replace('"added_by": "ada"', '"added_by": "eve"'))
    with pytest.raises(files.CannotReadFile, match="names an account or a person that is not in the file"):
        loading.load(files.read(first.path), now=clock.now())
    assert not Account.objects.exists()
    assert not Person.objects.exists()


def test_messages_of_a_rehearsal_go_nowhere_outside(settings):
    settings.REHEARSAL = True
    with pytest.raises(channels.CannotChange, match="go nowhere outside"):
        channels.target_of("https://hooks.example/abc")
