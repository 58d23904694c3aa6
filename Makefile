# Whirlpool. `make help` lists the targets.
GO       ?= go
BIN      ?= bin
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME ?= 60s
COUNT    ?= 1
TIMEOUT  ?= 60m
COMPOSE  ?= $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)
IMAGES   := whirlpool-fetcher whirlpool-parser whirlpool-contentseen whirlpool-renderer whirlpool-urlfilter whirlpool-hostsplitter whirlpool-due whirlpool-frontier whirlpool-api whirlpool
VERSION  ?= $(shell git describe --tags --always --dirty)
REGISTRY ?=

# The programs are released without cgo, and are tested so; the one C library that there is takes a minute to compile.
# Only the race detector needs cgo.
export CGO_ENABLED := 0

# -trimpath: programs do not name the directory of the clone, so that what was compiled in one serves every other.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

.PHONY: help elsewhere install build test test-crawls test-programs test-command test-rendered test-packages test-serial
.PHONY: test-race test-detected test-alone
.PHONY: test-short
.PHONY: compiler compiled tested lint api fuzz bench bench-large bench-peers simulate
.PHONY: clean studio studio-check studio-e2e studio-picture
.PHONY: quick-up up down logs dev prod-build tag-prod push-prod

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Not a part of CI: a system whose packages are not compiled yet takes some four minutes of processor time.
SYSTEMS ?= windows/amd64 windows/arm64 darwin/arm64 darwin/amd64 linux/arm64 freebsd/amd64
elsewhere: $(SYSTEMS:%=elsewhere/%) ## build whirlpool for other systems, and vet all that it is made of
elsewhere/%:
	GOOS=$(*D) GOARCH=$(*F) $(GO) build -o $(BIN)/$(subst /,-,$*)/ ./services/whirlpool
	GOOS=$(*D) GOARCH=$(*F) $(GO) vet ./pkg/... ./services/whirlpool

install: ## build the programs and put them into GOBIN
	$(GO) install ./services/...

build: ## build the programs into bin/
	$(GO) build -o $(BIN)/ ./services/...

# -ldflags=-w leaves out what only debuggers read: linking a hundred test programs takes half of the time.
# `env`, without a shell between: a signal to make gets to with-services, which removes the servers.
# `submake`, not `MAKE`: a line that names that one is run by `make -n` as well, and would start servers.
# TIMEOUT ends the tests of a package that hang.
# Three parts at once. Whole crawls by programs and servers of their own go one after the other, since crawls that share
# two processors with other crawls cost more, not only longer: their tests find the machine slow, and wait and work on
# in proportion. They are the longest part, so the others take what they leave of the machine (NICE): the command, with
# its crawls in one process, which wait most of their time, and all other packages.
# FIRST names targets to run before the crawls, beside the other tests (.ci/run: the studio in its browser).
FIRST ?=
test: submake := $(MAKE)
test: compiler tested ## run all tests on real servers that it starts and removes (see deploy/services/with-services)
	env WHIRLPOOL_TEST_PROGRAMS=$(TESTED) deploy/services/with-services $(submake) --no-print-directory --keep-going -j3 \
		test-crawls test-command test-packages

compiler:
	@[ "$$(env -u CGO_ENABLED $(GO) env CGO_ENABLED)" = 1 ] || { echo "the race detector needs a C compiler: apt-get install gcc libc6-dev"; exit 1; }

# Five packages run the programs as processes: they are built once, the way that each package would
# (pkg/testkit/harness).
TESTED := $(CURDIR)/$(BIN)/tested
tested:
	$(GO) build -ldflags=-w -o $(TESTED)/ ./services/...

# What go test compiles before it links, so that tests which run later need not wait for it. Those of SERIAL run first.
compiled: compiler
	CGO_ENABLED=1 $(GO) list -race -export -test -deps ./services/whirlpool \
		$$($(GO) list ./... | grep -vxF "$$($(GO) list $(SERIAL))") >/dev/null
	$(GO) list -export -test -deps $(CRAWLS) $(RACELESS) >/dev/null

# The race detector makes a test five to ten times slower. SERIAL are the packages for which it can find nothing: they
# start no goroutines (pkg/serial_test.go), or their tests drive programs of their own, which have no detector. RACELESS
# have tests that it would distort, of heaps, or slow down for nothing, since processes of their own do the work
# (harness.Raceless), and tests that are smaller under it (harness.Fewer): those named by ALONE run without it, whole.
SERIAL := ./services/whirlpool/... ./services/api ./cloudformation/... ./pkg ./pkg/testkit/... ./pkg/revisit ./pkg/topic ./pkg/records/deliver ./pkg/records/export ./pkg/records/wacz ./pkg/explore/induce/... \
	./pkg/workflow/timetable ./pkg/web/cookies ./pkg/web/htmlscan ./pkg/web/markdown ./pkg/web/robots ./pkg/web/sitemap ./pkg/web/structured ./pkg/web/weburl
RACELESS := ./pkg/node ./pkg/stores/postgres ./pkg/api ./pkg/explore ./pkg/workflow ./pkg/documents ./pkg/stores/local ./pkg/process
ALONE    := TakeNoMemory$$|MoveThatIsEnded|MoveIsGivenUp|Kill|HostileDocuments|DamagedCache|RefusedAndCostNothing|JunkOnEachRoute|WholeCrawlFinds|IsRevisedAsItEnds|SwappedInARunningCrawl|PreviewIsWhatComes|WokenLate|FewFalseAlarms
# DETECTED are tests of services/whirlpool whose program is the test's own, with the detector: with -short it is.
DETECTED := ProgressLine|RecordsToStandardOutput|StandardOutputThatCloses|SecondSignal|CommandsReachACrawl|ServeFromTheFile|WhileTheCrawlRuns
# CRAWLS are those of SERIAL that take longest: PROGRAMS crawl with the programs of a cluster and servers of their own,
# COMMAND are the tests of `whirlpool`, the last of them whole crawls in one process.
PROGRAMS := ./services/whirlpool/e2e/cluster ./services/whirlpool/e2e/nodes
COMMAND  := ./services/whirlpool ./services/whirlpool/e2e
CRAWLS   := $(PROGRAMS) $(COMMAND)
# RENDERED are those that are not SERIAL and drive a browser.
RENDERED := ./pkg/render/browser
PACKAGES ?= $(shell nproc)
# -vet=off: lint has all of go vet, and vetting each package again, with all it imports, takes three minutes of CPU.
GOTEST  = $(NICE) $(GO) test -vet=off -ldflags=-w -count=$(COUNT) -timeout $(TIMEOUT) -p $(PACKAGES)

test-crawls:
	@failed=0; for part in $(FIRST) test-programs; do $(MAKE) --no-print-directory $$part PACKAGES=1 || failed=1; done; exit $$failed

test-programs:
	$(GOTEST) $(PROGRAMS)

test-command: NICE := nice -n 10
test-command: PACKAGES := 1
test-command:
	$(GOTEST) $(COMMAND)

# Alone: a browser that gets too little time draws no frames, and its pages' time stands.
test-rendered: export CGO_ENABLED := 1
test-rendered:
	$(GOTEST) -race $(RENDERED)

test-packages:
	@failed=0; for part in test-serial test-race test-detected test-alone; do $(MAKE) --no-print-directory $$part NICE="nice -n 10" || failed=1; done; \
	$(MAKE) --no-print-directory test-rendered || failed=1; exit $$failed

test-race test-detected: export CGO_ENABLED := 1
test-race: PACKAGES := $(shell expr $$(nproc) + 1)
test-race: # the packages that are not SERIAL, those first that take longest: some wait for servers most of their time
	$(GOTEST) -race $$($(GO) list ./pkg/node ./pkg/stores/postgres ./pkg/workflow ./... | \
		grep -vxF "$$($(GO) list $(SERIAL) $(RENDERED))")

test-detected:
	$(GOTEST) -race -short -run '$(DETECTED)' ./services/whirlpool

test-alone: PACKAGES := 2
test-alone:
	$(GOTEST) -run '$(ALONE)' $(RACELESS)

test-serial: PACKAGES := 4
test-serial:
	$(GOTEST) $$($(GO) list ./services/api ./cloudformation $(SERIAL) | grep -vxF "$$($(GO) list $(CRAWLS))")

test-short: ## run the quick tests, which need nothing
	$(GO) test -short -ldflags=-w ./...

# golangci-lint has no prebuilt program in Go's module proxy. Building it takes two minutes of CPU once (four with the
# download); then it lies in Go's build cache, and it keeps a cache of its own: the first run over the whole tree takes
# two to seven minutes of CPU, a later one what changed. govet, which is go vet, is among its linters.
lint: ## gofmt and golangci-lint, go vet and staticcheck among it, with .golangci.yml (builds it first: minutes)
	@unformatted=$$(gofmt -l pkg services deploy cloudformation); if [ -n "$$unformatted" ]; then echo "not formatted:"; echo "$$unformatted"; exit 1; fi
	$(GO) run $(GOLANGCI) run --allow-parallel-runners ./...

api: ## write api/openapi.yaml from the code
	$(GO) generate ./pkg/api

# What it builds is committed, so that nobody needs Node.js to run the studio. Node.js 20.19 or newer is needed here.
studio: ## build the studio's pages into pkg/studio/dist (needs Node.js)
	cd studio && npm ci --no-audit --no-fund
	cd studio && npm run --silent types && npm run --silent build && node pack.mjs

studio-check: ## build the studio twice: the same bytes, those that are committed, within their budgets
	$(MAKE) studio
	git diff --exit-code -- pkg/studio/dist
	$(MAKE) studio
	git diff --exit-code -- pkg/studio/dist
	cd studio && node pack.mjs check

# SHOTS is where the screenshots go. ROUNDS names themes and sizes (studio/e2e/run.mjs); all four where it is empty.
SHOTS  ?= $(CURDIR)/studio/shots
ROUNDS ?=
studio-e2e: tested ## every page of the studio in Chromium over a running crawl (needs Node.js and Chromium; deploy/studio/need installs them)
	deploy/studio/need
	cd studio && npm ci --silent --no-audit --no-fund && node e2e/run.mjs $(TESTED)/whirlpool $(SHOTS) $(ROUNDS)

studio-picture: tested ## make the pictures of the studio in docs/ anew (needs what studio-e2e needs)
	cd studio && npm ci --silent --no-audit --no-fund && node e2e/picture.mjs $(TESTED)/whirlpool $(CURDIR)/docs

fuzz: ## run every fuzz target for FUZZTIME (default 60s)
	@$(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ {t[n++]=$$1} /^ok/ {for (i=0; i<n; i++) print $$2, t[i]; n=0}' | \
	while read -r pkg target; do echo "== $$pkg $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$pkg" || exit 1; done

bench: build ## measure: whole crawl, URL set, frontier, parser, simhash (a few minutes)
	$(BIN)/whirlpool bench all

bench-large: build ## the same at 10^8 URLs and 10^6 hosts (an hour, 20 GB of disk)
	$(BIN)/whirlpool bench urlset --n 1e8
	$(BIN)/whirlpool bench frontier --urls 1e7 --hosts 1e6

# Colly is a module of its own, so that nobody else has to fetch it.
bench-peers: build ## wget2, httrack, Scrapy and Colly on the same webs, in a namespace without a route (root; installs Debian's packages)
	deploy/peers/need
	cd deploy/peers/colly && CGO_ENABLED=0 $(GO) build -o colly .
	deploy/peers/inside $(CURDIR)/$(BIN)/whirlpool bench peers --peers $(CURDIR)/deploy/peers $(PEERS)

simulate: ## a cluster of 1 to 1,000 nodes in virtual time (five minutes, 3.2 GB), and what it costs: docs/scale.md
	$(GO) test ./pkg/testkit/simulation -count=1 -v -timeout 3h -run 'Linear|AChange' -sim.nodes 1,3,10,30,100,300,1000 -sim.warm 20s -sim.measure 10s -sim.window 8 -sim.moves 10,30,100
	awk -f docs/scale.awk

quick-up: prod-build up ## build the images and start a complete node on this machine

prod-build: ## build the images of all programs
	$(COMPOSE) --profile tools --profile render build

up: ## start the node and wait until it is healthy
	$(COMPOSE) up -d --wait

down: ## stop whatever any of the compose files started; what it knows stays in its volumes
	$(COMPOSE) --profile '*' down --remove-orphans

logs: ## follow the logs of the node's programs
	$(COMPOSE) logs -f --tail 20 fetcher parser contentseen renderer urlfilter hostsplitter due frontier

dev: ## run a node from the source, which is built once for all programs, and again at each change
	$(COMPOSE) -f docker-compose.yml -f docker-compose.dev.yml up --build

tag-prod: ## give the images their names in REGISTRY (registry.example.com/crawler), with VERSION
	@[ -n "$(REGISTRY)" ] || { echo "say where: make tag-prod REGISTRY=registry.example.com/crawler"; exit 1; }
	@set -e; for image in $(IMAGES); do docker tag $$image:latest $(REGISTRY)/$$image:$(VERSION); echo "$(REGISTRY)/$$image:$(VERSION)"; done

push-prod: tag-prod ## push them
	@set -e; for image in $(IMAGES); do docker push -q $(REGISTRY)/$$image:$(VERSION); done

clean: ## remove what the targets above made
	rm -rf $(BIN)

include deploy/aws/aws.mk
