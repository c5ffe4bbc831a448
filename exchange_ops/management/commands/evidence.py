from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from chaindata.cache import service
from desk import clock
from exchange_ops.evidence import bundle, period, verifier
from exchange_ops.management.payouts import by_reference
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import PeriodForm
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.proofs import material


class Command(BaseCommand):
    help = "Write the evidence of a payout or of all payouts of a period, or the verifier. Moves no money."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("withdrawal", nargs="?", help="payout number, with or without W-")
        parser.add_argument("--verifier", action="store_true", help=f"write {verifier.NAME} alone")
        parser.add_argument("--since", help="first day of a period (UTC), for example 2026-11-01")
        parser.add_argument("--until", help="last day of the period")
        parser.add_argument("--to", required=True, help="the file to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["to"])
        if options["verifier"]:
            _write(path, verifier.source().encode())
            self.stdout.write(f"{path} written. Usage: python3 {path.name} BUNDLE.zip")
            return
        if options["since"] or options["until"]:
            self._write_period(path, options)
            return
        row, now = by_reference(options["withdrawal"] or ""), clock.now()
        with _new(path) as file:
            try:
                written = bundle.write(file, withdrawal_id=row.pk, reader=None, material=_material(row), now=now)
            except bundle.CannotExport as problem:
                path.unlink()
                raise CommandError(str(problem)) from None
        bundle.record(row, written.facts, person=None, session_key="", now=now)
        self.stdout.write(f"{path} written: the evidence of {row.reference}.")
        for sentence in written.missing:
            self.stdout.write(f"Not there yet: {sentence}")

    def _write_period(self, path: Path, options: dict[str, Any]) -> None:
        if options["withdrawal"] or not (options["since"] and options["until"]):
            raise CommandError("Nothing was written: name a payout, or both --since and --until.")
        now = clock.now()
        form = PeriodForm(options, now=now)
        if (days := form.period()) is None:
            raise CommandError(f"Nothing was written. {' '.join(form.problems())}")
        try:
            contents = period.contents_of(days, accounts=Account.objects.all(), reader=None)
        except bundle.CannotExport as problem:
            raise CommandError(str(problem)) from None
        with _new(path) as file:
            try:
                manifest_sha256 = period.write(file, contents, material=_material, now=now)
            except bundle.CannotExport as problem:
                path.unlink()
                raise CommandError(str(problem)) from None
        period.record(contents, manifest_sha256, person=None, session_key="", now=now)
        self.stdout.write(f"{path} written: the evidence of {len(contents.payouts)} payouts.")


def _material(row: Withdrawal) -> material.Material:
    client = service.open_client()
    try:
        return material.fetched(row, client=client)
    finally:
        client.close()


def _new(path: Path) -> Any:
    try:
        return path.open("x+b")
    except OSError as problem:
        raise CommandError(f"Nothing was written: {path} can't be created ({problem.strerror}).") from None


def _write(path: Path, content: bytes) -> None:
    with _new(path) as file:
        file.write(content)
