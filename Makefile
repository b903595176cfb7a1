# Targets a newcomer needs: `make run` and `make test`. The rest is for development.
GO      ?= go
BIN     := bin/ais_bench
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)

export CGO_ENABLED ?= 0

.PHONY: build run test race lint bench e2e-engine e2e-launch clean

build: ## one static binary in bin/
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/ais_bench

run: build ## the main job on the built-in simulator and the built-in demo data
	$(BIN) --models sim_chat --datasets demo_gsm8k_gen_4_shot_cot_chat_prompt --summarizer example

# Go's own limit of ten minutes a package is of idle machines.
test: build ## all tests
	$(GO) test -timeout 30m $(TESTFLAGS) ./...

race: ## the race detector on the packages that run things at once (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./models/... ./outputs/... ./tasks/... ./summarizers/... ./evaluators/sandbox/...

lint: ## formatting, vet and staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

bench: build ## the measurements quoted in docs/benchmarks.md
	./bench/run.sh

e2e-engine: build ## a real inference server (llama.cpp's) in a throw-away environment
	./bench/e2e_engine.sh

e2e-launch: build ## real engines started by --launch: snapshot, metrics, cache, grid (E2E_VLLM=1: vLLM's CPU build, too)
	./bench/e2e_launch.sh

clean:
	rm -rf bin outputs/default
