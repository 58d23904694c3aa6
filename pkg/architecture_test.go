// Package pkg_test holds the rules that bind the packages together.
package pkg_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/whirlpool-crawler/whirlpool/"

// Packages by their part in the architecture (docs/design/architecture.md).
var (
	domain   = []string{"pkg/web/weburl", "pkg/crawl/codec", "pkg/crawl"}
	runtime  = []string{"pkg/bus", "pkg/bus/peers", "pkg/pipeline"}
	stages   = []string{"pkg/stages/fetch", "pkg/stages/parse", "pkg/stages/contentseen", "pkg/stages/urlfilter", "pkg/stages/hostsplitter", "pkg/stages/due", "pkg/stages/frontier"}
	adapters = []string{"pkg/stores/local", "pkg/bus/membus", "pkg/bus/rabbit", "pkg/stores/postgres", "pkg/stores/mongo", "pkg/stores/memcached", "pkg/stores/spool", "pkg/cluster/zookeeper"}
	// narrow libraries know the domain at most, and stages may use them.
	narrow = []string{"pkg/web/robots", "pkg/stages/robotscache", "pkg/web/sitemap", "pkg/web/traps", "pkg/web/dnscache", "pkg/web/netguard", "pkg/web/lru",
		"pkg/records/jsonl", "pkg/records/warc", "pkg/records/export", "pkg/control/jobfile", "pkg/testkit/fakeweb", "pkg/process", "pkg/crawl/nearest", "pkg/web/htmlscan", "pkg/cluster/ring", "pkg/cluster/ring/member", "pkg/cluster/ring/memstore"}
)

type listed struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "../...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		p.Imports = ours(p.Imports)
		all = append(all, p)
	}
}

func ours(imports []string) []string {
	var out []string
	for _, i := range imports {
		if rest, ok := strings.CutPrefix(i, module); ok {
			out = append(out, rest)
		}
	}
	return out
}

// violations returns the imports that the rules forbid.
func violations(all []listed) []string {
	var bad []string
	for _, p := range all {
		for _, i := range p.Imports {
			if reason := forbidden(p.ImportPath, i); reason != "" {
				bad = append(bad, p.ImportPath+" imports "+i+": "+reason)
			}
		}
	}
	return bad
}

func forbidden(from, to string) string {
	in := slices.Contains[[]string]
	switch {
	case from == "pkg/web/weburl", from == "pkg/crawl/codec":
		return "weburl and wire import no package of ours"
	case from == "pkg/crawl" && to != "pkg/web/weburl" && to != "pkg/crawl/codec":
		return "crawl imports weburl and wire alone"
	case in(stages, from) && in(adapters, to):
		return "a stage knows no adapter"
	case in(stages, from) && in(stages, to):
		return "a stage knows no other stage"
	case in(adapters, from) && in(adapters, to) && from != to:
		return "adapters do not know each other"
	case in(adapters, from) && in(stages, to):
		return "an adapter knows no stage"
	case in(runtime, from) && !in(domain, to) && !in(runtime, to):
		return "bus and stage know the domain alone"
	case in(narrow, from) && !in(domain, to) && !in(narrow, to):
		return "a narrow library knows the domain and other narrow libraries"
	case from == "pkg/cluster/handover" && !in(domain, to) && to != "pkg/stages/frontier" && to != "pkg/cluster/ring" && to != "pkg/pipeline/recovery":
		return "a territory knows the frontier, the ring and what brings back alone"
	case from == "pkg/pipeline/recovery" && !in(domain, to):
		return "what brings back knows the domain alone"
	case to == "pkg/node" && !strings.HasPrefix(from, "services/") && !strings.HasPrefix(from, "pkg/node"):
		return "only programs know a whole node"
	}
	return ""
}

func TestImportRules(t *testing.T) {
	all := list(t)
	if len(all) < 15 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	for _, v := range violations(all) {
		t.Error(v)
	}
}

// Each rule is broken on purpose once; all must be noticed.
func TestNegativeControlImportRules(t *testing.T) {
	broken := []listed{
		{"pkg/web/weburl", []string{"pkg/crawl"}},
		{"pkg/crawl", []string{"pkg/bus"}},
		{"pkg/stages/fetch", []string{"pkg/stores/local"}},
		{"pkg/stages/parse", []string{"pkg/stages/fetch"}},
		{"pkg/bus/membus", []string{"pkg/stores/local"}},
		{"pkg/stores/local", []string{"pkg/stages/due"}},
		{"pkg/pipeline", []string{"pkg/stages/frontier"}},
		{"pkg/web/robots", []string{"pkg/stages/fetch"}},
		{"pkg/stages/contentseen", []string{"pkg/node"}},
	}
	if got := violations(broken); len(got) != len(broken) {
		t.Errorf("%d of %d broken rules were noticed: %q", len(got), len(broken), got)
	}
}
