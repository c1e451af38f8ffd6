# make help lists the targets. The first one that needs them creates the environment in .venv and builds the package.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
BUILT := $(VENV)/.built
DEBUG_BUILT := build/debug/.built
BENCH_BUILT := $(VENV)/.bench-built
DOCS_BUILT := $(VENV)/.docs-built
TYPED := $(shell find service -name '*.pxd')
COMPILED := $(TYPED:.pxd=.py) $(shell find engine http2 service web tests/debug_build -not -path '*/node_modules/*' -a \( -name '*.pyx' -o -name '*.pxd' -o -name '*.[ch]' -o -name '*.po' -o -name '*.pot' \)) $(wildcard proto/chatiere/v1/*.proto)
SHOWN := $(wildcard docs/rules/*.md docs/games/*)
PYTHON_SOURCES := $(shell find engine http2 service clients/chatiere -name '*.py' -o -name '*.pyi')

# The package and the wheel are the same C: where ccache is installed, the second is not compiled again.
ifeq ($(origin CC),default)
ifneq ($(shell command -v ccache),)
export CC := ccache gcc
endif
endif

# The sanitizers' libraries have to be loaded first, and Python has to use malloc instead of its own allocator, so that
# they see the bounds of its objects. Leaks are not checked, because Python itself never frees some memory.
SANITIZED := LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(CURDIR)/build/debug/lib
# The folder of gcc's counters of executed lines after tests with several threads, in which they lose counts.
COUNTED_APART := GCOV_PREFIX=$(CURDIR)/build/debug/threads
# The number of mutated packed states given to the debug build.
MUTATIONS ?= 300000
# The number of damaged messages and packed states that fuzz sends to a server, and the most seconds that it takes.
FUZZ ?= 1000000
SECONDS ?= inf
# The number of calls that fuzz-tables makes.
TABLE_CALLS ?= 100000
# The seed of the first conversation that fuzz-http2 makes, and their number; 0: as many as fit into SECONDS.
SEED ?= 1
COUNT ?= 0
# The scenario of loadtest/scenarios that load runs; empty: all of them.
SCENARIO ?=
LOAD ?=
# Of the siege: part of the name of the attacks that it makes, and the door (grpcio, fast or web); empty: all.
ATTACK ?=
DOOR ?=
# How long soak takes.
MINUTES ?= 20
# The API of the last release, as descriptors.
IMAGE := proto/image/v1.binpb
# The zoo that make zoo makes.
ZOO ?= v1
# Options for make bench, such as BENCH="--quick --row selfplay".
BENCH ?=
# The number of games that debug-games plays of each game and number of players.
GAMES ?= 2000
# Options for make compat, such as COMPAT="--row maskable_ppo"; --lowest for the extras' lowest releases alone, without torch.
COMPAT ?=
# Options for make mutants, such as MUTANTS="--only discat --count 10 --seed 2"; --resume to go on with the run whose
# verdicts are committed, --again for its survivors.
MUTANTS ?=

# The Pythons that first-game plays with.
PYTHONS ?= $(PYTHON)

# The version that make release makes, such as 1.0.0.
VERSION ?=

# For the Python of deploy/Dockerfile; `make constraints UPGRADE=--upgrade` also takes newer releases.
UPGRADE ?=
COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --python-version 3.13 --python-platform linux \
	--custom-compile-command "make constraints" $(UPGRADE)

# The compiled parts that depend on libnghttp2, if they are built.
HTTP2 = $(shell $(BIN)/python -c 'from chatiere.http2 import is_built; print("chatiere.http2" * is_built())')

# The fuzzer of conversations: the C of http2/ with libnghttp2 and the sanitizers; the system calls that it makes are played.
# The sources that `apt-get source nghttp2` puts into build/ are compiled with them; else the library is taken as it is.
FUZZ_HTTP2 := build/fuzz_http2
NGHTTP2_SOURCE := $(lastword $(sort $(wildcard build/nghttp2-*/lib)))
FUZZ_HTTP2_SOURCES := $(wildcard http2/chatiere/http2/*.[ch] tests/fuzz/http2/*.[ch] $(addsuffix /*.c,$(NGHTTP2_SOURCE)))
PLAYED := accept4 clock_gettime close epoll_create1 epoll_ctl epoll_wait eventfd getrandom read recv sched_yield sendmsg \
	setsockopt shutdown write

comma := ,

# Tests are independent of each other: as many processes as there are cores share them.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
# Browsers and processes may starve: a test that fails is tried again, and listed with its traceback in any case.
RERUNS := --reruns 2 --rerun-show-tracebacks -rR
OF_TEST := not cluster and not slow and not whole_page and not languages and not site

.PHONY: help demo web test test-all slow page clients cluster compat docs docs-serve lint debug coverage debug-games rare-events mutants processors wheel first-game release constraints image zoo fuzz fuzz-tables fuzz-http2 load soak bench clean
.DELETE_ON_ERROR:

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(BUILT) ## Play a seeded game of Discat between bots through a gRPC channel, printed move by move
	@$(BIN)/chatiere play --game discat --players 3 --seed 7

web: $(BUILT) ## Serve the page on this machine, to play in a browser, and print its URL
	@$(BIN)/chatiere web

test: $(BUILT) ## Run every test of the release build that takes no seconds once: on one game, at one door
	$(PYTEST) -m "not repeated and not long and $(OF_TEST)" --ignore=tests/debug_build

test-all: test ## Run the same tests on all games, doors, numbers of players and sample games, and those that take seconds
	$(PYTEST) $(RERUNS) -m "(repeated or long) and $(OF_TEST)" --ignore=tests/debug_build

slow: $(BUILT) ## Run the tests that take long, of the examples, make bench and the packed client in TypeScript: before a release, and after a change to these
	$(PYTEST) -m slow tests/examples tests/loadtest tests/clients

page: $(BUILT) ## Run all tests of the page in Chromium: every game in every way, width and colours; before a release, and after a change to it
	$(PYTEST) tests/page

clients: $(BUILT) ## Compile the API for C++, Go, Java and TypeScript, and play all games in each; generate it for others
	$(BIN)/python -m pytest -m languages tests/api

cluster: $(BUILT) ## Run the tests of self-play on a Ray cluster, which want the machine to themselves
	$(BIN)/python -m pytest -m cluster tests/clients/test_selfplay_cluster.py

compat: $(BUILT) ## Try learners' libraries on the environments, each with the lowest and the highest releases that go with us (downloads gigabytes)
	cd tests && ../$(BIN)/python -m compat $(COMPAT)

docs: $(DOCS_BUILT) ## Build the documentation's site in build/site (with Node), with a warning as an error, and test it in Chromium
	$(BIN)/python docs/site/protos.py
	$(BIN)/python docs/site/sheets.py
	PYTHONPATH=. $(BIN)/python docs/site/typescript.py
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site . build/site
	$(BIN)/python -m pytest -m site tests/documentation

docs-serve: docs ## Serve that site on this machine
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

lint: $(BUILT) ## Check style (ruff, cython-lint), types (mypy), the C (gcc's warnings), the page (tsc, prettier; with Node), the workflows (zizmor) and the API definition, also against the last release's (buf)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy engine http2 service clients/chatiere web/chatiere tests loadtest release
	$(BIN)/python -m mypy.stubtest --ignore-missing-stub chatiere.engine chatiere.bots.search chatiere.bots.integer_network $(HTTP2)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint engine http2 service tests/debug_build
	gcc -fsyntax-only -Wall -Wextra -Wshadow -Wconversion -Werror -Iengine/chatiere/bots engine/chatiere/bots/*.c tests/bots/*.c
	$(if $(HTTP2),gcc -fsyntax-only -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -Werror -Ihttp2/chatiere/http2 \
		$$(pkg-config --cflags libnghttp2) http2/chatiere/http2/*.c tests/fuzz/http2/*.c)
	$(BIN)/python tests/page_lint.py
	$(BIN)/zizmor --offline --no-progress --quiet .github/workflows
	$(BIN)/buf lint proto
	$(BIN)/buf format --diff --exit-code proto
	$(BIN)/buf breaking proto --against $(IMAGE)

image: $(BUILT) ## At a release: make the image of the API anew with which make lint compares it
	$(BIN)/buf build proto --exclude-source-info --output $(IMAGE)

zoo: $(BUILT) ## At a release: keep states, records and sealed tables in ZOO, which every later build has to play on
	cd tests && ../$(BIN)/python -m zoo data/zoo/$(ZOO)

debug: $(DEBUG_BUILT) ## Run the tests of the engine and the fast door with invariants and sanitizers on
	find build/debug -name '*.gcda' -delete
	$(SANITIZED) CHATIERE_COVERAGE=1 CHATIERE_MUTATIONS=$(MUTATIONS) $(PYTEST) $(RERUNS) -m "not release_only and not threads" \
		tests/debug_build tests/engine tests/conformance tests/games tests/bots/test_search.py tests/bots/test_search_network.py \
		tests/bots/test_integer_network.py
	$(SANITIZED) $(COUNTED_APART) CHATIERE_COVERAGE=1 $(PYTEST) $(RERUNS) -m threads tests/engine
	$(SANITIZED) $(COUNTED_APART) $(PYTEST) $(RERUNS) -m "not release_only" \
		tests/service/fast_door tests/clients/test_client_fast_call.py
	cd tests && $(SANITIZED) $(COUNTED_APART) ../$(BIN)/python -m fuzz.wire --seconds 20

coverage: $(DEBUG_BUILT) ## List the lines of the compiled engine and search that make debug did not run; fails if one has no reason
	$(BIN)/python tests/kernel_coverage.py build/debug

debug-games: $(DEBUG_BUILT) ## Play GAMES random games of each game and number of players in the debug build
	$(SANITIZED) $(BIN)/python tests/debug_games.py --games $(GAMES)

rare-events: $(BUILT) ## Play towards kinds of events that are rare, in kernel and reference at once, for nine minutes; list those that stay so
	$(BIN)/python tests/rare_events.py

mutants: $(BUILT) ## Plant faults in the sources, one at a time; fails if the tests detect too few (hours: MUTANTS=--resume goes on)
	cd tests && ../$(BIN)/python -m mutants $(MUTANTS)

processors: $(BUILT) ## Compare what bots choose with what they choose on aarch64, under qemu-user; tells if that is not there
	$(BIN)/python tests/other_processor.py

wheel: $(BUILT) ## Build sdist, wheel and a bill of materials into dist/, and test the wheel in an environment of its own
	PYTHONPATH=. $(BIN)/python tests/wheel_check.py

first-game: $(BUILT) ## Follow docs/first_game.md with the wheel of each of PYTHONS, for the package alone and each extra (downloads gigabytes)
	PYTHONPATH=. $(BIN)/python tests/first_game_check.py $(PYTHONS)

release: $(BUILT) ## Make the release VERSION in a clean clone: version, changelog, packages with checksums in dist/, commit and tag; uploads nothing
	$(BIN)/python -m release $(VERSION)

constraints: $(BUILT) ## Regenerate deploy/constraints*.txt: the releases that the image is built from, with hashes
	$(COMPILE) --extra web --extra redis --output-file deploy/constraints.txt pyproject.toml
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' | \
		$(COMPILE) --output-file deploy/constraints-build.txt -

fuzz: $(BUILT) ## Send FUZZ damaged messages and packed states to a real server (for at most SECONDS)
	cd tests && ../$(BIN)/python -m fuzz.wire --count $(FUZZ) --seconds $(SECONDS)

fuzz-tables: $(BUILT) ## Make TABLE_CALLS random calls at sealed tables, and look for what must not be told
	cd tests && ../$(BIN)/python -m fuzz.tables --count $(TABLE_CALLS) --seconds $(SECONDS)

fuzz-http2: SECONDS = 60
fuzz-http2: ## Make damaged conversations with the C of http2/ for SECONDS (60), from SEED on, with sanitizers
	@if pkg-config --exists 'libnghttp2 >= 1.52'; then $(MAKE) --no-print-directory $(FUZZ_HTTP2) && \
		$(FUZZ_HTTP2) $(SEED) $(COUNT) $(SECONDS); else echo "fuzz-http2 is left out: libnghttp2 is not there"; fi

load: $(BUILT) ## Load a service (LOAD: options, such as --address) with scenarios of loadtest/ or one SCENARIO; check their budgets
	$(BIN)/python -m loadtest.run $(LOAD) $(if $(SCENARIO),--scenario $(SCENARIO)) $(if $(ATTACK),--attack "$(ATTACK)") $(if $(DOOR),--door $(DOOR))

soak: $(BUILT) ## Load a service at all doors for MINUTES, with rude connections, and check that nothing stays behind
	$(BIN)/python -m loadtest.soak --minutes $(MINUTES)

bench: $(BENCH_BUILT) ## Compare Chatière's speed with its peers': a table, build/bench.json and build/bench.png
	$(BIN)/python -m loadtest.bench $(BENCH)

clean: ## Remove all build products
	rm -rf $(VENV) build dist *.egg-info proto/chatiere/fields $(addprefix web/chatiere/web/,rules guide samples)
	rm -f web/chatiere/web/shared/fields.js proto/chatiere/v1/*_pb2* proto/chatiere/v1/descriptors.binpb
	find engine http2 service -name '*.so' -delete

$(BUILT): pyproject.toml setup.py $(COMPILED) $(SHOWN)
	@$(PYTHON) -c 'import sys; sys.exit("Chatière needs Python 3.11 or later; say which one with make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@echo "Making the environment in $(VENV) and building the package: a minute or two the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@touch $(VENV)/.begun
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group dev --editable '.[traces,web]'
	@mv $(VENV)/.begun $@

$(FUZZ_HTTP2): $(FUZZ_HTTP2_SOURCES)
	@mkdir -p build
	@echo "libnghttp2: $(if $(NGHTTP2_SOURCE),$(NGHTTP2_SOURCE) with sanitizers,the installed library without sanitizers)"
	gcc -O2 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE \
		-Wall -Wextra -Ihttp2/chatiere/http2 $(addprefix -Wl$(comma)--wrap=,$(PLAYED)) -o $@ $(filter %.c,$^) \
		$(if $(NGHTTP2_SOURCE),-I$(NGHTTP2_SOURCE)/includes -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H \
		-DHAVE_TIME_H -DHAVE_CLOCK_GETTIME) $$(pkg-config --cflags $(if $(NGHTTP2_SOURCE),,--libs) libnghttp2)

$(BENCH_BUILT): $(BUILT)
	@$(PIP) install --group bench
	@touch $@

$(DOCS_BUILT): $(BUILT)
	@$(PIP) install --group docs
	@touch $@

$(DEBUG_BUILT): $(BUILT) $(COMPILED) $(PYTHON_SOURCES)
	@mkdir -p build/debug && touch build/debug/.begun
	CHATIERE_BUILD=debug $(BIN)/python setup.py --quiet build --build-base build/debug --build-lib build/debug/lib
	@mv build/debug/.begun $@
