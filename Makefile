# What this repository can do, one word each. `make` alone lists it.

CARGO ?= cargo
# The engine of the demonstration: mysql or mariadb; empty: mysql where it can be had, else mariadb.
ENGINE ?=
# The demonstration shows latencies, so it runs optimised; PROFILE=dev builds faster.
PROFILE ?= release
DEMO_FLAGS ?=
# How long the checker runs in all, and which of its runs is repeated (empty: a new one).
PROVE_SECONDS ?= 600
PROVE_SEED ?=
PROVE_FLAGS ?=
# What to measure, as in BENCH_FLAGS="--engine mysql --rounds 3 --workloads point-text,memory".
BENCH_FLAGS ?=

.PHONY: help demo test test-drivers prove bench instructions deps fuzz lint

help:
	@echo "make demo          a private cluster, the proxy before it, and a small load (ENGINE=mysql|mariadb)"
	@echo "make test          install what is missing, then run every test"
	@echo "make test-drivers  install what is missing, then run the drivers of many languages through the proxy"
	@echo "make prove         check the consistency levels on both families while things break (PROVE_SECONDS=600 PROVE_SEED=)"
	@echo "make bench         what a statement costs, next to HAProxy and to no proxy (ENGINE=mysql|mariadb BENCH_FLAGS=)"
	@echo "make instructions  what parts of a statement's road cost in instructions, against limits (part of make test)"
	@echo "make lint          formatting, clippy, and licences where cargo-deny is installed"
	@echo "make fuzz          every parser that reads from the network, FUZZ_SECONDS=60 each"
	@echo "make deps          install what the tests need, and nothing else"

demo:
	@scripts/install-deps.sh demo $(ENGINE)
	@$(CARGO) build --locked --profile $(PROFILE) -p tidemark
	@exec "$$(scripts/target-dir.sh $(PROFILE))/tidemark" demo $(if $(ENGINE),--engine $(ENGINE)) $(DEMO_FLAGS)

deps:
	@scripts/install-deps.sh test

test: deps
	@scripts/test.sh

# The last line says how long it took.
test-drivers: deps
	@$(CARGO) test --locked -p tidemark --test drivers -- --test-threads=3

prove:
	@scripts/install-deps.sh prove
	@CARGO="$(CARGO)" scripts/prove.sh --seconds $(PROVE_SECONDS) $(if $(PROVE_SEED),--seed $(PROVE_SEED)) $(PROVE_FLAGS)

bench:
	@scripts/install-deps.sh bench $(ENGINE)
	@CARGO="$(CARGO)" scripts/bench.sh $(if $(ENGINE),--engine $(ENGINE)) $(BENCH_FLAGS)

instructions:
	@scripts/instructions.sh

lint:
	$(CARGO) fmt --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(CARGO) deny --offline check licenses bans sources; \
	else echo "lint: cargo-deny is not installed, licences are not checked"; fi

fuzz:
	@scripts/fuzz.sh
