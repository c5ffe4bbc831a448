from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chaindata import tip_follower
from chaindata.cache import service
from chaindata.proofs.verification import Verdict
from desk import clock
from exchange_ops.management.payouts import by_reference
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import payouts
from wire.errors import CallFailed


class Command(BaseCommand):
    help = "Verify a payout on-chain, step by step. Moves no money. Exit status 0 if verified, 1 if not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("withdrawal", help="payout number, with or without W-")

    def handle(self, *args: Any, **options: Any) -> None:
        row = by_reference(options["withdrawal"])
        try:
            verdict = _verdict(row)
        except payouts.CannotProve as reason:
            raise CommandError(f"{row.reference}: {reason}") from None
        except CallFailed as failure:
            raise CommandError(f"{row.reference}: the chain service is unavailable: {failure}") from None
        for step in verdict.steps:
            self.stdout.write(f"{row.reference}  {'ok   ' if step.holds else 'FAILS'}  {step.sentence}")
        if not verdict.is_proven:
            raise CommandError(f"{row.reference} is not verified: {verdict.sentence}")
        if verdict.depth < settings.PAYOUT_PROOF_DEPTH:
            depths = f"{verdict.depth} of {settings.PAYOUT_PROOF_DEPTH} required confirmations"
            raise CommandError(f"{row.reference} is not verified yet: {depths}.")


def _verdict(row: Withdrawal) -> Verdict:
    tip_follower.follow(now=clock.now(), open_client=service.open_client)
    client = service.open_client()
    try:
        return payouts.check(row=row, client=client, now=clock.now())
    finally:
        client.close()
