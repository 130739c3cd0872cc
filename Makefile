# SPDX-License-Identifier: Apache-2.0

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BUILD_PACKAGES := libsystemd-dev libsqlite3-dev libssl-dev zlib1g-dev pkg-config
TEST_PACKAGES  := $(BUILD_PACKAGES) systemd prometheus prometheus-alertmanager haproxy victoria-metrics \
	influxdb rsyslog rsyslog-relp python3-structlog python3-yaml shellcheck jq sqlite3 curl gzip openssl python3 python3-venv apache2-utils \
	logrotate e2fsprogs mount chromium chromium-driver firefox-esr \
	protobuf-compiler golang-github-prometheus-client-golang-dev golang-github-prometheus-client-model-dev
DEB_PACKAGES   := $(BUILD_PACKAGES) binutils chrpath dpkg-dev lintian mandoc python3
BOOT_PACKAGES  := systemd systemd-container dbus curl iproute2 python3 util-linux
CRASH_PACKAGES := strace systemd util-linux mount python3
POWER_PACKAGES := $(CRASH_PACKAGES) e2fsprogs nbdkit nbdkit-plugin-python libnbd-bin
PICTURE_PACKAGES := chromium fonts-dejavu-core pngquant python3 python3-websocket
MINIMUM_SWIFT  := 6.2

# Targets to run beside the browsers, which leave room: make test BESIDE="crash powercut"
BESIDE ?=

# Options of the release build of a checkout: nobody debugs it, and it is ready sooner.
RELEASE_FLAGS := -debug-info-format none

# What `make run` takes on a fresh clone and two cores.
FIRST_BUILD_MINUTES := 10

# The build of the tests, in a place of its own: optimised, since they start the service some thousand times and try
# histories of chance, with assertions, and with all that tests may import. C++ is the TLS library alone, 300 files.
TEST_BUILD := swift build --scratch-path .build-tests -c release -debug-info-format none \
	-Xswiftc -enable-testing -Xswiftc -assert-config -Xswiftc Debug -Xcxx -O0
TEST_PRODUCTS := .build-tests/release

# The commit, for `--version` of `make run` and `make deb`; nothing without git. Not for the builds of the tests, which
# would be linked again at each commit.
COMMIT = $(shell git describe --always --dirty --exclude '*' --abbrev=12 2>/dev/null)

# Options for the service, as in: make run ARGS="--listen 127.0.0.1:0 --journal stdout"
ARGS ?=

# $(call install,PACKAGES): installs what is missing and says which.
define install
	missing=(); \
	for package in $(1); do \
		dpkg-query -W -f='$${Status}' "$$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$$package"); \
	done; \
	if (( $${#missing[@]} )); then \
		echo "Installing $${missing[*]} ..." >&2; \
		as_root=(); [[ $$(id -u) == 0 ]] || as_root=(sudo); \
		"$${as_root[@]}" apt-get -qq update; \
		"$${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
			"$${missing[@]}" >/dev/null; \
	fi
endef

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: swift build-packages ## Build and start the service
	@[[ -x .build/release/dnp-telemetry ]] || { \
		echo "The first build takes about $(FIRST_BUILD_MINUTES) minutes on two cores." >&2; \
		echo "It fetches the packages, then [n/m] counts its steps." >&2; }
	@DNP_COMMIT=$(COMMIT) swift build -c release $(RELEASE_FLAGS) --product dnp-telemetry
	@exec "$$(swift build -c release --show-bin-path)/dnp-telemetry" serve $(ARGS)

# Another port or seed: make demo PORT=10911 SEED=7
.PHONY: demo
demo: swift build-packages ## Start the service with a fleet of 200 simulated devices, a day a minute
	@DNP_COMMIT=$(COMMIT) swift build -c release $(RELEASE_FLAGS) --product dnp-telemetry
	@deploy/demo "$$(swift build -c release --show-bin-path)/dnp-telemetry" $(or $(PORT),10910) $(or $(SEED),1)

.PHONY: build
build: swift build-packages ## Build everything, tests included
	@$(TEST_BUILD) --build-tests

.PHONY: test
test: swift test-packages $(if $(BESIDE),crash-packages) .build-python/installed ## Run every test, or some: make test ONLY=ReloadTests
	@$(TEST_BUILD) --build-tests
	@Tests/run "$(TEST_PRODUCTS)/dnp-telemetryPackageTests.xctest" $(ONLY)
	@$(if $(ONLY),,$(MAKE) --no-print-directory browser $(if $(BESIDE),--jobs=4 --output-sync=target $(BESIDE)))

.PHONY: browser
browser: swift test-packages .build-python/installed ## Click through the console in Chromium and Firefox
	@$(TEST_BUILD) --product dnp-telemetry
	@Tests/Browser/run "$(TEST_PRODUCTS)/dnp-telemetry" "$(ONLY)"

# The strict OpenMetrics parser that the tests read pages back with, Grafana's SDK that the dashboards are built with, the
# drivers of the browsers, and the formatter of the console's files.
PYTHON_REQUIREMENTS := Tests/Parsers/requirements.txt dashboards/requirements.txt Tests/Browser/requirements.txt

# The lists are complete, so nothing is looked up beside them.
.build-python/installed: $(PYTHON_REQUIREMENTS) | python-packages
	@python3 -m venv --clear $(@D)
	@$(@D)/bin/python3 -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--only-binary :all: $(addprefix -r ,$(PYTHON_REQUIREMENTS))
	@touch $@

.PHONY: check
check: swift test-packages .build-python/installed ## Check what deploy/ and dashboards/ ship, with the real programs
	@$(TEST_BUILD) --product dnp-telemetry
	@bash deploy/check "$(TEST_PRODUCTS)/dnp-telemetry"

.PHONY: dashboards
dashboards: .build-python/installed ## Generate the Grafana dashboards from dashboards/source
	@.build-python/bin/python3 dashboards/generate

.PHONY: pictures
pictures: swift test-packages ## Make the pictures of the console in README.md, from a made-up fleet
	@$(call install,$(PICTURE_PACKAGES))
	@$(TEST_BUILD) --product dnp-telemetry
	@docs/pictures/make "$(TEST_PRODUCTS)/dnp-telemetry"

# A release build with the Swift runtime linked in, in a place of its own.
.PHONY: deb
deb: swift deb-packages ## Make the Debian package, in .build-deb
	@DNP_COMMIT=$(COMMIT) swift build -c release --static-swift-stdlib --scratch-path .build-deb --product dnp-telemetry \
		-Xlinker -z -Xlinker now
	@bash deploy/debian/check "$$(bash deploy/debian/build .build-deb .build-deb)"

.PHONY: booted
booted: deb boot-packages ## Install the package in a booted systemd and show that it works there
	@as_root=(); [[ $$(id -u) == 0 ]] || as_root=(sudo); "$${as_root[@]}" Tests/Booted/run .build-deb/dnp-telemetry_*.deb

# A package of the build that the tests use, so that CI builds once.
.PHONY: booted-quick
booted-quick: swift deb-packages boot-packages ## The same with the build of the tests, which is not built again
	@$(TEST_BUILD) --product dnp-telemetry
	@mkdir -p .build-deb-quick
	@package=$$(bash deploy/debian/build .build-tests .build-deb-quick --with-runtime); \
	bash deploy/debian/check "$$package"; \
	as_root=(); [[ $$(id -u) == 0 ]] || as_root=(sudo); "$${as_root[@]}" Tests/Booted/run "$$package"

CONSOLE_ASSETS := Sources/Collector/Console/Assets
BIOME          := $(CURDIR)/.build-python/bin/biome

.PHONY: lint
lint: swift .build-python/installed ## Check the format of Swift and of the console's files, the documents' links, the folders
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks
	@cd $(CONSOLE_ASSETS) && $(BIOME) ci --colors=off Files
	@docs/check
	@Sources/check-folders

.PHONY: format
format: swift .build-python/installed ## Format every Swift file and the console's files
	@swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks
	@cd $(CONSOLE_ASSETS) && $(BIOME) check --write --colors=off Files

.PHONY: portable
portable: swift build-packages ## Build validate, replay and report without libsystemd-dev
	@Tests/Portability/run

.PHONY: bench
bench: swift test-packages ## Measure, beside peers where there are some
	@bash Benchmarks/run

.PHONY: bench-compare
bench-compare: swift test-packages ## Measure against another commit by turns: make bench-compare BASE=main ONLY=fold
	@Benchmarks/compare "$(BASE)" $(if $(ONLY),--only $(ONLY))

.PHONY: bench-growth
bench-growth: swift test-packages ## Measure how costs grow with events, cycles, installations, series and connections
	@$(call install,gnuplot-nox)
	@Benchmarks/growth

.PHONY: fuzz
fuzz: swift build-packages python-packages ## Fuzz what reads bytes of others: make fuzz SECONDS=600
	@$(TEST_BUILD) --product dnp-telemetry
	@bash Tests/Fuzzing/run $(or $(SECONDS),60) $(ONLY)

# $(call crash,KIND,PACKAGES): rounds of Tests/Crash, which is root to start a journald and to mount.
define crash
	$(call install,$(2)); \
	$(TEST_BUILD) --product dnp-telemetry; \
	as_root=(); [[ $$(id -u) == 0 ]] || as_root=(sudo); \
	"$${as_root[@]}" env "PATH=$$PATH" Tests/Crash/run $(1) "$(TEST_PRODUCTS)/dnp-telemetry" \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SEED),--seed $(SEED)) $(if $(CAMPAIGN),--campaign $(CAMPAIGN))
endef

.PHONY: crash-packages
crash-packages:
	@$(call install,$(POWER_PACKAGES))

.PHONY: crash
crash: swift build-packages ## Kill the service under load, at system calls and at random: make crash ROUNDS=1000
	@$(call crash,kills,$(CRASH_PACKAGES))

.PHONY: powercut
powercut: swift build-packages ## Cut the power of the ledger's disk, at each flush and at random: make powercut ROUNDS=500
	@$(call crash,cuts,$(POWER_PACKAGES))

.PHONY: crash-faults
crash-faults: swift build-packages ## Show that crash and powercut find planted faults
	@$(call crash,faults,$(POWER_PACKAGES))

.PHONY: clean
clean: ## Remove everything that was built
	@rm -rf .build .build-* Benchmarks/.build* Tests/Fuzzing/.build*

.PHONY: swift
swift:
	@command -v swift >/dev/null || { \
		echo "Swift is missing: install Swift $(MINIMUM_SWIFT) or later from swift.org and put it on the PATH." >&2; exit 1; }
	@found=$$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1); \
	[[ "$$(printf '%s\n' $(MINIMUM_SWIFT) "$$found" | sort -V | head -n 1)" == "$(MINIMUM_SWIFT)" ]] || { \
		echo "Swift $${found:-of unknown version} is too old: install Swift $(MINIMUM_SWIFT) or later from swift.org." >&2; exit 1; }

.PHONY: build-packages
build-packages:
	@$(call install,$(BUILD_PACKAGES))

.PHONY: python-packages
python-packages:
	@$(call install,python3 python3-venv)

.PHONY: deb-packages
deb-packages:
	@$(call install,$(DEB_PACKAGES))

.PHONY: boot-packages
boot-packages:
	@$(call install,$(BOOT_PACKAGES))

.PHONY: test-packages
test-packages:
	@$(call install,$(TEST_PACKAGES))
