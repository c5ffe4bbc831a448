# Thin wrappers: every target is one command that works without make as well.
PYTHON ?= python3

.PHONY: run test thorough quick check bench lock

# The whole house on this machine, at http://localhost:8000/
run:
	@$(PYTHON) manage.py up

# Everything that CI asks, every promise proven once, with real PostgreSQL, Redis and Chromium
test:
	@CI=true $(PYTHON) manage.py verify

# Every test whole, on both databases, before a release; SHARD=2/6 is one part of it
thorough:
	@CI=true $(PYTHON) manage.py verify --thorough --keep-going $(if $(SHARD),--shard $(SHARD))

# What touches the files that changed since the main branch, in less than a minute
quick:
	@$(PYTHON) manage.py verify --quick

# What needs no server: lint, format, types, borders, migrations, settings, templates
check:
	@$(PYTHON) manage.py verify --check

# Measurements, each against a named peer
bench:
	@$(PYTHON) manage.py bench

# Compile the locks from pyproject.toml (UPGRADE=1 takes the newest versions)
lock:
	@$(PYTHON) manage.py lock $(if $(UPGRADE),--upgrade)
