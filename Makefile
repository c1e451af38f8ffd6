# `make help` lists the targets. The environment in .venv and the package are built when a target first needs them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles modules to bytecode at their first import. Most installed modules are never imported.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile
BUILD_TOOLS := $(VENV)/.build-tools
BUILT := $(VENV)/.built
TEST_BUILT := $(VENV)/.test-built
DEV_BUILT := $(VENV)/.dev-built
DEBUG_BUILT := build/debug/.built
BENCH_BUILT := $(VENV)/.bench-built
DOCS_BUILT := $(VENV)/.docs-built
TYPED := $(shell find service -name '*.pxd')
COMPILED := $(TYPED:.pxd=.py) $(shell find engine http2 service web tests/debug_build -not -path '*/node_modules/*' -a \( -name '*.pyx' -o -name '*.pxd' -o -name '*.[ch]' -o -name '*.po' -o -name '*.pot' \)) $(wildcard proto/chatiere/v1/*.proto)
MODULES := $(words $(filter-out tests/%,$(filter %.pyx,$(COMPILED))) $(TYPED))
SHOWN := $(wildcard docs/rules/*.md docs/games/*)
PYTHON_SOURCES := $(shell find engine http2 service clients/chatiere -name '*.py' -o -name '*.pyi')

# The package and the wheel have the same C sources. With ccache, these are compiled only once.
ifeq ($(origin CC),default)
ifneq ($(shell command -v ccache),)
export CC := ccache gcc
endif
endif

# The sanitizers' libraries have to be loaded first, and Python has to use malloc instead of its own allocator, so that
# they see the bounds of its objects. Leaks are not checked, because Python itself never frees some memory.
SANITIZED := LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 PYTHONPATH=$(CURDIR)/build/debug/lib
# The folder for gcc's counts of executed lines from tests with several threads, which are unreliable.
COUNTED_APART := GCOV_PREFIX=$(CURDIR)/build/debug/threads
# The number of mutated packed states that `make debug` gives to the debug build.
MUTATIONS ?= 300000
# The number of damaged messages and packed states that `make fuzz` sends to a server, and its time limit in seconds.
FUZZ ?= 1000000
SECONDS ?= inf
# The number of calls that `make fuzz-tables` makes.
TABLE_CALLS ?= 100000
# The seed of the first conversation of `make fuzz-http2`, and the number of conversations (0: as many as possible in SECONDS).
# `make simulate` replays the run of SEED. Without SEED it runs the seeds 1 to SEEDS; if SEEDS is 0, it begins at a random seed.
SEED ?= 1
COUNT ?= 0
SEEDS ?= 0
# The scenario of loadtest/scenarios that `make load` runs (empty: all), and further options.
SCENARIO ?=
LOAD ?=
# For the scenario `siege`: a part of the names of the attacks to run, and a door (grpcio, fast or web). Empty: all.
ATTACK ?=
DOOR ?=
# The duration of `make soak`, in minutes.
MINUTES ?= 20
# The API of the last release, as a descriptor set.
IMAGE := proto/image/v1.binpb
# The name of the zoo that `make zoo` writes.
ZOO ?= v1
# Options for `make bench`, such as BENCH="--quick --row selfplay".
BENCH ?=
# The number of games that `make debug-games` plays for each game and number of players.
GAMES ?= 2000
# Options for `make compat`, such as COMPAT="--row maskable_ppo". --lowest tests only the extras' lowest releases, without
# torch.
COMPAT ?=
# Options for `make mutants`, such as MUTANTS="--only discat --count 10 --seed 2". --resume continues the run whose verdicts
# are committed; --again repeats the faults that no test detected in that run.
MUTANTS ?=

# The share of the repeated tests that `make test-all` and `make debug` run, as N/SEED: one test in N, chosen by SEED. Empty: all
# tests.
SHARE ?=

# The Python interpreters for `make first-game`.
PYTHONS ?= $(PYTHON)

# The version of the release that `make release` makes, such as 1.0.0.
VERSION ?=

# The constraints are for the Python version of deploy/Dockerfile. UPGRADE=--upgrade selects newer releases.
UPGRADE ?=
COMPILE := $(BIN)/uv pip compile --quiet --generate-hashes --python-version 3.13 --python-platform linux \
	--custom-compile-command "make constraints" $(UPGRADE)
BUILD_REQUIRES := $(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")'

# The compiled parts that depend on libnghttp2, if they are built.
HTTP2 = $(shell $(BIN)/python -c 'from chatiere.http2 import is_built; print("chatiere.http2" * is_built())')

# The fuzzer of HTTP/2 conversations: the C code of http2/ and libnghttp2 with the sanitizers and simulated system calls. The
# sources that `apt-get source nghttp2` puts into build/ are compiled with the sanitizers; without them, the installed
# library is used.
FUZZ_HTTP2 := build/fuzz_http2
NGHTTP2_SOURCE := $(lastword $(sort $(wildcard build/nghttp2-*/lib)))
FUZZ_HTTP2_SOURCES := $(wildcard http2/chatiere/http2/*.[ch] tests/tools/fuzz/http2/*.[ch] $(addsuffix /*.c,$(NGHTTP2_SOURCE)))
PLAYED := accept4 clock_gettime close epoll_create1 epoll_ctl epoll_wait eventfd getrandom read recv sched_yield sendmsg \
	setsockopt shutdown write

comma := ,

# Tests are independent of each other, so they run in one process per core.
# In CI, a failed test is run a second time (tests/tools/second_try.py).
PYTEST_ALONE := $(BIN)/python -m pytest $(if $(CI),--second-try)
PYTEST := $(PYTEST_ALONE) --numprocesses auto --dist worksteal
OF_TEST := not cluster and not slow and not whole_page and not languages and not site

.PHONY: help demo web build test test-all flaky bare slow page clients cluster compat docs docs-serve lint debug coverage debug-games rare-events mutants processors gpu-check wheel first-game release constraints image zoo fuzz fuzz-tables fuzz-http2 simulate load soak bench clean
.DELETE_ON_ERROR:

help: ## List the targets, or explain one of them: make help OF=mutants
	@awk -F ':.*## ' -v of="$(OF)" '/^# / {text = text "\n" substr($$0, 3); next} \
		/^[a-z0-9-]+:.*## / && (!of || $$1 == of) {printf "%-14s%s\n", $$1, $$2; if (of && text) print text} {text = ""}' \
		$(firstword $(MAKEFILE_LIST))

demo: $(BUILT) ## Play a seeded game of Discat between bots through a gRPC channel, printed move by move
	@echo "Starting a service and a game"
	@$(BIN)/chatiere play --game discat --players 3 --seed 7

web: $(BUILT) ## Serve the page on this machine, to play in a browser, and print its URL
	@$(BIN)/chatiere web

build: $(DEV_BUILT) ## Build changed modules, and install the developers' tools

# Each property is tested once. A test that applies to each game, door, number of players or sample game is written with the
# decorators of tests/tools/over.py (@over_games, @over_names, @over_tables, or @over("door", ...) for other parameters; `each`
# for the `params` of a fixture). `make test` runs such a test for one combination of its parameters that the machine supports.
# The name of the test determines which one, so that all games occur. All values of @pytest.mark.parametrize are run: use this
# decorator for boundary values, wrong inputs and cases. Files with `pytestmark = pytest.mark.long` are omitted. They take
# seconds, because they start browsers, servers in separate processes, other programs or attacks.
test: $(TEST_BUILT) ## Run the quick tests of the release build; a test that is repeated for games, doors and the like runs once (tests/tools/over.py)
	$(PYTEST) -m "not repeated and not long and $(OF_TEST)" --ignore=tests/debug_build

# tests/conftest.py marks the other combinations of parameters as `repeated`. To save time, .ci/run runs only a fifth of them, a
# different fifth for each commit (SHARE, tests/tools/share.py). Run all of them before a release, and after a change to the
# page or to code that the games or the doors share.
test-all: $(DEV_BUILT) test ## Also run the tests with the mark `long`, and the repeated tests for all games, doors, numbers of players and sample games
	$(PYTEST) -m "(repeated or long) and $(OF_TEST)" --ignore=tests/debug_build $(if $(SHARE),--share $(SHARE))

# The tests take a few minutes: the example of a learner is run, the host in TypeScript plays all games, the client in TypeScript
# is installed from the packed file, all rows of `make bench` are measured with small sizes, and a copy of a game is built and
# played. .ci/run omits these tests, but runs each of the programs once. Run them also after a change to examples/,
# clients/typescript/, loadtest/bench/, or the code that they call.
slow: $(DEV_BUILT) ## Run the slow tests of the examples, make bench, the packed client in TypeScript and a copied game: before a release, and after a change to these
	$(PYTEST) -m slow tests/examples tests/loadtest tests/clients tests/games

# The tests take five minutes. They play whole games in every way that the page has, with all widths and colours, and save
# pictures of the games in build/pages. test-all and .ci/run play each game in one way only, and omit the tests with the mark
# `whole_page`.
page: $(DEV_BUILT) ## Run all tests of the page in Chromium, with every way of playing, width and colours: before a release, and after a change to the page
	$(PYTEST) tests/page

# protoc and gRPC's plugins generate code in all languages that Debian has. The hosts of examples/ are built as their READMEs
# describe, and play all games. Tools that are not installed are skipped; .ci/install installs them. It takes three minutes, or less
# with ccache. The tests have the mark `languages`.
clients: $(DEV_BUILT) ## Compile the API for C++, Go, Java and TypeScript, and play all games in each; generate code for other languages
	$(PYTEST_ALONE) -m languages tests/api

# In CI a test that fails is repeated in a new process. If it fails again, the run fails. If it passes, the end of the output of
# .ci/run lists it with its first traceback, and its name is added to build/flaky.txt. Find and correct the cause. Hypothesis
# tries the example that failed first, so that a test with the same error fails again.
flaky: $(DEV_BUILT) ## Run each test in build/flaky.txt, which failed once and then passed, 50 times
	@test -s build/flaky.txt || echo "build/flaky.txt is empty: no test passed only at the second try"
	for run in $$(test -s build/flaky.txt && seq 50); do $(BIN)/python -m pytest --quiet --numprocesses auto @build/flaky.txt || exit 1; done

# A test that needs a program or library which the README does not require declares it with `needs` of tests/tools/needs.py; a
# fixture calls `require`. All tests skipped for the same program then give the same reason, and the end of the output counts
# them.
bare: ## Run make demo and make test in a separate clone, with only the programs of .ci/bare-programs
	bash .ci/bare

# .ci/run omits these tests.
cluster: $(DEV_BUILT) ## Run the tests of self-play on a Ray cluster, on an otherwise idle machine
	$(PYTEST_ALONE) -m cluster tests/clients/test_selfplay_cluster.py

# The libraries of the extras, and learning libraries that use them (sb3-contrib, TorchRL, Tianshou, RLlib, OpenSpiel's
# algorithms), are tested in separate environments, with the releases that pyproject.toml allows. tests/tools/compat lists the
# libraries. .ci/run tests the lowest releases of the extras, without torch. Run the rest before a release, and after a change to
# envs/ or to the bounds.
compat: $(DEV_BUILT) ## Test learning libraries with the environments, each with the lowest and the highest supported release (downloads gigabytes)
	cd tests && ../$(BIN)/python -m tools.compat $(COMPAT)

# The sources are the pages of docs/, the comments of the protos, the docstrings, the doc comments of the TypeScript package (by
# TypeDoc), the page's rule sheets and the first lines of the modules (docs/site/). The site is then checked with axe in Chromium.
# Add a new page to the lists of docs/index.md.
docs: $(DOCS_BUILT) ## Build the documentation's site in build/site (with Node), with warnings as errors, and test it in Chromium
	$(BIN)/python docs/site/protos.py
	$(BIN)/python docs/site/sheets.py
	$(BIN)/python docs/site/modules.py
	PYTHONPATH=. $(BIN)/python docs/site/typescript.py
	$(BIN)/python -m sphinx -q -W --keep-going -c docs/site . build/site
	$(PYTEST_ALONE) -m site tests/documentation

docs-serve: docs ## Serve the site of make docs on this machine
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000

# `buf breaking` compares the API with that of the last release (proto/image/v1.binpb), of which no part may be removed or changed.
lint: $(DEV_BUILT) ## Check style (ruff, cython-lint), the prose (tests/tools/english.toml), types (mypy), the C (gcc's warnings), the page (tsc, prettier; with Node), the workflows (zizmor) and the API definition, also against the last release's (buf)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy engine http2 service clients/chatiere tests loadtest release
	$(BIN)/python -m mypy.stubtest --ignore-missing-stub chatiere.engine chatiere.bots.search chatiere.bots.integer_network $(HTTP2)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint engine http2 service tests/debug_build
	gcc -fsyntax-only -Wall -Wextra -Wshadow -Wconversion -Werror -Iengine/chatiere/bots engine/chatiere/bots/*.c tests/bots/*.c
	$(if $(HTTP2),gcc -fsyntax-only -D_GNU_SOURCE -Wall -Wextra -Wshadow -Wconversion -Werror -Ihttp2/chatiere/http2 \
		$$(pkg-config --cflags libnghttp2) http2/chatiere/http2/*.c tests/tools/fuzz/http2/*.c)
	$(BIN)/python tests/tools/english.py
	cd tests && ../$(BIN)/python -m tools.page_lint
	$(BIN)/zizmor --offline --no-progress --quiet .github/workflows
	$(BIN)/buf lint proto
	$(BIN)/buf format --diff --exit-code proto
	$(BIN)/buf breaking proto --against $(IMAGE)

image: $(DEV_BUILT) ## At a release: write the image of the API, with which make lint compares the protos
	$(BIN)/buf build proto --exclude-source-info --output $(IMAGE)

# Run this if a game's rules, a typed message, a packed form or the format of data sets are new. The zoo contains states, records
# and sealed tables that every later build has to continue, and a data set that every later build has to read
# (tests/conformance/test_conformance_zoo.py). Released zoos are not changed, except for sealed tables whose packed form no longer
# has to be readable. Until v1 is released, renew both the zoo and the image after a change that breaks them:
# rm -r tests/data/zoo/v1 && make zoo image
zoo: $(DEV_BUILT) ## At a release: write states, records and sealed tables to ZOO, which every later build has to continue
	cd tests && ../$(BIN)/python -m tools.zoo data/zoo/$(ZOO)

# The build checks the invariants after every move, under AddressSanitizer and UndefinedBehaviorSanitizer. MUTATIONS sets the
# number of mutated packed states.
debug: $(DEBUG_BUILT) ## Run the tests of the engine and the fast door with checks of invariants and with sanitizers
	find build/debug -name '*.gcda' -delete
	$(SANITIZED) CHATIERE_COVERAGE=1 CHATIERE_MUTATIONS=$(MUTATIONS) $(PYTEST) -m "not release_only and not threads" \
		tests/debug_build tests/games tests/bots/test_search.py tests/bots/test_search_network.py tests/bots/test_integer_network.py
	$(SANITIZED) CHATIERE_COVERAGE=1 CHATIERE_MUTATIONS=$(MUTATIONS) $(PYTEST) -m "not release_only and not threads" \
		$(if $(SHARE),--share $(SHARE)) tests/engine tests/conformance
	$(SANITIZED) $(COUNTED_APART) CHATIERE_COVERAGE=1 $(PYTEST) -m "threads and not release_only" tests/engine
	$(SANITIZED) $(COUNTED_APART) $(PYTEST) -m "not release_only" \
		tests/service/fast_door tests/clients/test_client_fast_call.py
	cd tests && $(SANITIZED) $(COUNTED_APART) ../$(BIN)/python -m tools.fuzz.wire --seconds 20

# A line that no test runs needs a test, or a comment at its end with the reason: `# uncovered: why`. A test in which several
# threads run the engine has the mark `threads`; its line counts are discarded because they are unreliable.
coverage: $(DEBUG_BUILT) ## List the lines of the compiled engine and search that make debug did not run; fails if one has no reason
	$(BIN)/python tests/tools/kernel_coverage.py build/debug

debug-games: $(DEBUG_BUILT) ## Play GAMES random games of each game and number of players in the debug build
	$(SANITIZED) $(BIN)/python tests/tools/debug_games.py --games $(GAMES)

# The conformance tests end with a count of the events of each kind in their games (tests/games/<game>/kinds.py). This target
# lists the kinds that occurred fewer than ten times. Run it after a change to rules. It is not part of .ci/run.
rare-events: $(DEV_BUILT) ## For nine minutes, play games that lead to rare kinds of events, in kernel and reference; list the kinds that remain rare
	cd tests && ../$(BIN)/python -m tools.rare_events

# A fault is, for example, a different comparison, a number that is one higher or an omitted statement. For each fault, the module
# is built (with little optimization, which is quick), and the tests of its part run until one fails.
# tests/tools/mutants/parts.py lists the parts (each game's kernel and codec, the core, messages, the wire format, search, http2/
# in C and Cython, sealed tables, rooms, exchanges, guards) and the tests of each part. Tests named after the file with the fault
# run first, slow tests last. Tests with servers, which may fail because the machine is busy, have to fail twice. At the end, all tests
# that detected a fault have to pass without it.
# An undetected fault needs a test, or an entry in tests/tools/mutants/explained.toml that states why no test can detect it.
# 400 faults take hours. With MUTANTS=--resume each verdict is written immediately to tests/tools/mutants/verdicts.jsonl, which is
# committed, and a later run continues from that file. Without the file a run starts from the beginning. MUTANTS=--again tries the
# undetected faults again. MUTANTS="--only <part>" selects one part.
# .ci/run tries four faults, with a different seed each time, and prints the undetected ones. It fails only if a fault cannot be
# tried.
mutants: $(DEV_BUILT) ## Plant faults in the sources, one at a time; fails if the tests detect too few (takes hours; MUTANTS=--resume continues)
	cd tests && ../$(BIN)/python -m tools.mutants $(MUTANTS)

# Compares tests/bots/visits.json with the choices of the other processor, and searches for operations that could be rounded
# differently.
processors: $(DEV_BUILT) ## Compare the bots' choices with their choices on aarch64, emulated by qemu-user; reports if qemu-user is missing
	$(BIN)/python tests/tools/other_processor.py

# The C that Cython generated for the kernels is compiled without Python, by g++ and nvcc (docs/gpu.md).
gpu-check: $(DEV_BUILT) ## Play all games with the kernels without Python, and compile these for a GPU by nvcc, of PATH or PyPI; needs no GPU
	cd tests && ../$(BIN)/python -m tools.gpu_check

# Part of the preparation of a release (docs/maintaining.md).
wheel: $(DEV_BUILT) ## Build sdist, wheel and a bill of materials into dist/, and test the wheel in a separate environment
	PYTHONPATH=. $(BIN)/python tests/tools/wheel_check.py

first-game: $(DEV_BUILT) ## Run the steps of docs/first_game.md with the wheel for each of PYTHONS, without extras and with each extra (downloads gigabytes)
	PYTHONPATH=. $(BIN)/python tests/tools/first_game_check.py $(PYTHONS)

# The steps are in docs/maintaining.md.
release: $(DEV_BUILT) ## Make the release VERSION in a clean clone: version, changelog, packages with checksums in dist/, commit and tag; uploads nothing
	$(BIN)/python -m release $(VERSION)

constraints: $(DEV_BUILT) ## Regenerate deploy/constraints*.txt: the releases that the image is built from, with hashes
	$(COMPILE) --extra web --extra redis --output-file deploy/constraints.txt pyproject.toml
	$(BUILD_REQUIRES) | $(COMPILE) --output-file deploy/constraints-build.txt -

fuzz: $(DEV_BUILT) ## Send FUZZ damaged messages and packed states to a real server (for at most SECONDS)
	cd tests && ../$(BIN)/python -m tools.fuzz.wire --count $(FUZZ) --seconds $(SECONDS)

fuzz-tables: $(DEV_BUILT) ## Make TABLE_CALLS random calls at sealed tables, and check that no hidden information is revealed
	cd tests && ../$(BIN)/python -m tools.fuzz.tables --count $(TABLE_CALLS) --seconds $(SECONDS)

fuzz-http2: SECONDS = 60
fuzz-http2: ## Send damaged conversations to the C code of http2/ for SECONDS (60), from SEED on, with sanitizers
	@if pkg-config --exists 'libnghttp2 >= 1.52'; then $(MAKE) --no-print-directory $(FUZZ_HTTP2) && \
		$(FUZZ_HTTP2) $(SEED) $(COUNT) $(SECONDS); else echo "fuzz-http2 is skipped: libnghttp2 is not installed"; fi

# The seed determines all faults: lost connections, slow readers, deadlines, too little memory, drains and deaths of workers. If
# a run violates a property, its seed is printed; SEED=… replays the run and prints its events.
simulate: SECONDS = 60
simulate: $(DEV_BUILT) ## Simulate the service, without a network, for SECONDS (60) or SEEDS runs, or replay the run of one SEED
	cd tests && ../$(BIN)/python -m simulate --seconds $(SECONDS) --seeds $(SEEDS) $(if $(filter-out 0,$(SEEDS)),--first 1) \
		$(if $(findstring command,$(origin SEED)),--seed $(SEED))

load: $(DEV_BUILT) ## Load a service (LOAD: options, such as --address) with scenarios of loadtest/ or one SCENARIO; check their budgets
	$(BIN)/python -m loadtest.run $(LOAD) $(if $(SCENARIO),--scenario $(SCENARIO)) $(if $(ATTACK),--attack "$(ATTACK)") $(if $(DOOR),--door $(DOOR))

soak: $(DEV_BUILT) ## Load a service at all doors for MINUTES, while small attacks run, and check that it leaks no memory, descriptors, threads or tasks
	$(BIN)/python -m loadtest.soak --minutes $(MINUTES)

bench: $(BENCH_BUILT) ## Compare Chatière's speed with its peers': a table, build/bench.json and build/bench.png
	$(BIN)/python -m loadtest.bench $(BENCH)

clean: ## Remove all build products
	rm -rf $(VENV) build dist *.egg-info proto/chatiere/fields $(addprefix web/,rules guide samples)
	rm -f web/shared/fields.js proto/chatiere/v1/*_pb2* proto/chatiere/v1/descriptors.binpb
	find engine http2 service -name '*.so' -delete

# Install the build requirements once, so that pip does not install them again for each build.
$(BUILD_TOOLS): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Chatière needs Python 3.11 or later; give the interpreter: make PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || { echo "Making the virtual environment in $(VENV)" && $(PYTHON) -m venv $(VENV); }
	@echo "Installing the build requirements"
	@$(BUILD_REQUIRES) >$(VENV)/.requires
	@$(INSTALL) --requirement $(VENV)/.requires
	@mv $(VENV)/.requires $@

$(BUILT): $(BUILD_TOOLS) setup.py $(COMPILED) $(SHOWN)
	@echo "$(if $(wildcard $@),Compiling changed modules,Compiling $(MODULES) modules and installing the libraries: a minute or two)"
	@touch $(VENV)/.begun
	@$(INSTALL) --no-build-isolation --editable '.[web]'
	@mv $(VENV)/.begun $@

# `make demo` and `make web` need none of these tools. `make test` runs more tests if those of DEV_BUILT are installed too.
$(TEST_BUILT): pyproject.toml | $(BUILT)
	@echo "Installing the tools of the tests: half a minute the first time"
	@$(INSTALL) --upgrade 'pip>=25.1'
	@$(INSTALL) --group test
	@touch $@

$(DEV_BUILT): pyproject.toml | $(TEST_BUILT)
	@echo "Installing the developers' tools: a minute or two the first time"
	@$(INSTALL) --group dev
	@touch $@

$(FUZZ_HTTP2): $(FUZZ_HTTP2_SOURCES)
	@mkdir -p build
	@echo "libnghttp2: $(if $(NGHTTP2_SOURCE),$(NGHTTP2_SOURCE) with sanitizers,the installed library without sanitizers)"
	gcc -O2 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all -D_GNU_SOURCE \
		-Wall -Wextra -Ihttp2/chatiere/http2 $(addprefix -Wl$(comma)--wrap=,$(PLAYED)) -o $@ $(filter %.c,$^) \
		$(if $(NGHTTP2_SOURCE),-I$(NGHTTP2_SOURCE)/includes -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H \
		-DHAVE_TIME_H -DHAVE_CLOCK_GETTIME) $$(pkg-config --cflags $(if $(NGHTTP2_SOURCE),,--libs) libnghttp2)

$(BENCH_BUILT): $(DEV_BUILT)
	@$(INSTALL) --group bench
	@touch $@

$(DOCS_BUILT): $(DEV_BUILT)
	@$(INSTALL) --group docs
	@touch $@

$(DEBUG_BUILT): $(DEV_BUILT) $(COMPILED) $(PYTHON_SOURCES)
	@mkdir -p build/debug && touch build/debug/.begun
	CHATIERE_BUILD=debug $(BIN)/python setup.py --quiet build --build-base build/debug --build-lib build/debug/lib
	@mv build/debug/.begun $@
