package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
)

// dies is a program that takes its settings, and is killed as soon as it is given a page.
const dies = `#!/bin/sh
n=$(dd bs=1 count=4 2>/dev/null | od -An -tu4)
dd bs=1 count=$n >/dev/null 2>&1
printf '\002\000\000\000{}'
dd bs=1 count=4 >/dev/null 2>&1
kill -9 $$
`

// badModules are plug-ins that do what they must not, by name.
var badModules = map[string]wasmtest.Module{
	"loop":  {Endless: true},
	"hoard": {Hoards: true},
	"trap":  {Traps: true},
	"large": {Answer: `{"action":"pass"}`, Size: 2 << 20},
	"types": {Answer: `{"action":"patch","patch":{"title":7}}`},
}

// pushBad puts them into the repository, and a program that dies; it returns the nodes that use them.
func pushBad(t *testing.T) (nodes string) {
	t.Helper()
	dir := t.TempDir()
	toml := "name = \"bad/dies\"\nversion = \"1.0.0\"\nabi = \"whirlpool:1\"\ntier = \"process\"\nentry = \"dies.sh\"\n" +
		"summary = \"Of a test\"\n[[serves]]\npoint = \"document\"\n"
	for file, text := range map[string]string{"plugin.toml": toml, "dies.sh": dies} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	dirs := map[string]string{"dies": dir}
	for name, m := range badModules {
		dirs[name] = wasmtest.Write(t, "bad/"+name+"@1.0.0", m)
	}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		must(t, "plugin", "push", "--untested", dirs[name])
		must(t, "plugin", "approve", "bad/"+name+"@1.0.0")
		nodes += fmt.Sprintf("    - {id: %s, at: document, use: bad/%s@1.0.0}\n", name, name)
	}
	return nodes
}

// manySmall is a site of n pages that its first page names.
func manySmall(t *testing.T, n int) string {
	t.Helper()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title><p>This is what stands at %s, and nowhere else: %x.", r.URL.Path, r.URL.Path,
			strings.Repeat(r.URL.Path, 9))
		for i := 1; i < n && r.URL.Path == "/"; i++ {
			fmt.Fprintf(w, "<a href=/p%d>%d</a> ", i, i)
		}
	}))
	t.Cleanup(site.Close)
	return site.URL + "/"
}

// An endless loop, a hoarder of memory, a trap, an answer of 2 MiB, one of wrong types and a program that is killed:
// the crawl goes on, the log says that each is left alone, and each page is handled once, as if they were not there.
func TestACrawlWithBadPlugins(t *testing.T) {
	t.Setenv(pluginsEnv, filepath.Join(t.TempDir(), "plugins"))
	nodes, site := pushBad(t), manySmall(t, 60)
	crawl := func(out, nodes string, more ...string) result {
		job := filepath.Join(t.TempDir(), "job.yml")
		text := "seeds: ['" + site + "']\n"
		if nodes != "" {
			text += "pipeline:\n  nodes:\n" + nodes
		}
		if err := os.WriteFile(job, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return whirlpool(t, append([]string{"crawl", "-c", job, "-o", out, "--allow-private", "--delay", "0s",
			"--no-sitemaps"}, more...)...)
	}
	plain, bad := filepath.Join(t.TempDir(), "plain"), filepath.Join(t.TempDir(), "bad")
	for out, r := range map[string]result{plain: crawl(plain, ""), bad: crawl(bad, nodes, "--plugin-processes")} {
		if r.exit != exitOK {
			t.Fatalf("%s: %d, %s", out, r.exit, r.stderr)
		}
		if out != bad {
			continue
		}
		for _, name := range []string{"dies", "hoard", "large", "loop", "trap", "types"} {
			if !slices.ContainsFunc(strings.Split(r.stderr, "\n"), func(l string) bool {
				return strings.Contains(l, "left alone for a while") && strings.Contains(l, "bad/"+name+"@1.0.0")
			}) {
				t.Errorf("the log does not say that %s is left alone:\n%.3000s", name, r.stderr)
			}
		}
	}
	want, got := records(t, plain), records(t, bad)
	if len(want) != 60 || len(got) != len(want) {
		t.Errorf("%d pages, %d without plug-ins: want 60", len(got), len(want))
	}
	for url, r := range got {
		if errs := slices.Sorted(slices.Values(r.PluginErrors)); len(errs) != 6 || len(r.Plugins) > 0 {
			t.Errorf("%s: went through %q, and %q failed", url, r.Plugins, errs)
		}
		if w := want[url]; w == nil || w.Text != r.Text || w.Title != r.Title || !reflect.DeepEqual(w.Fields, r.Fields) {
			t.Errorf("%s is another record than without plug-ins", url)
		}
	}
	must(t, "audit", "-o", bad)

	before := read(t, filepath.Join(bad, "pages.jsonl"))
	push := wasmtest.Version(t, "good/v@1.0.0", "1")
	must(t, "plugin", "push", "--untested", push)
	refused := func(node, why string) {
		t.Helper()
		if r := crawl(bad, "    - "+node+"\n", "--plugin-processes"); r.exit != exitUsage ||
			!strings.Contains(r.stderr, why) || !strings.Contains(r.stderr, "pipeline.nodes[0]") {
			t.Errorf("%s: %d, %s; want %q", node, r.exit, r.stderr, why)
		}
	}
	refused("{id: v, at: document, use: good/v@1.0.0}", "nobody has signed or approved it")
	must(t, "plugin", "approve", "good/v@1.0.0")
	refused("{id: v, at: document, use: good/v@1.0.0, digest: 'sha256:"+strings.Repeat("0", 64)+"'}", "good/v@1.0.0")
	if after := read(t, filepath.Join(bad, "pages.jsonl")); after != before {
		t.Error("what was refused changed the records")
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
