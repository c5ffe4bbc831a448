"""`manage.py rehearsal`: what `manage.py rehearse` has done in a desk: the file, the second desk's rows."""

import json
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from desk import clock
from exchange_ops.rehearsals import files, loading, report, writing
from exchange_ops.rehearsals.drills import conducting
from exchange_ops.rehearsals.drills.sandbox_control import CannotControl, SandboxControl
from exchange_ops.rehearsals.drills.scene import CannotDrill
from exchange_ops.rehearsals.drills.table import DRILLS
from exchange_ops.shared import places

_REFUSALS = (files.CannotReadFile, loading.CannotLoad, writing.CannotWrite, CannotControl, CannotDrill)


class Command(BaseCommand):
    """One step of a rehearsal; people use `manage.py rehearse`, which calls it with the right settings."""

    help = "One step of a rehearsal; use `manage.py rehearse`, which starts the steps with the right settings."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        step = steps.add_parser("write", help="write this desk's figures to a file")
        step.add_argument("file", type=Path)
        steps.add_parser("load", help="make the rehearsal desk from the file in its folder")
        step = steps.add_parser("drill", help="cause one kind of trouble and report what people do")
        step.add_argument("name")
        step = steps.add_parser("report", help="how long people took")
        step.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        steps = {"write": self._write, "load": self._load, "drill": self._drill, "report": self._report}
        try:
            steps[options["step"]](options)
        except _REFUSALS as reason:
            raise CommandError(str(reason)) from None

    def _write(self, options: dict[str, Any]) -> None:
        for sentence in writing.write(options["file"], now=clock.now()).sentences():
            self.stdout.write(sentence)

    def _load(self, options: dict[str, Any]) -> None:
        loaded = loading.load(files.read(settings.DATA_DIR / files.FILE_NAME), now=clock.now())
        if loaded is None:
            return
        for problem in loaded.problems:
            self.stdout.write(problem)
        self.stdout.write("\nPasswords and secrets for one-time codes of this rehearsal, printed only now:")
        width = max(len(each.username) for each in loaded.access)
        for each in loaded.access:
            self.stdout.write(f"  {each.username:{width}}  {each.password}  {each.totp_secret}  ({each.roles})")
        self.stdout.write("")

    def _drill(self, options: dict[str, Any]) -> None:
        drill = DRILLS.get(options["name"])
        if drill is None:
            raise CommandError(f"There is no drill {options['name']!r}; there are {', '.join(DRILLS)}.")
        control = SandboxControl(places.default().url)
        with conducting.alone(settings.DATA_DIR):
            record = conducting.conduct(drill, control=control, say=self._say, now=clock.now, pause=time.sleep)
            conducting.keep(record, settings.DATA_DIR)
        self._say("")
        for line in conducting.summary(record):
            self._say(line)

    def _report(self, options: dict[str, Any]) -> None:
        times, drills = report.payouts(), conducting.kept_in(settings.DATA_DIR)
        if options["json"]:
            self._say(json.dumps(report.as_json(times, drills), indent=1))
            return
        for line in report.as_text(times, drills, desk_url=settings.DESK_URL):
            self._say(line)

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
