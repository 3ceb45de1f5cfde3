# Everything runs in .venv, which each target sets up first. Another Python has another:
# make test PYTHON=python3.12 VENV=.venv-3.12
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
SUDO := $(shell test "$$(id -u)" = 0 || command -v sudo)

.PHONY: setup test lowest browser acceptance defaults cluster soak fuzz lint format demo screenshots explorer-runtime docs clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@# LightGBM needs the system's OpenMP library, which the barest machines lack.
	$(BIN)/python -c 'import lightgbm' 2>/dev/null || { \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq libgomp1; }
	touch $(READY)

test: $(READY) browser
	$(BIN)/python -m pytest -n 2 --dist worksteal

# A part that leans on every dependency; extras and studies are not in it.
LEANING := tests/methods/test_beta_vae.py tests/methods/test_beta_tcvae.py tests/metrics tests/training \
	tests/figures tests/cli/test_cli.py tests/test_runs.py tests/test_files.py tests/test_estimator.py \
	tests/test_walk.py
lowest: # The least versions that pyproject.toml names, in an environment of their own
	test -x $(VENV)-lowest/bin/python || $(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt \
		--editable '.[tensorboard]' pandas polars hypothesis pytest
	$(VENV)-lowest/bin/python -m pytest $(LEANING)

browser: # Debian's Chromium, for the tests of the explorer's page, where it may be installed
	@command -v chromium > /dev/null || { \
		command -v apt-get > /dev/null && \
		{ test "$$(id -u)" = 0 || sudo -n true 2> /dev/null; } && \
		$(SUDO) apt-get update -qq && \
		$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends chromium fonts-dejavu-core; } || \
		echo "no Chromium, and none may be installed here: tests of the page will be skipped"

screenshots: $(READY) browser
	$(BIN)/python docs/screenshots.py

explorer-runtime: # Rebuild what the page evaluates decoders with; needs Node.js and npm
	cd explorer_runtime && npm ci && npm run build

acceptance: $(READY)
	$(BIN)/python -m pytest -m acceptance -n 2 --dist worksteal --durations 0; outcome=$$?; \
	$(BIN)/python tests/acceptance/write_page.py; exit $$outcome

defaults: $(READY) # Every method as a user gets it who sets nothing; hours
	$(BIN)/python benchmarks/defaults.py

cluster: $(READY)
	$(BIN)/python -m pytest -m cluster tests/studies/test_ray.py

SOAK_SECONDS ?= 1800
soak: $(READY) # A study under kills and a full disk, beside the explorer; half an hour
	$(BIN)/python benchmarks/soak.py --seconds $(SOAK_SECONDS)

fuzz: $(READY) # Ten thousand spoilt files and commands; about ten minutes of one core
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz/fuzz.py --cases 10200

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

demo: $(READY)
	$(BIN)/unweave demo

docs: $(READY) # The site, build/site/index.html, a warning is an error; and what its pages run
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going docs build/site
	$(BIN)/python -m pytest -m docs -n 2 --dist worksteal tests/test_docs_code.py tests/test_notebooks.py

clean:
	rm -rf $(VENV) build dist docs/generated src/*.egg-info .pytest_cache .mypy_cache .ruff_cache
