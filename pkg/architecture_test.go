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

// mayImport says for each wing which wings its packages may import, besides their own subpackages. What is not named is
// denied. docs/design/architecture.md shows the same as a picture.
var mayImport = map[string][]string{
	"pkg/web":      {"pkg/web"},
	"pkg/crawl":    {"pkg/crawl", "pkg/revisit", "pkg/web"},
	"pkg/bus":      {"pkg/bus", "pkg/crawl", "pkg/web"},
	"pkg/pipeline": {"pkg/bus", "pkg/crawl", "pkg/web"},
	// What operating systems do each in their own way. Everybody may import it.
	"pkg/system": {},
	// What a text is about: arithmetic, which knows nothing of the rest.
	"pkg/topic": {},
	"pkg/stages": {"pkg/topic", "pkg/pipeline", "pkg/bus", "pkg/crawl", "pkg/revisit", "pkg/web", "pkg/stages/robotscache",
		"pkg/render/marks", "pkg/render/decide"},
	"pkg/records": {"pkg/records", "pkg/crawl", "pkg/web"},
	"pkg/stores":  {"pkg/records/jsonl", "pkg/cluster/ring", "pkg/bus", "pkg/crawl", "pkg/revisit", "pkg/web"},
	"pkg/cluster": {"pkg/cluster", "pkg/pipeline", "pkg/crawl", "pkg/web"},
	"pkg/control": {"pkg/control/jobfile", "pkg/report", "pkg/crawl", "pkg/web"},
	"pkg/report": {"pkg/records/jsonl", "pkg/render/marks", "pkg/render/decide", "pkg/bus", "pkg/crawl", "pkg/revisit",
		"pkg/web"},
	"pkg/documents": {"pkg/crawl"},
	// When pages are visited again: arithmetic, which knows nothing of the rest.
	"pkg/revisit": {},
	// Pages that only scripts make: what a render is, which pages may gain, whether it pays; the browser. The stage knows
	// what a render is, and no browser.
	"pkg/render":          {"pkg/render", "pkg/crawl", "pkg/web"},
	"pkg/stages/renderer": {"pkg/render", "pkg/pipeline", "pkg/bus", "pkg/crawl", "pkg/web"},
	// What people add to a pipeline. Stages do not know it: each has an interface of its own, which pkg/node fills.
	"pkg/plugin": {"pkg/plugin", "pkg/crawl", "pkg/web"},
	// The read side of the API. Site rules are tried as the parser applies them, and kept bodies are read as it does.
	"pkg/explore": {"pkg/explore/elements", "pkg/workflow", "pkg/stages/parser", "pkg/records/jsonl", "pkg/crawl",
		"pkg/web"},
	// HTTP for other programs and the studio: no store, no engine, no stage.
	"pkg/api": {"pkg/studio", "pkg/workflow", "pkg/explore", "pkg/control", "pkg/report", "pkg/records/export",
		"pkg/plugin", "pkg/crawl", "pkg/web"},
	"pkg/process": {"pkg/cluster/ring", "pkg/crawl"},
	// The pages of the studio, embedded: it knows nothing of the rest.
	"pkg/studio": {},
	// Who sets up and runs crawls: it knows neither what stores them nor what crawls.
	"pkg/workflow":          {"pkg/control/jobfile", "pkg/report", "pkg/crawl", "pkg/web"},
	"pkg/stores/controlsql": {"pkg/workflow", "pkg/crawl"},
	"pkg/stores/sqlite":     {"pkg/stores/controlsql", "pkg/workflow", "pkg/crawl"},
	"pkg/stores/controlpg":  {"pkg/stores/controlsql", "pkg/workflow", "pkg/crawl"},
	// What does the work of pkg/control, each for one mode. pkg/control itself knows neither.
	"pkg/control/directory": {"pkg/control", "pkg/report", "pkg/node", "pkg/stores/local", "pkg/records/jsonl", "pkg/bus",
		"pkg/crawl", "pkg/web"},
	"pkg/control/engine": {"pkg/control", "pkg/explore", "pkg/workflow", "pkg/report", "pkg/node", "pkg/stores/local",
		"pkg/records/jsonl", "pkg/bus", "pkg/crawl", "pkg/web"},
	"pkg/control/clusterengine": {"pkg/control/cluster", "pkg/control", "pkg/explore", "pkg/workflow", "pkg/report",
		"pkg/stores/postgres", "pkg/stores/mongo", "pkg/records/jsonl", "pkg/crawl", "pkg/web"},
	"pkg/control/cluster": {"pkg/control", "pkg/report", "pkg/node", "pkg/process", "pkg/cluster", "pkg/stores/postgres",
		"pkg/stores/mongo", "pkg/records/jsonl", "pkg/bus", "pkg/bus/rabbit", "pkg/crawl", "pkg/web"},
	"pkg/node": {"pkg/pipeline", "pkg/stages", "pkg/stages/renderer", "pkg/bus", "pkg/stores", "pkg/cluster",
		"pkg/process", "pkg/records", "pkg/documents", "pkg/plugin", "pkg/render", "pkg/topic", "pkg/revisit", "pkg/crawl",
		"pkg/web"},
	// The crawler for programs that embed it.
	"pkg/whirlpool":  {"pkg/node", "pkg/documents", "pkg/stores/local", "pkg/records/jsonl", "pkg/crawl", "pkg/web"},
	"pkg/testkit":    {"pkg"},
	"services":       {"pkg"},
	"cloudformation": {"cloudformation"},
}

// transports are the buses themselves. Who may import pkg/bus knows what a bus is, and not which: only those who join
// the parts may know that.
var (
	transports = []string{"pkg/bus/direct", "pkg/bus/membus", "pkg/bus/peers", "pkg/bus/rabbit"}
	joiners    = []string{"pkg/bus", "pkg/node", "pkg/testkit", "services"}
)

// besides are imports beyond the rules: what has still to be cut, and why it stands.
var besides = map[string][]string{
	// Tools take apart what a stage reads.
	"pkg/stages/contentseen/simhashtool": {"pkg/stages/parser"},
}

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

// within reports whether a package is root or lies below it.
func within(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

// wing returns the innermost wing of a package; "" where it is in none.
func wing(pkg string) (inner string) {
	for w := range mayImport {
		if within(pkg, w) && len(w) > len(inner) {
			inner = w
		}
	}
	return inner
}

// violations returns the imports that the rules forbid, and the packages that are in no wing.
func violations(all []listed) []string {
	var bad []string
	for _, p := range all {
		w := wing(p.ImportPath)
		if w == "" && p.ImportPath != "pkg" {
			bad = append(bad, p.ImportPath+" is in no wing: say in mayImport what it may import")
			continue
		}
		for _, i := range p.Imports {
			if !allowed(p.ImportPath, w, i) {
				bad = append(bad, p.ImportPath+" imports "+i+", which "+w+" may not")
			}
		}
	}
	return bad
}

func allowed(from, wing, to string) bool {
	if to == "pkg/system" || covers(from, to) || within(from, to) && wing != from && within(to, wing) {
		return true // its own parts, or what it is a part of
	}
	roots := slices.Concat(mayImport[wing], besides[from])
	if slices.ContainsFunc(transports, func(t string) bool { return within(to, t) }) && !slices.Contains(joiners, wing) {
		return slices.Contains(roots, to)
	}
	return slices.ContainsFunc(roots, func(root string) bool { return covers(root, to) })
}

// covers reports whether what is said of root is said of a package: not where that is in a wing within root's wing.
func covers(root, pkg string) bool {
	return within(pkg, root) && (wing(root) == "" || wing(root) == wing(pkg))
}

func TestImportRules(t *testing.T) {
	all := list(t)
	if len(all) < 60 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	for _, v := range violations(all) {
		t.Error(v)
	}
}

// An exception that nobody needs any more is taken out.
func TestExceptionsAreNeeded(t *testing.T) {
	imports := map[string][]string{}
	for _, p := range list(t) {
		imports[p.ImportPath] = p.Imports
	}
	for from, to := range besides {
		for _, i := range to {
			if !slices.Contains(imports[from], i) {
				t.Errorf("%s imports %s no more: remove it from besides", from, i)
			}
		}
	}
}

// Each rule is broken on purpose once; all must be noticed.
func TestNegativeControlImportRules(t *testing.T) {
	broken := []listed{
		{"pkg/web/weburl", []string{"pkg/crawl"}},
		{"pkg/crawl", []string{"pkg/bus"}},
		{"pkg/bus/membus", []string{"pkg/stores/local"}},
		{"pkg/pipeline", []string{"pkg/stages/frontier"}},
		{"pkg/stages/fetcher", []string{"pkg/stores/local"}},
		{"pkg/stages/parser", []string{"pkg/stages/fetcher"}},
		{"pkg/stages/contentseen", []string{"pkg/node"}},
		{"pkg/stages/frontier", []string{"pkg/testkit/fakeweb"}},
		{"pkg/records/warc", []string{"pkg/stores/local"}},
		{"pkg/stores/local", []string{"pkg/stages/due"}},
		{"pkg/workflow", []string{"pkg/stores/sqlite"}},
		{"pkg/explore", []string{"pkg/stores/local"}},
		{"pkg/explore", []string{"pkg/node"}},
		{"pkg/workflow", []string{"pkg/node"}},
		{"pkg/stores/sqlite", []string{"pkg/stores/local"}},
		{"pkg/stores/postgres", []string{"pkg/stores/mongo"}},
		{"pkg/cluster/handover", []string{"pkg/stages/frontier"}},
		{"pkg/control", []string{"services/whirlpool"}},
		{"pkg/control", []string{"pkg/control/cluster"}},
		{"pkg/control", []string{"pkg/stores/postgres"}},
		{"pkg/control/directory", []string{"pkg/control/cluster"}},
		{"pkg/control/cluster", []string{"pkg/stores/local"}},
		{"pkg/api", []string{"pkg/node"}},
		{"pkg/api", []string{"pkg/stores/local"}},
		{"pkg/report", []string{"pkg/node"}},
		{"pkg/report", []string{"pkg/stores/postgres"}},
		{"pkg/report", []string{"pkg/bus/rabbit"}},
		{"pkg/report", []string{"pkg/stages/urlfilter"}},
		{"pkg/stages/due", []string{"pkg/bus/membus"}},
		{"pkg/process", []string{"pkg/node"}},
		{"pkg/node", []string{"pkg/testkit/fakeweb"}},
		{"pkg/crawlers", nil}, // no wing, although its name begins as one
		{"pkg/anew", nil},
	}
	if got := violations(broken); len(got) != len(broken) {
		t.Errorf("%d of %d broken rules were noticed: %q", len(got), len(broken), got)
	}
}
