# The door for people and CI. `make` prints the targets.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
DEMO := .demo
DJANGO := django-5.2.9
VERSITYGW := v1.8.0
# Beside the environment and not in it: a `uv` on the path would be one of the programs that servers may ask.
UV := uv==0.13.9
CLONES ?= .bench/repositories
BENCH_FLAGS ?=
TEST_FLAGS ?=
SERVERS ?= ts7 typescript-language-server gopls clangd bash-language-server rust-analyzer javac intelephense
TOOLCHAINS := $(CURDIR)/.toolchains
export PATH := $(TOOLCHAINS)/bin:$(PATH)
# Python keeps what it compiled, whatever the shell says: collecting the tests costs 5 s of processor in place of 12, a command 0.1 for 0.4.
unexport PYTHONDONTWRITEBYTECODE
# The C library keeps more of what is given back for the same thread: a third of DuckDB's planning is malloc, and a small merge takes a
# seventh less of processor.
export GLIBC_TUNABLES ?= glibc.malloc.tcache_count=2000
# How the tests run side by side: a process for each processor and one more, for tests wait for the programs that they start a quarter of
# the time; the tests of one module stay together, for they share what is dear to make, and modules that cost much come first
# (tests/costs.py), so that none is left for one process at the end.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
SIDE_BY_SIDE ?= -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
ASK := $(BIN)/lspidx -C $(DEMO)/$(DJANGO)/django

.DEFAULT_GOAL := help
.PHONY: help setup toolchains servers object-store demo-index demo quick quick-tests quick-types ready test costs kills fuzz moving check cache-check format lint types page-check bench bench-quick bench-changes bench-traces bench-accuracy bench-increments bench-moving bench-renames bench-live bench-agents bench-clones bench-completeness self docs book cache golden clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --target .venv/.uv $(UV) || echo "uv cannot be had: pip installs, in some minutes"
	@test -x .venv/.uv/bin/uv && .venv/.uv/bin/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable '.[all]' --group dev \
		|| $(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	@touch $(STAMP)

setup: $(STAMP) ## make .venv with lspidx, its pinned servers and the tools for developers

demo-index: $(STAMP) ## fetch Django from the registry and index it (the demo and the tests of README use it)
	@mkdir -p $(DEMO)
	@test -d $(DEMO)/$(DJANGO) || ( $(BIN)/python -m pip download --quiet --no-deps --no-binary :all: --dest $(DEMO) Django==5.2.9 && tar -xzf $(DEMO)/$(DJANGO).tar.gz -C $(DEMO) )
	@test -d $(DEMO)/env || ( $(PYTHON) -m venv $(DEMO)/env && $(DEMO)/env/bin/python -m pip install --quiet asgiref==3.11.0 sqlparse==0.5.4 )
	@printf 'language.javascript.server = "none"\n' > $(DEMO)/$(DJANGO)/django/lspidx.toml
	$(BIN)/lspidx index --python $(DEMO)/env $(DEMO)/$(DJANGO)/django

demo: demo-index ## index Django from the registry and ask it what README asks
	$(ASK) query callers formset_factory
	$(ASK) query references AppConfig.get_models --limit 3
	$(ASK) query hierarchy ListView
	$(ASK) sql "SELECT evidence, count(*) AS edges FROM calls GROUP BY evidence ORDER BY edges DESC LIMIT 3"

toolchains: $(STAMP) ## bring Node, npm and Go by wheels into .toolchains, where the machine lacks them (330 MB)
	@$(BIN)/python -m ci.toolchains $(TOOLCHAINS)

servers: toolchains ## install the pinned servers that the tests crawl with (rust-analyzer is built, where none is there: about 5 minutes, once)
	@$(BIN)/python tests/toolchains.py $(filter --all-servers,$(TEST_FLAGS)) $(SERVERS)

object-store: toolchains ## install the S3 store that the tests push to (beside moto, which comes by pip and checks no signatures)
	@test -x $(BIN)/versitygw || GOBIN=$(CURDIR)/$(BIN) go install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW) \
		|| echo "versitygw cannot be had: the tests with it are left out"

kills: servers ## kill each command that writes a hundred times, and print what became of it (about 25 minutes)
	$(BIN)/python -m pytest tests/test_interruptions.py -k killed --kills 100

fuzz: $(STAMP) ## damage 2,000 files below .lspidx, one at a time, then 1,000 artifacts and 25,000 files of SCIP, and print what became of it (about 35 minutes)
	LSPIDX_DAMAGE_CASES=2000 $(BIN)/python -m pytest tests/test_damage_fuzz.py -s
	LSPIDX_FUZZ_INPUTS=200 $(BIN)/python -m pytest tests/test_cache_fuzz.py -s
	LSPIDX_SCIP_CASES=25000 $(BIN)/python -m pytest tests/test_scip_import.py -k damaged

fuzz-mcp: $(STAMP) ## call every tool of MCP and of each dialect 25,000 times with arguments that fit and that do not, and print what became of it (about 15 minutes)
	LSPIDX_MCP_CALLS=5000 LSPIDX_HANGS_S=7200 $(BIN)/python -m pytest tests/test_mcp_fuzz.py -s

moving: $(STAMP) ## edit small packages in 1,000 random turns and ask after each, and print what became of it (about 25 minutes of processor)
	LSPIDX_INTERLEAVINGS=1000 $(BIN)/python -m pytest tests/test_interleavings.py -s

quick: $(STAMP) ## style, layers, types of what has changed and the tests that need no toolchain, no server but ty, no download, no crawl of their own, and are cheap (a minute)
	@$(MAKE) --no-print-directory --jobs 3 --keep-going --output-sync=target lint quick-types quick-tests

# In two processes: the check of the types takes a processor for long only after a change that many modules see.
quick-tests: $(STAMP)
	$(BIN)/python -m pytest --quick -q -n 2 --dist loadfile --no-loadscope-reorder $(TEST_FLAGS)

# Three that wait for downloads and for each other's programs, so side by side.
ready: $(STAMP)
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=line demo-index servers object-store

test: ready ## run every test: behaviour, real servers, README, style, types, layers (TEST_FLAGS=--all-servers: none left out)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(TEST_FLAGS)

costs: ready ## every test, and what each costs to tests/costs.json, by which `make quick` chooses (on a machine that does nothing else)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) --write-costs $(TEST_FLAGS)

check: test cache-check ## what must pass before a change is handed in

cache-check: $(STAMP) ## whether cache-artifacts/ describes at least 90 % of the source files as they are
	@$(BIN)/python -m ci.freshness

format: $(STAMP) ## write the code in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(STAMP) ## style and layers only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(STAMP) ## types only
	$(BIN)/basedpyright

quick-types: $(STAMP)
	@$(BIN)/python -m ci.types

page-check: $(STAMP) ## the report's page and the pages of an index in Chromium (needs it and npm); screenshots are left in .pages
	$(BIN)/python -m pytest tests/page_check.py

bench: $(STAMP) ## compare with scip-python, scip-typescript and scip-go: speed, memory, accuracy (needs npm and go; about 40 minutes)
	$(BIN)/python -m ci.bench

bench-quick: $(STAMP) ## the same on flask, django's package, rxjs and mux only
	$(BIN)/python -m ci.bench --quick

bench-changes: $(STAMP) ## break functions of real packages and see whether the tests that fail are named; one change beside agent-lsp (about 30 minutes)
	$(BIN)/python -m ci.bench.changes

bench-traces: $(STAMP) ## run tests of real packages under a profiler: which calls that run does the index have, and which of its calls lead elsewhere (about 5 minutes)
	$(BIN)/python -m ci.bench.traces

bench-accuracy: $(STAMP) ## write the page of this version's accuracy: calls that ran in nine packages of Python and four of Node, beside other engines (about an hour)
	$(BIN)/python -m ci.bench.accuracy_page $(BENCH_FLAGS)

bench-increments: $(STAMP) ## what edits of django and chains of releases cost, and whether every row is that of a crawl from nothing (about 15 minutes)
	$(BIN)/python -m ci.bench.increments

bench-moving: $(STAMP) ## edit real packages, and compare the answers of a living process with those of a crawl from nothing (about 15 minutes)
	$(BIN)/python -m ci.bench.moving

bench-renames: $(STAMP) ## rename 60 symbols of each of nine packages; import every module and run the tests after each (about an hour)
	$(BIN)/python -m ci.bench.renames

bench-live: $(STAMP) ## hovers, references and a rename by a running server, beside the index and beside agent-lsp (about 5 minutes)
	$(BIN)/python -m ci.bench.live

bench-agents: $(STAMP) ## twelve pieces of work of an agent over MCP in three repositories in CLONES, beside search and reading (about 15 minutes)
	$(BIN)/python -m ci.bench.agent_tasks --clones "$(CLONES)" $(BENCH_FLAGS)

bench-clones: $(STAMP) ## index every clone in the folder CLONES as git gives it, before and after its download step, and print the table
	$(BIN)/python -m ci.bench.clones "$(CLONES)" $(BENCH_FLAGS)

bench-completeness: $(STAMP) ## is "complete" true, is "partial" worth it: pyrefly's call graph, 200 questions about clones in CLONES, the traps
	$(BIN)/python -m ci.bench.completeness $(wildcard $(CLONES)) $(BENCH_FLAGS)

self: $(STAMP) ## index this repository and lint the result
	$(BIN)/lspidx index .
	$(BIN)/lspidx lint
	$(BIN)/lspidx status

docs: $(STAMP) ## write what is made from declarations: the tools' reference, the Python functions, the table of servers
	$(BIN)/python -m query.surface.generate
	$(BIN)/python -m indexer.servers.table indexer/doc/languages.md

book: $(STAMP) ## write the documents as a site with a search into .book/site
	@mkdir -p .book
	$(BIN)/python -m ci.book .book

cache: $(STAMP) ## index this repository and write cache-artifacts/, to be committed
	$(BIN)/lspidx index .
	$(BIN)/lspidx cache export cache-artifacts

golden: $(STAMP) ## write the golden files of the tests anew; review the diff
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest -q

clean: ## remove what the targets made, but not the corpora of the benchmark
	rm -rf .venv $(TOOLCHAINS) $(DEMO) .book .lspidx .pytest_cache .ruff_cache build *.egg-info
