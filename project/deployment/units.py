"""`manage.py units FOLDER`: units of systemd for the processes of a desk, from the table that `up` and compose have."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from project.deployment.processes import ALL, Process

TARGET = "countersign.target"
_TARGET = """[Unit]
Description=Countersign
Wants={wanted}

[Install]
WantedBy=multi-user.target
"""
_UNIT = """[Unit]
Description=Countersign: {purpose}
PartOf={target}
After=network-online.target postgresql.service redis-server.service valkey-server.service
Wants=network-online.target
StartLimitIntervalSec=0

[Service]
{kind}
User={user}
WorkingDirectory={code}
EnvironmentFile={environment_file}
{environment}ExecStart={code}/.venv/bin/python {arguments}
Restart=always
RestartSec=2
TimeoutStopSec=15
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
PrivateTmp=yes
PrivateDevices=yes
ProtectSystem=strict
ProtectHome=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictSUIDSGID=yes
ReadWritePaths={data}
SyslogIdentifier=countersign-{name}

[Install]
WantedBy={target}
"""


def units(*, code: str, data: str, user: str, environment_file: str) -> dict[str, str]:
    """The text of each unit by the name of its file: one for every process, and the target that starts them all.

    A process that gives signs of life is ended and started again when none came for 45 s, as `up` does it.
    """
    texts = {
        f"countersign-{each.name}.service": _UNIT.format(
            name=each.name,
            purpose=each.purpose,
            target=TARGET,
            kind="Type=notify\nNotifyAccess=main\nWatchdogSec=45\nTimeoutStartSec=120"
            if each.gives_signs
            else "Type=exec",
            user=user,
            code=code,
            data=data,
            environment_file=environment_file,
            environment="".join(f"Environment={name}={value}\n" for name, value in each.environment.items()),
            arguments=_quoted(each),
        )
        for each in ALL
    }
    return {TARGET: _TARGET.format(wanted=" ".join(texts)), **texts}


def _quoted(process: Process) -> str:
    """The arguments as systemd reads them: a percent sign begins a specifier there, unless it is doubled."""
    return " ".join(process.arguments).replace("%", "%%")


def main(arguments: Sequence[str]) -> int:
    """Write the units into a folder and print their names; 0 when all are written."""
    parser = argparse.ArgumentParser(prog="manage.py units", description="Write the systemd units for this desk.")
    parser.add_argument("folder", type=Path, help="folder to write to, for example /etc/systemd/system")
    parser.add_argument("--code", default="/srv/countersign", help="the folder with the code and its .venv")
    parser.add_argument("--data", default="/var/lib/countersign", help="the desk's DATA_DIR")
    parser.add_argument("--user", default="desk", help="the user that runs the desk")
    parser.add_argument("--environment-file", default="/etc/countersign/env", help="the file with the settings")
    options = parser.parse_args(arguments)
    texts = units(code=options.code, data=options.data, user=options.user, environment_file=options.environment_file)
    for name, text in texts.items():
        (options.folder / name).write_text(text)
    sys.stdout.write("\n".join(texts) + "\n")
    return 0
