package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
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

// The package alone is enough, where it was built elsewhere.
func TestAPackageIsPushed(t *testing.T) {
	dir := aPlugin(t)
	digest := strings.Split(must(t, "plugin", "push", "--untested", dir), "\n")[1]
	if err := os.WriteFile(filepath.Join(dir, "asconfig.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	packed, err := packDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), packed.FileName())
	if err := os.WriteFile(file, packed.Bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(pluginsEnv, filepath.Join(t.TempDir(), "others"))
	if got := must(t, "plugin", "push", file); !strings.HasPrefix(got, "shop/price@1.0.0\n"+digest) {
		t.Errorf("push of the package prints %q; that of the directory has %s", got, digest)
	}
	if err := os.WriteFile(file+signatureSuffix, []byte("none"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"is a file: name the directory":         {"test", file},
		"there is no directory nowhere":         {"push", "nowhere"},
		"it is no package of a plug-in":         {"push", filepath.Join(dir, "main.go")},
		"signature":                             {"push", file},
		"there is no directory neither":         {"build", "neither"},
		"did you mean builtin/filter@1?":        {"show", "builtin/filter"},
		"come with the program":                 {"disable", "builtin/filter@1"},
		"builtin/filter@1: nodes of the owner":  {"approve", "builtin/filter@1"},
		"`whirlpool plugin list` shows what":    {"show", "builtin/none@1"},
		"there is no plug-in shop/price@2.0.0:": {"approve", "shop/price@2.0.0"},
	} {
		if r := whirlpool(t, append([]string{"plugin"}, args...)...); r.exit == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("plugin %v: %d, %s, want %q", args, r.exit, r.stderr, want)
		}
	}
}

func TestPluginsAreKeptAndTrusted(t *testing.T) {
	dir := aPlugin(t)
	pushed := must(t, "plugin", "push", "--untested", dir)
	lines := strings.Split(pushed, "\n")
	if len(lines) < 3 || lines[0] != "shop/price@1.0.0" || !strings.HasPrefix(lines[1], "sha256:") ||
		!strings.Contains(pushed, "whirlpool plugin approve") {
		t.Errorf("push prints %q", pushed)
	}
	if got := must(t, "plugin", "list"); !strings.Contains(got, "builtin/filter@1") ||
		!strings.Contains(got, "shop/price@1.0.0    unsigned  document") {
		t.Errorf("list prints\n%s", got)
	}
	must(t, "plugin", "approve", "shop/price@1.0.0")
	if got := must(t, "plugin", "show", "shop/price@1.0.0"); !strings.Contains(got, "approved, by "+me()) ||
		!strings.Contains(got, `"enum"`) {
		t.Errorf("show prints\n%s", got)
	}
	must(t, "plugin", "disable", "--why", "too slow", "shop/price@1.0.0")
	if got := must(t, "plugin", "show", "shop/price@1.0.0"); !strings.Contains(got, "disabled, by "+me()+": too slow") {
		t.Errorf("show prints\n%s", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin.wasm"), []byte(module+"x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := whirlpool(t, "plugin", "push", "--untested", dir); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "a version never changes") {
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

// What init says to do next can be done in a directory with blanks, too.
func TestInitNamesADirectoryWithBlanks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a price")
	word := strings.ReplaceAll(dir, "'", `'\''`)
	want := "next: whirlpool plugin build '" + word + "' && whirlpool plugin test '" + word + "'\n"
	if got := must(t, "plugin", "init", "shop/price", dir); !strings.HasSuffix(got, want) {
		t.Errorf("init prints\n%s, want %s", got, want)
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
		if err := os.WriteFile(job, []byte("seeds: ['http://127.0.0.1:1/']\npipeline:\n  nodes:\n    - "+node+"\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
		if r := whirlpool(t, "crawl", "-c", job, "-o", filepath.Join(t.TempDir(), "out"), "--allow-private",
			"--quiet"); r.exit != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d, %q; want %q", node, r.exit, r.stderr, want)
		}
	}
}

// From nothing to a record, as docs/plugins.md has it, with each kit.
func TestAPluginFromNothingToARecord(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds modules")
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<html lang="en"><title>A lamp</title><p>A lamp for your desk at EUR 19.90, with a bulb.</p></html>`)
	}))
	defer site.Close()
	for _, kit := range []string{"go", "as"} {
		t.Run(kit, func(t *testing.T) { fromNothing(t, kit, site.URL) })
	}
}

func fromNothing(t *testing.T, kit, site string) {
	t.Setenv(pluginsEnv, filepath.Join(t.TempDir(), "plugins"))
	dir := filepath.Join(t.TempDir(), "price")
	must(t, "plugin", "init", "--kit", kit, "shop/price", dir)
	if kit == "as" {
		switch err := wasmtest.UseCompiler(t.Context(), dir); {
		case errors.Is(err, wasmtest.ErrNoNode) && os.Getenv("CI") == "":
			t.Skip(err)
		case err != nil:
			t.Fatal(err)
		}
		defer func() {
			if err := wasmtest.Forget(); err != nil {
				t.Error(err)
			}
		}()
	}
	must(t, "plugin", "build", dir)
	if got := must(t, "plugin", "test", dir); !strings.HasPrefix(got, "ok ") {
		t.Errorf("test prints %s", got)
	}
	must(t, "plugin", "push", dir)
	job, out := filepath.Join(t.TempDir(), "job.yml"), filepath.Join(t.TempDir(), "out")
	text := "seeds: ['" + site + "/']\npipeline:\n  nodes:\n    - {id: price, at: document, use: shop/price@1.0.0}\n"
	if err := os.WriteFile(job, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	crawl := []string{"crawl", "-c", job, "-o", out, "--allow-private", "--delay", "0s", "--quiet", "--no-sitemaps"}
	if r := whirlpool(t, crawl...); r.exit != exitUsage ||
		!strings.Contains(r.stderr, "nobody has signed or approved it") {
		t.Errorf("a crawl uses what nobody approved: %d, %s", r.exit, r.stderr)
	}
	must(t, "plugin", "approve", "shop/price@1.0.0")
	must(t, crawl...)
	page := records(t, out)[site+"/"]
	if got := fmt.Sprint(page.Fields, page.Plugins); got != "[{currency EUR} {price 19.9}] [price=shop/price@1.0.0]" {
		t.Errorf("the record has %s", got)
	}
	// A test whose answer is another fails, and says where.
	want := filepath.Join(dir, "testdata", "want.json")
	if err := os.WriteFile(want, []byte(`{"action": "patch", "patch": {"fields": {"currency": "EUR", "price": 1}}}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	if r := whirlpool(t, "plugin", "test", dir); r.exit != exitFailure ||
		!strings.Contains(r.stdout, "patch.fields.price: got 1234.5, want 1") {
		t.Errorf("a test with another answer: %d, %s%s", r.exit, r.stdout, r.stderr)
	}
}

// Where the compiler of a kit is missing, the command says what to install.
func TestABuildWithoutItsCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for kit, want := range map[string][]string{"go": {"go is needed", "Go 1.24"}, "as": {"npm is needed", "Node.js 20"}} {
		dir := filepath.Join(t.TempDir(), "price")
		must(t, "plugin", "init", "--kit", kit, "shop/price", dir)
		r := whirlpool(t, "plugin", "build", dir)
		for _, w := range want {
			if r.exit != exitFailure || !strings.Contains(r.stderr, w) {
				t.Errorf("%s: %d, %s; want %q", kit, r.exit, r.stderr, w)
			}
		}
	}
}

// The composed samples of deploy/samples crawl the synthetic web, and their nodes do what they say.
func TestComposedSamples(t *testing.T) {
	t.Setenv(pluginsEnv, t.TempDir())
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	for name, last := range map[string]string{"cassiopeia.yml": "section=builtin/map@1",
		"cassiopeia-jobs.yml": "private=builtin/redact@1"} {
		dir := filepath.Join(t.TempDir(), "out")
		must(t, "crawl", "-c", absolute(t, filepath.Join(samples, name)), "-o", dir, "--allow-private", "--dns",
			web.DNSAddr(), "--delay", "0s", "--scope", "any", "--max-pages", "60", "--max-depth", "4", "--quiet",
			"--no-sitemaps", web.Web().Seeds()[0])
		through := 0
		for url, page := range records(t, dir) {
			if len(page.PluginErrors) > 0 {
				t.Errorf("%s: %s: %v failed", name, url, page.PluginErrors)
			}
			if slices.Contains(page.Plugins, last) {
				through++
			}
		}
		log, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
		if through == 0 && !strings.Contains(string(log), "plugin:words") {
			t.Errorf("%s: no page went through %s (%v):\n%.2000s", name, last, err, log)
		}
	}
}
