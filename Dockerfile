# One image for web, worker, beat, follower and sandbox; docker-compose.yml says which command each runs.
# A tag may move: for a build that can be repeated, give the digest (docs/running.md, "In containers").
ARG BASE_IMAGE=python:3.11-slim
FROM ${BASE_IMAGE}

ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

RUN groupadd --gid 10001 desk \
    && useradd --uid 10001 --gid desk --home-dir /srv/countersign --no-create-home --shell /usr/sbin/nologin desk \
    && install --directory --owner desk --group desk /var/lib/countersign

# For `manage.py backup`: pg_dump refuses a server that is newer than itself, and Debian's may be older than the database.
ARG POSTGRES_CLIENT=18
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates postgresql-common \
    && /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y \
    && apt-get install --yes --no-install-recommends "postgresql-client-${POSTGRES_CLIENT}" \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /srv/countersign

# The lock alone decides what is installed; the layer is kept until it changes.
COPY requirements.txt .
RUN python -m pip install --require-hashes --only-binary :all: --no-deps --requirement requirements.txt

# Owned by root: what runs here can't change its own code.
COPY . .
RUN python -m compileall -q wire project desk exchange_ops chaindata sandbox

ENV DATA_DIR=/var/lib/countersign LISTEN=0.0.0.0
USER desk
EXPOSE 8000
CMD ["python", "-m", "project.serve"]
