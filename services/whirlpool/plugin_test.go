package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module is the smallest module of WebAssembly: it has nothing.
const module = "\x00asm\x01\x00\x00\x00"

// aPlugin writes a template with a module that was not compiled.
func aPlugin(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv(pluginsEnv, filepath.Join(t.TempDir(), "plugins"))
	dir = filepath.Join(t.TempDir(), "price")
	must(t, "plugin", "init", "shop/price", dir)
	if err := os.WriteFile(filepath.Join(dir, "plugin.wasm"), []byte(module), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestPluginsAreKeptAndTrusted(t *testing.T) {
	dir := aPlugin(t)
	pushed := must(t, "plugin", "push", "--untested", dir)
	lines := strings.Split(pushed, "\n")
	if len(lines) < 3 || lines[0] != "shop/price@1.0.0" || !strings.HasPrefix(lines[1], "sha256:") || !strings.Contains(pushed, "whirlpool plugin approve") {
		t.Errorf("push prints %q", pushed)
	}
	if got := must(t, "plugin", "list"); !strings.Contains(got, "builtin/filter@1") || !strings.Contains(got, "shop/price@1.0.0    unsigned  document") {
		t.Errorf("list prints\n%s", got)
	}
	must(t, "plugin", "approve", "shop/price@1.0.0")
	if got := must(t, "plugin", "show", "shop/price@1.0.0"); !strings.Contains(got, "approved, by "+me()) || !strings.Contains(got, `"enum"`) {
		t.Errorf("show prints\n%s", got)
	}
	must(t, "plugin", "disable", "--why", "too slow", "shop/price@1.0.0")
	if got := must(t, "plugin", "show", "shop/price@1.0.0"); !strings.Contains(got, "disabled, by "+me()+": too slow") {
		t.Errorf("show prints\n%s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin.wasm"), []byte(module+"x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := whirlpool(t, "plugin", "push", "--untested", dir); r.exit != exitFailure || !strings.Contains(r.stderr, "a version never changes") {
		t.Errorf("other content under the same name: %d, %s", r.exit, r.stderr)
	}
}

func TestMistakesWithPluginsAreTold(t *testing.T) {
	dir := aPlugin(t)
	empty := t.TempDir()
	for want, args := range map[string][]string{
		"is not empty: name another directory":  {"init", "shop/price", dir},
		"OWNER/NAME is wanted":                  {"init", "price"},
		"choose one of":                         {"init", "shop/price", "x", "--kit", "cobol"},
		"nothing here says how to build it":     {"build", empty},
		"`whirlpool plugin init OWNER/NAME`":    {"push", empty},
		"there is no plugin.toml":               {"test", empty},
		"`whirlpool plugin list` shows":         {"approve", "shop/price@1.0.0"},
		"want OWNER/NAME@VERSION":               {"show", "price"},
		"there is no plug-in builtin/nothing@1": {"show", "builtin/nothing@1"},
		"it is no public key of minisign":       {"list", "--plugin-key", "abc"},
	} {
		if r := whirlpool(t, append([]string{"plugin"}, args...)...); r.exit == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %d, %q; want %q", args, r.exit, r.stderr, want)
		}
	}
}

// A job whose pipeline is at fault is refused before anything is asked for, with the key.
func TestACrawlChecksItsPipeline(t *testing.T) {
	t.Setenv(pluginsEnv, t.TempDir())
	job := filepath.Join(t.TempDir(), "job.yml")
	for node, want := range map[string]string{
		"{id: a, at: document, use: shop/none@1.0.0}":                                           "pipeline.nodes[0].use",
		"{id: a, at: links, use: builtin/lang@1, with: {keep: [en]}}":                           "pipeline.nodes[0].at",
		"{id: a, at: document, use: builtin/lang@1, with: {keep: en}}":                          "pipeline.nodes[0].with.keep got string, want array",
		"{id: a, at: document, use: builtin/filter@1, with: {keep: 'doc.langs == 1'}}":          "pipeline.nodes[0].with.keep column 5",
		"{id: a, at: document, use: builtin/lang@1, with: {keep: [en]}, when: 'doc.title + 1'}": "pipeline.nodes[0].when",
	} {
		if err := os.WriteFile(job, []byte("seeds: ['http://127.0.0.1:1/']\npipeline:\n  nodes:\n    - "+node+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := whirlpool(t, "crawl", "-c", job, "-o", filepath.Join(t.TempDir(), "out"), "--allow-private", "--quiet"); r.exit != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d, %q; want %q", node, r.exit, r.stderr, want)
		}
	}
}
