"""A desk that is no demo, as docs/running.md sets it up: TLS in front, secrets of its own, a sealed exchange elsewhere.

The exchange is played by a sandbox without its control plane on another port. Two things differ from a company's desk,
and are said here: passwords hash quickly, and a second factor does not rest for its first day (tests/live_settings.py).
"""

import asyncio
import base64
import hashlib
import secrets
import socketserver
import ssl
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests import servers
from tests.houses import ROOT, RunningHouse, free_port

NAME = "desk.test"


class MailServer:
    """Takes every mail and keeps its text."""

    def __init__(self):
        self.mails, server = [], self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                self._say("220 mail.test")
                while line := self.rfile.readline().strip().upper():
                    if line == b"DATA":
                        self._say("354 go on")
                        lines = []
                        while (text := self.rfile.readline()) not in (b".\r\n", b""):
                            lines.append(text)
                        server.mails.append(b"".join(lines).decode())
                    self._say("221 bye" if line == b"QUIT" else "250 ok")
                    if line == b"QUIT":
                        return

            def _say(self, text):
                self.wfile.write(f"{text}\r\n".encode())

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


class Proxy:
    """What stands in front of a desk: TLS under its name, and the headers that say so. One connection a request."""

    def __init__(self, folder, *, to):
        self._to, self.port = to, free_port()
        key = ec.generate_private_key(ec.SECP256R1())
        name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)]), datetime.now(UTC)
        made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        made = made.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(hours=1))
        made = made.not_valid_after(now + timedelta(days=1))
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        path = folder / "proxy.pem"
        plain, pem = serialization.NoEncryption(), serialization.Encoding.PEM
        path.write_bytes(
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
            + made.sign(key, hashes.SHA256()).public_bytes(pem)
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        self.pin = base64.b64encode(hashlib.sha256(public).digest()).decode()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(path)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @property
    def url(self):
        return f"https://{NAME}:{self.port}"

    def _serve(self):
        asyncio.set_event_loop(self._loop)
        starting = asyncio.start_server(self._taken, "127.0.0.1", self.port, ssl=self._context)
        server = self._loop.run_until_complete(starting)
        self._loop.run_forever()
        server.close()

    async def _taken(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._to)
            to_writer.write(_in_front(head))
            await asyncio.gather(_pipe(reader, to_writer), _pipe(to_reader, writer), return_exceptions=True)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()


def _in_front(head):
    lines = head.split(b"\r\n")
    is_socket = any(line.lower().startswith(b"upgrade:") for line in lines)
    left = [lines[0]] + [
        line
        for line in lines[1:-2]
        if not line.lower().startswith(b"x-forwarded") and (is_socket or not line.lower().startswith(b"connection:"))
    ]
    added = [b"X-Forwarded-Proto: https", b"X-Forwarded-For: 127.0.0.1"] + ([] if is_socket else [b"Connection: close"])
    return b"\r\n".join([*left, *added, b"", b""])


async def _pipe(reader, writer):
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


class LiveDesk:
    """The sealed exchange, the mail server, the desk and the proxy in front of it, from an empty folder."""

    def __init__(self, folder: Path):
        self.mail = MailServer()
        (folder / "broker").mkdir()
        self._broker = servers.Redis(folder / "broker")
        exchange = free_port()
        self._exchange = subprocess.Popen(
            [sys.executable, "manage.py", "sandbox", "--sealed", "--still", "--block-seconds", "2"]
            + ["--port", str(exchange), "--data-dir", str(folder / "exchange")],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = free_port()
        self.proxy = Proxy(folder, to=port)
        self.house = RunningHouse(
            folder=folder / "desk",
            ports=(port, free_port()),
            DJANGO_SETTINGS_MODULE="tests.live_settings",
            DEMO="off",
            EXCHANGE_URL=f"http://127.0.0.1:{exchange}",
            EXCHANGE_WS_URL=f"ws://127.0.0.1:{exchange}",
            CHAINDATA_URL=f"http://127.0.0.1:{exchange}",
            PRIVATE_HOSTS="127.0.0.1",
            REDIS_URL=self._broker.url,
            CHAIN_NETWORKS="regtest,test",
            ALLOWED_HOSTS=NAME,
            DESK_URL=self.proxy.url,
            TRUSTED_PROXIES="127.0.0.1",
            SECRET_KEY=secrets.token_urlsafe(64),
            KEY_RING=f"k1:{base64.b64encode(secrets.token_bytes(32)).decode()}",
            EMAIL_URL=f"smtp://127.0.0.1:{self.mail.port}",
            MAIL_FROM=f"Desk <desk@{NAME}>",
            LOG_FORMAT="plain",
        )

    def stop(self):
        self.house.stop()
        self._exchange.terminate()
        self._exchange.wait(timeout=20)
        self.proxy.stop()
        self.mail.stop()
        self._broker.stop()
