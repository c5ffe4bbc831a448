"""The servers that the tests themselves stand on."""

import os
import stat
from pathlib import Path
from urllib.parse import urlsplit

import redis
from django.conf import settings


def test_redis_is_private_and_answers():
    path = Path(urlsplit(os.environ["REDIS_URL"]).path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    client = redis.Redis.from_url(os.environ["REDIS_URL"])
    assert client.ping()
    assert client.config_get("port") == {"port": "0"}
    client.close()


def test_settings_were_read_after_the_servers_had_started():
    assert settings.REDIS_URL == os.environ["REDIS_URL"]
    assert str(settings.DATA_DIR) == os.environ["DATA_DIR"]
    assert settings.DEMO
    assert settings.EXCHANGE_URL.endswith(":9"), "a test must never find a running sandbox by accident"
