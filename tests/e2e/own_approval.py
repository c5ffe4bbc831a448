"""Tries to approve somebody's own request without any page: `python -m tests.e2e.own_approval WITHDRAWAL USERNAME`.

Prints a JSON object: the sentence of the domain, and what the database said to rows written past the domain.
"""

import json
import sys

import django


def main() -> None:
    """The domain with a right code, then the database: as the person, and with another one named as the initiator."""
    django.setup()
    from django.db import IntegrityError, connection, transaction

    from desk import clock
    from desk.models import Person
    from desk.people import demo, totp
    from exchange_ops.withdrawals.decisions import approvals
    from exchange_ops.withdrawals.models import Approval, Withdrawal
    from wire.values import Secret

    row = Withdrawal.objects.get(pk=int(sys.argv[1]))
    person = Person.objects.get(username=sys.argv[2])
    other = Person.objects.exclude(pk=person.pk).order_by("pk").first()
    now = clock.now()
    found = {"domain": "approved", "orm": "written", "claimed": "written", "raw": "written"}
    code = totp.code_at(Secret(demo.DEMO_TOTP_SECRET), totp.step_at(now))
    try:
        approvals.approve(
            withdrawal_id=row.pk,
            person=person,
            digest=row.digest,
            answer={"kind": "totp", "code": code},
            comment="",
            session_key="by-hand",
            now=now,
        )
    except approvals.CannotApprove as refused:
        found["domain"] = str(refused)
    word = {
        "withdrawal": row,
        "person": person,
        "digest": row.digest,
        "stage": "release",
        "verdict": "reject",
        "at": now,
    }
    for name, initiator in (("orm", person), ("claimed", other)):
        try:
            with transaction.atomic():
                Approval.objects.create(initiator=initiator, **word)
        except IntegrityError as refused:
            found[name] = str(refused)
    columns = "withdrawal_id, initiator_id, person_id, digest, stage, verdict, comment, at"
    values = [row.pk, person.pk, person.pk, row.digest, "release", "reject", "", now]
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO exchange_ops_approval ({columns}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", values
            )
    except IntegrityError as refused:
        found["raw"] = str(refused)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
