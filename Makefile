# Carillon. `make` prints this help; `make run` and `make test` do all the set-up they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help
export CGO_ENABLED := 0
BIN := bin/carillon
ADDR ?= 127.0.0.1:8080
DATA ?= ./data
FUZZTIME ?= 60s
ROUNDS ?= 20
TOOL := go tool -modfile=tools/go.mod
GOFILES := $(shell git ls-files --cached --others --exclude-standard '*.go' go.mod go.sum '*.sql' '*.yaml' '*.html' 'docs/*.md' '*/zoneinfo.zip' 2>/dev/null)
WEBFILES := $(shell git ls-files --cached --others --exclude-standard web internal/edge/api/openapi.yaml 2>/dev/null | grep -vE '\.go$$|^web/(dist|e2e)/')
PAGES := $(if $(shell command -v npm),web/dist/panel/index.html,no-pages)
CLIENT := $(if $(shell command -v npm),clients/typescript/dist/index.js)

.PHONY: help build web run test test-quick test-browser test-sound test-docs test-postgres check lighthouse race lint lint-openapi fmt bench bench-more faults faults-ha measure measure-full fuzz generate zones deps release release-check clean

help: ## print this help
	@echo "Carillon: notifications, calls and widgets, self-hosted."; echo
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: $(BIN) ## build the program at bin/carillon, with the pages of the panel and the widgets

$(BIN): $(GOFILES) $(PAGES) | need-go
	@mkdir -p bin
	go build -trimpath -o $(BIN) ./cmd/carillon

web: $(PAGES) $(CLIENT) ## build the pages of the panel and the widgets, and the client for TypeScript, where Node is installed

web/node_modules/.installed: web/package.json web/package-lock.json
	cd web && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

web/dist/panel/index.html: web/node_modules/.installed $(WEBFILES)
	cd web && npm run --silent types && node build.mjs

web/node_modules/.tested: web/node_modules/.installed $(WEBFILES)
	cd web && npm run --silent check && npm run --silent test -- --reporter=dot
	@touch $@

clients/typescript/dist/index.js: web/node_modules/.installed internal/edge/api/openapi.yaml $(wildcard clients/typescript/src/[a-z]*.ts) clients/typescript/tsconfig.json
	cd web && npm run --silent client
	@touch $@

.PHONY: no-pages
no-pages:
	@echo "Node is missing: building without the pages of the panel and the widgets. Install Node 20 or later (Debian: nodejs npm), then run this again."

run: build ## start the demo: SQLite under ./data, the sandbox channel, with keys and example requests printed
	@mkdir -p $(DATA)
	@bash .ci/speech
	$(BIN) serve --demo --addr $(ADDR) --data $(DATA) --ready-file $(DATA)/ready.json

test: need-go deps ## prove all that needs no sound, on both databases, with a kill -9 and a walk in a browser (6 min)
	@bash .ci/test test

test-quick: need-go ## the same on SQLite alone and without a browser, for the loop of an edit (2 min)
	@bash .ci/test quick

test-browser: need-go deps ## try every page in a browser: both themes, two widths, three languages, accessibility (8 min)
	@bash .ci/test browser

test-sound: need-go deps ## call and talk with real sound, by other makes of telephone and of clients (8 min)
	@bash .ci/test sound

test-docs: need-go deps ## run the documentation's code, both clients, the release and the files to deploy (6 min)
	@bash .ci/test docs

check: test test-browser test-sound test-docs ## all tests but those of faults and measures

race: need-go deps ## run the tests of the concurrent packages under the race detector
	CGO_ENABLED=1 go test -race -short ./internal/queue/... ./internal/call/... ./internal/send/notify/... ./internal/store/... ./internal/account/auth/... ./internal/account/limit/... ./internal/app/... ./internal/voice/... ./internal/edge/convai/... ./internal/call/telephone/... ./internal/call/sip/... ./internal/call/rtp/...

lint: need-go deps lint-openapi ## format check of Go and TypeScript, ESLint, vet, golangci-lint as pinned in tools/go.mod, and lint-openapi
	@changed=$$($(TOOL) gofumpt -l $$(git ls-files '*.go')) || exit 1; test -z "$$changed" || { echo "gofumpt would change:"; echo "$$changed"; exit 1; }
	cd web && npm run --silent format -- --check && npm run --silent lint
	go vet ./...
	$(TOOL) golangci-lint run ./...

test-postgres: need-go tools/postgres/node_modules/.installed ## test the database and the nodes on PostgreSQL 16, 17 and 18, on Linux (5 min)
	@bash .ci/postgres

tools/postgres/node_modules/.installed: tools/postgres/package.json tools/postgres/package-lock.json
	cd tools/postgres && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

tools/openapi/node_modules/.installed: tools/openapi/package.json tools/openapi/package-lock.json
	cd tools/openapi && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

lint-openapi: tools/openapi/node_modules/.installed ## check the description of the interface with Redocly's and Spectral's linters
	cd tools/openapi && REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --no-install redocly lint --config redocly.yaml --max-problems 1000 ../../internal/edge/api/openapi.yaml
	cd tools/openapi && npx --no-install spectral lint -r spectral.yaml --fail-severity=hint ../../internal/edge/api/openapi.yaml

fmt: need-go deps ## format all files of Go, TypeScript and CSS
	$(TOOL) gofumpt -w $$(git ls-files '*.go')
	cd web && npm run --silent format -- --write

bench: need-go ## measure the message engine against the yardsticks (10 min); prints a table and writes bench/results.md; AGAINST=commit compares accepting and delivering
	cd bench && go run . $(if $(AGAINST),-against $(AGAINST))

bench-more: need-go ## measure growth, sign-in, search, webhooks, chats, talks, replies, flows and calls (25 min); prints a table
	cd bench && go run . -only growth,sign-in,search,webhooks,chat,talk,reply,flows,calls

faults: need-go deps ## break nodes, databases, networks, disks, clocks and providers under load (ROUNDS=20); prints the ledger
	CARILLON_TEST_ROUNDS=10000 go test ./internal/send/notify -run TestAcceptAsTheLaneGoesToSleep -count=1 -v -timeout 80m
	CARILLON_TEST_ROUNDS=100000 go test ./internal/send/notify -run TestManySendersCostLittleMoreThanOne -count=1 -v -timeout 80m
	$(MAKE) --no-print-directory faults-ha
	go test ./e2e/faults -skip '^TestHA' -count=1 -parallel 6 -faults.rounds=$(ROUNDS) $(if $(shell [ $(ROUNDS) -ge 20 ] && echo yes),-faults.ledger=ledger.md) -v -timeout 100m

faults-ha: need-go deps ## fail over, freeze and cut off a database of three machines (Patroni, etcd, HAProxy); prints the outages (20 min)
	go test ./e2e/faults -run '^TestHA' -count=1 -faults.rounds=1 -v -timeout 60m

measure: need-go web ## measure accepting and delivering (one round; AGAINST=commit compares), the panel with a million notifications, 50,000 rows and 200 changes a second, a million waiting events, rows, the checks of the stand-in, events and sound between nodes, and the pause of a move (60 min)
	cd bench && go run . -rounds 1 -only accept,drain,late $(if $(AGAINST),-against $(AGAINST))
	go test -tags measure ./internal/store -run TestARowCostsNoMoreAmongMany -count=1 -v
	go test -tags measure ./internal/send/whatsapp -run TestChecksOfTheStandInAreSeenToFail -count=1 -v
	go test -tags measure ./e2e -run TestAMillion -count=1 -v -timeout 60m
	go test -tags measure ./internal/edge/panel/sending -run TestACampaignOfAMillion -count=1 -v -timeout 60m
	go test -tags measure ./e2e/browser -run TestPagesUnderLoad -count=1 -v -timeout 60m
	go test -tags measure ./internal/event/hook -run TestAMillionEventsWait -count=1 -v -timeout 30m
	go test -tags measure ./internal/app ./internal/event/relay ./internal/voice -run 'TestHowLong|TestAHundredTalks' -count=1 -v -timeout 30m
	go test -tags measure ./e2e/faults -run TestTheMoveOfAHundredThousandMessages -count=1 -v -timeout 30m

measure-full: need-go ## load a full installation on each engine (20,000 senders, 2,000 webhooks, 200 calls …); writes bench/full.md (20 min; AGAINST=commit measures that too)
	cd bench && go run . -only full $(if $(AGAINST),-against $(AGAINST))

lighthouse: build ## score the panel's first pages on a quiet machine (says how to install Lighthouse)
	@bash .ci/lighthouse

release: need-go ## make the release of HEAD in dist: archives, bills of materials, sums; SIGN=1 signs them (CARILLON_RELEASE_KEY_FILE)
	go run ./deploy/release -out dist $(if $(SIGN),-sign)

release-check: need-go ## make the release twice, in two folders with empty caches, and compare
	go run ./deploy/release -check

fuzz: need-go ## fuzz every target for FUZZTIME (60s)
	@bash .ci/fuzz $(FUZZTIME)

generate: need-go ## rewrite the generated documents
	go test ./internal/base/config ./internal/app ./internal/edge/panel ./cmd/... ./e2e/... -run 'Doc|Generated|Page|Stale' -update

zones: need-go ## renew the program's time zones from the newest tzdata of Debian (needs apt-get and dpkg-deb; installs nothing)
	go run ./internal/base/schedule/extract
	go test ./internal/base/schedule -run TestZoneListIsCurrent -update

deps: ## install what the tests need and is missing (Debian packages, when allowed)
	@bash .ci/deps

need-go:
	@command -v go >/dev/null || { echo "Go is missing: install Go $$(awk '/^go /{print $$2}' go.mod) or later (https://go.dev/dl), then run this again."; exit 1; }

clean: ## remove what was built; ./data stays
	rm -rf bin dist web/node_modules tools/openapi/node_modules tools/postgres/node_modules clients/typescript/dist && find web/dist -mindepth 1 ! -name .gitkeep -delete
