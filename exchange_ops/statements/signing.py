"""Signing a statement off: two of treasury sign exactly its figures, each with a second factor.

What they signed is stored, so that it can be read later whatever becomes of the figures: an entry that the exchange
adds late, or a price that is filled in, changes the statement, and its page says that it is no longer what was signed.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction

from desk.audit import trail
from desk.live import announcements
from desk.machines.decisions import Act, Acts
from desk.machines.guards import NOT_PROVEN, Guards, Rule
from desk.people import roles
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.shared.rules import may
from exchange_ops.statements import files, statement
from exchange_ops.statements.models import SignedStatement, StatementSignature
from exchange_ops.statements.statement import Statement

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "sign-statement"
SIGNERS: Final = 2
TOPIC: Final = "statements"
_FORM: Final = "countersign-statement-1"
GUARDS: Final = Guards(
    history=(SignedStatement, StatementSignature),
    own=(
        Rule(
            "exchange_ops_statementsignature",
            "second_factor",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s JOIN exchange_ops_signedstatement t ON t.id = NEW.statement_id "
            "WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id AND s.at = NEW.at "
            "AND s.purpose = 'sign-statement' AND s.digest = t.digest)",
            NOT_PROVEN,
        ),
    ),
)


class CannotSign(Exception):
    """Nothing was signed; the text is the sentence for the person."""


SIGNATURES: Final = Acts(PURPOSE, CannotSign)


@dataclass(frozen=True, slots=True)
class SignOff:
    """How far a statement is signed off.

    `signed` are the figures of now, if anybody signed them; `outdated` is the newest set of other figures that was
    signed for these days. `why_not` says why this person can't sign now; `digest` is what they would sign.
    """

    signed: SignedStatement | None
    signatures: Sequence[StatementSignature]
    outdated: SignedStatement | None
    why_not: str
    digest: str

    @property
    def is_done(self) -> bool:
        """Whether everybody who is needed signed exactly these figures."""
        return len(self.signatures) >= SIGNERS


def text_of(each: Statement) -> str:
    """The figures that are signed: the lines with their values, without what is only known of them so far."""
    content = files.figures(each) | {"form": _FORM, "account_number": each.account.pk}
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def digest_of(text: str) -> str:
    """What a second factor is given for."""
    return hashlib.sha256(text.encode()).hexdigest()


def may_sign(person: "Person", account: Account | None = None) -> bool:
    """Treasury signs statements of its accounts."""
    return may(person, roles.TREASURY, at=account)


def sign_off(each: Statement, *, person: "Person") -> SignOff:
    """How far this statement is signed off, for this person."""
    digest = digest_of(text_of(each))
    rows = SignedStatement.objects.filter(account=each.account, first=each.period.first, last=each.period.last)
    signed = rows.filter(digest=digest).first()
    signatures = list(signed.signatures.select_related("person")) if signed else []
    outdated = rows.exclude(digest=digest).order_by("-pk").first()
    return SignOff(signed, signatures, outdated, _why_not(each, signatures, person), digest)


def sign(
    *,
    account: Account,
    period: Period,
    person: "Person",
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> StatementSignature:
    """One person's signature under the figures that they saw. Raises CannotSign, or `stepup.CannotConfirm`."""
    act = Act(person, now, session_key, digest=digest, answer=answer)
    if not may_sign(person, account):
        raise CannotSign("Not signed: only treasury can sign statements.")
    SIGNATURES.refuse_while_cooling_off(act)
    # A long period takes a while: nothing else that the trail records waits for it.
    each = statement.of(account, period, person=person, now=now)
    with transaction.atomic():
        trail.take_turn()
        state = sign_off(each, person=person)
        if state.why_not:
            raise CannotSign(f"Not signed: {state.why_not[0].lower()}{state.why_not[1:]}")
        if digest != state.digest:
            raise CannotSign("Not signed: the figures changed after you opened the page. Check them again, then sign.")
        confirmation = SIGNATURES.confirm(act)
        row = state.signed or _stored(each, digest, now)
        try:
            signature = StatementSignature.objects.create(
                statement=row, person=person, confirmation=confirmation, at=confirmation.at
            )
        except IntegrityError:
            raise CannotSign("Not signed again: you already signed these figures.") from None
        _record(row, each, act, number=len(state.signatures) + 1)
    return signature


def _stored(each: Statement, digest: str, now: datetime) -> SignedStatement:
    return SignedStatement.objects.create(
        account=each.account,
        first=each.period.first,
        last=each.period.last,
        digest=digest,
        content=text_of(each),
        made_at=now,
    )


def _record(row: SignedStatement, each: Statement, act: Act, *, number: int) -> None:
    trail.record(
        action="statement.signed" if number < SIGNERS else "statement.signed_off",
        subject=f"{SignedStatement.name}:{row.pk}",
        before={},
        after={
            "account": each.account.name,
            "account_id": each.account.pk,
            "days": f"{row.first} to {row.last}",
            "digest": row.digest,
            "signatures": number,
        },
        **act.moved,
    )
    announcements.announce(TOPIC, id=row.pk)


def _why_not(each: Statement, signatures: Sequence[StatementSignature], person: "Person") -> str:
    """Why this person can't sign these figures now, or an empty text."""
    unknown = sorted({line.currency for line in each.lines if line.closing is None or line.opening is None})
    reasons = (
        (not may_sign(person, each.account), "Only treasury can sign statements."),
        (each.period.ends > each.now, "The period has not ended yet."),
        (each.is_provisional, "The exchange's ledger has not been read to its end since the period ended."),
        (bool(unknown), f"Some balances are not known: {', '.join(unknown)}."),
        (not each.lines, "There is nothing to sign: no balances and no movements."),
        (len(signatures) >= SIGNERS, "These figures are signed off already."),
        (
            person.pk in {signature.person_id for signature in signatures},
            "You signed these figures; another treasurer must also sign.",
        ),
    )
    return next((sentence for holds, sentence in reasons if holds), "")
