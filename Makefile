# Everything below works from a fresh clone: each target first makes .venv if it is missing or if the lock changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MLFLOW_DISABLE_TELEMETRY := true
export OMP_NUM_THREADS ?= 1

.PHONY: demo test test-fast test-browser chromium test-cluster chaos postgresql lint bench venv lock clean

demo: venv  ## the first study, end to end: paper figure 3 on real digits
	$(BIN)/echostudy run study/specs/digits.yaml

test: lint test-fast  ## everything: style, types, all tests
	$(BIN)/pytest -m "slow and not browser and not cluster"

test-fast: venv  ## what needs neither Ray nor a server, in two minutes
	$(BIN)/pytest -n 2 -m "not slow and not browser and not cluster"

test-browser: venv chromium  ## the report in a real Chromium
	$(BIN)/pytest -m browser

chromium:  ## installs Debian's where it is missing and may
	@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq chromium; } \
	  || { echo "make test-browser needs Chromium: install it, e.g. with: sudo apt-get install chromium"; exit 1; }

test-cluster: venv postgresql  ## a study on a real Ray cluster, with MLflow on PostgreSQL
	PYTHONPATH=. $(BIN)/pytest -m cluster

chaos: venv postgresql  ## twenty faults at random moments; ECHOSTUDY_FAULTS and ECHOSTUDY_CHAOS_SEED are others
	ECHOSTUDY_FAULTS=$${ECHOSTUDY_FAULTS:-20} PYTHONPATH=. $(BIN)/pytest -m cluster tests/cluster/test_chaos.py

postgresql:  ## installs Debian's where it is missing and may
	@ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || command -v initdb > /dev/null \
	  || { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -y -qq postgresql; } \
	  || { echo "make test-cluster needs PostgreSQL: install it, e.g. with: sudo apt-get install postgresql"; exit 1; }

lint: venv  ## ruff and mypy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: venv  ## speed and memory, as ratios within one run
	for bench in benchmarks/bench_*.py; do $(BIN)/python $$bench || exit 1; done

venv:
	@cmp -s requirements.lock $(VENV)/installed.lock || { \
	  set -e; \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "echostudy needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'; \
	  test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .; \
	  cp requirements.lock $(VENV)/installed.lock; }

lock: venv  ## write the versions now installed in .venv into requirements.lock
	$(BIN)/python -m pip freeze --all --exclude-editable --exclude pip \
	  | sed -E '/^(cuda-|nvidia-|triton=)/ s/$$/ ; sys_platform == "linux"/' > requirements.lock.new
	mv requirements.lock.new requirements.lock
	cp requirements.lock $(VENV)/installed.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
