import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from desk import clock, database_mark
from desk.machines.lanes import LANES
from desk.processes import sign_of_life
from exchange_ops.keys import store
from exchange_ops.processes import Following


class Command(BaseCommand):
    help = (
        "Follow the exchange's streams and run due tasks. Only one such process is active at a time. Stops on SIGTERM."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            database_mark.require()
        except database_mark.WrongDatabase as reason:
            raise CommandError(str(reason)) from None
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        self.stdout.write("Stream follower started; waiting for the lease.")
        LANES.use_threads()
        sign_of_life.first()
        Following(
            now=clock.now,
            client_for=store.client_for,
            sweep_every_s=settings.SWEEP_SECONDS,
        ).run(stopping)
