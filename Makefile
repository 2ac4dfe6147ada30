# What this repository can do, one word each. `make` alone lists it.

CARGO ?= cargo
# The engine of the demonstration: mysql or mariadb; empty: mysql where it can be had, else mariadb.
ENGINE ?=
# The demonstration shows latencies, so it runs optimised; PROFILE=dev builds faster.
PROFILE ?= release
DEMO_FLAGS ?=

.PHONY: help demo test deps

help:
	@echo "make demo        a private cluster, the proxy before it, and a small load (ENGINE=mysql|mariadb)"
	@echo "make test        install what is missing, then run every test"
	@echo "make deps        install what the tests need, and nothing else"

demo:
	@scripts/install-deps.sh demo $(ENGINE)
	@$(CARGO) build --locked --quiet --profile $(PROFILE) -p tidemark
	@exec "$$(scripts/target-dir.sh $(PROFILE))/tidemark" demo $(if $(ENGINE),--engine $(ENGINE)) $(DEMO_FLAGS)

deps:
	@scripts/install-deps.sh test

test: deps
	@scripts/test.sh
