# SPDX-License-Identifier: Apache-2.0
# Short commands for development. CMakePresets.json defines the builds. Each recipe can also be run by hand.
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
# Seconds of `make fuzz` for each target.
SECONDS ?= 60
# For `make e2e`: RELEASES is 1.35, 1.37 or both; ONLY selects tests with these words in their names.
RELEASES ?=
ONLY ?=

# CMake reads these when it configures a build directory for the first time.
ifneq ($(shell command -v ninja 2>/dev/null),)
export CMAKE_GENERATOR ?= Ninja
endif
ifneq ($(shell command -v ccache 2>/dev/null),)
export CMAKE_C_COMPILER_LAUNCHER ?= ccache
endif
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: all
all: ## build build/sandgate (RelWithDebInfo)
	cmake --preset dev -B $(BUILD)
	cmake --build $(BUILD)

.PHONY: setup
setup: ## install what is missing to build, run and test (apt-get, sudo where needed)
	.cmake/setup build run test

.PHONY: run
run: ## run the gate with development certificates and sample evidence, until Ctrl-C
	.cmake/setup build run
	$(MAKE) all
	tests/demo/run $(BUILD)/sandgate

.PHONY: test
test: ## every test that needs no cluster, without and with sanitizers
	.cmake/setup build test
	tests/run-all

.PHONY: cross
cross: ## cross-compile for arm64 and run tests under emulation (Debian)
	.cmake/setup build test cross
	tests/cross/run

# E2E_BIN_1_35=… and E2E_BIN_1_37=… name directories with programs that are already built. See tests/e2e/README.md.
.PHONY: e2e
e2e: ## test the gate in real control planes, the oldest and the newest (needs root and Go)
	.cmake/setup build run e2e
	$(MAKE) image-root
	PATH="$$PATH:/usr/local/go/bin" /usr/bin/python3 -B tests/e2e/run $(if $(ONLY),--only "$(ONLY)") $(RELEASES)
	$(if $(ONLY),,PATH="$$PATH:/usr/local/go/bin" SANDGATE=$(CURDIR)/build-release/sandgate tests/charts/run $(RELEASES))

.PHONY: browser
browser: ## test the report page in headless Chromium (npm installs the driver)
	.cmake/setup build browser
	$(MAKE) all
	tests/browser/run $(BUILD)/sandgate

.PHONY: lint
lint: ## check format, rules of the repository, warnings of two compilers, static analysis
	.cmake/setup build test lint
	tests/lint/run

.PHONY: format
format: ## format the C files by .clang-format
	.cmake/setup format
	tests/lint/run --format

.PHONY: fuzz
fuzz: ## run each fuzz target for SECONDS=60, from the corpus in tests/fuzz/corpus
	.cmake/setup build fuzz
	tests/fuzz/run $(SECONDS)

.PHONY: bench
bench: ## requests per second and latency, as ratios to nginx and to a webhook in Go
	.cmake/setup build run bench
	tests/bench/run

.PHONY: image-root
image-root: ## make the file tree of the container image in build/image-root (needs no container engine)
	.cmake/setup build
	cmake --preset release
	cmake --build build-release
	webhook/image-root build-release/sandgate $(BUILD)/image-root

# docker, podman, or the docker-compatible command of buildah
ENGINE ?= docker
# debian:bookworm-slim@sha256:…; webhook/Dockerfile has the commands that print the digest.
BASE ?=
# As in linux/arm64, if the image is for another architecture. The engine needs emulation for it (binfmt_misc).
PLATFORM ?=
.PHONY: image
image: ## build the container image sandgate on BASE=…@sha256:… with ENGINE=docker or podman
	@case "$(BASE)" in *@sha256:*) ;; *) \
	    echo "make image: set BASE=debian:bookworm-slim@sha256:…; webhook/Dockerfile has the commands that print it" >&2; exit 2;; esac
	$(ENGINE) build $(if $(PLATFORM),--platform "$(PLATFORM)" )-f webhook/Dockerfile -t sandgate --build-arg "BASE=$(BASE)" \
	    --build-arg REVISION=$$(git rev-parse HEAD 2>/dev/null || echo unknown) .

.PHONY: install
install: all ## install into DESTDIR and PREFIX=/usr/local
	DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --strip --prefix "$(PREFIX)"

.PHONY: clean
clean: ## remove every build directory
	rm -rf $(BUILD) build-release build-plain build-asan build-tsan build-clang build-analyzer build-fuzz build-arm64
