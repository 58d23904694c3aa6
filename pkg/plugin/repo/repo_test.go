package repo_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
)

const toml = `name = "shop/price"
version = "1.0.0"
abi = "whirlpool:1"
tier = "wasm"
entry = "plugin.wasm"
summary = "Reads prices"
[[serves]]
point = "document"
[config]
type = "object"
additionalProperties = false
properties = { min = { type = "number", minimum = 1 } }
`

func pack(t *testing.T, descriptor, entry string) *repo.Package {
	t.Helper()
	p, err := repo.Pack(fstest.MapFS{"plugin.toml": {Data: []byte(descriptor)}, "plugin.wasm": {Data: []byte(entry)},
		"testdata/x": {Data: []byte("x")}, "notes.txt": {Data: []byte("y"), Mode: 0o755}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDirectory(t *testing.T) {
	dirs := map[string]string{}
	repotest.Run(t, func(t *testing.T, name string) repo.Store {
		if dirs[name] == "" {
			dirs[name] = t.TempDir()
		}
		return repo.Files(dirs[name])
	})
}

// fake is what a loader makes here.
type fake struct{ p *repo.Package }

func (f fake) Descriptor() *plugin.Descriptor { return f.p.Descriptor }
func (f fake) Close() error                   { return nil }
func (f fake) Configure(_ context.Context, _ crawl.Point, with map[string]any) (plugin.Instance, error) {
	if with["min"] == 13.0 {
		return nil, &plugin.ConfigError{Path: "min", Text: "13 is bad luck"}
	}
	return fakeInstance{}, nil
}

type fakeInstance struct{}

func (fakeInstance) Close() error { return nil }
func (fakeInstance) Handle(context.Context, *plugin.Call) (*plugin.Answer, error) {
	return &plugin.Answer{Action: plugin.Pass}, nil
}

func open(t *testing.T, dir string, set repo.Settings) *repo.Repository {
	t.Helper()
	if set.Loaders == nil {
		load := func(_ context.Context, p *repo.Package, _ string) (plugin.Plugin, error) { return fake{p}, nil }
		set.Loaders = map[plugin.Tier]repo.Loader{plugin.WASM: load, plugin.Process: load}
	}
	d, err := repo.Open(dir, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func wants(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v; want %q in it", err, text)
	}
}

func push(t *testing.T, d *repo.Repository, p *repo.Package) {
	t.Helper()
	if err := d.Push(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
}

// A push that was killed leaves nothing that is seen.
func TestHalfWrittenPushesAreNotSeen(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, repo.Settings{})
	names := filepath.Join(dir, "names", "shop", "price")
	if err := os.MkdirAll(names, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(names, ".new-123"), []byte(`{"dig`), 0o644); err != nil {
		t.Fatal(err)
	}
	if items, err := d.List(t.Context()); err != nil || len(items) != 0 {
		t.Errorf("%v, %v", items, err)
	}
	old := filepath.Join(names, ".new-old")
	if err := os.WriteFile(old, []byte(`{"dig`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	push(t, d, pack(t, toml, "one"))
	if left, _ := filepath.Glob(filepath.Join(names, ".new-*")); len(left) != 1 || filepath.Base(left[0]) != ".new-123" {
		t.Errorf("%v is left: want what may still be written", left)
	}
}

func TestProgramsNeedApprovalAndASetting(t *testing.T) {
	dir := t.TempDir()
	p := pack(t, strings.Replace(toml, `"wasm"`, `"process"`, 1), "#!/bin/sh")
	push(t, open(t, dir, repo.Settings{}), p)
	use := "shop/price@1.0.0"
	_, err := open(t, dir, repo.Settings{Processes: true}).Plugin(t.Context(), use, "")
	wants(t, err, "a program must be approved")
	if err := open(t, dir, repo.Settings{}).Approve(t.Context(), p.Digest, "ann"); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, dir, repo.Settings{}).Plugin(t.Context(), use, "")
	wants(t, err, "programs are not allowed here")
	var at string
	d := open(t, dir, repo.Settings{Processes: true, Loaders: map[plugin.Tier]repo.Loader{
		plugin.Process: func(_ context.Context, p *repo.Package, dir string) (plugin.Plugin, error) {
			at = dir
			return fake{p}, nil
		}}})
	if _, err := d.Plugin(t.Context(), use, ""); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"plugin.wasm": "#!/bin/sh", "notes.txt": "y"} {
		if got, err := os.ReadFile(filepath.Join(at, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(at, "testdata")); err == nil {
		t.Error("tests are in the package")
	}
	// A start that was cut off may have left a file without the right to run it, or with other content.
	for name, spoil := range map[string]func(file string) error{
		"notes.txt":   func(file string) error { return os.Chmod(file, 0o644) },
		"plugin.wasm": func(file string) error { return os.WriteFile(file, []byte("#!/bin"), 0o600) },
	} {
		file := filepath.Join(at, name)
		before, err := os.Stat(file)
		if err := errors.Join(err, spoil(file)); err != nil {
			t.Fatal(err)
		}
		again := open(t, dir, repo.Settings{Processes: true})
		if _, err := again.Plugin(t.Context(), use, ""); err != nil {
			t.Fatal(err)
		}
		if after, err := os.Stat(file); err != nil || after.Mode() != before.Mode() || after.Size() != before.Size() {
			t.Errorf("%s: %v, %v; want %v", name, after, err, before)
		}
	}
}

func TestBadPackages(t *testing.T) {
	for want, files := range map[string]fstest.MapFS{
		"plugin init":         {},
		"plugin build":        {"plugin.toml": {Data: []byte(toml)}},
		"plugin.toml: name":   {"plugin.toml": {Data: []byte(strings.Replace(toml, "shop/", "", 1))}, "plugin.wasm": {}},
		"want at most 16 MiB": {"plugin.toml": {Data: []byte(toml)}, "plugin.wasm": {Data: make([]byte, 17<<20)}},
		"says another": {"plugin.toml": {Data: []byte(`sha256 = "` + strings.Repeat("0", 64) + "\"\n" + toml)},
			"plugin.wasm": {Data: []byte("x")}},
	} {
		_, err := repo.Pack(files)
		wants(t, err, want)
	}
}

// A package ends as tar(1) wants it: with two blocks of zeros.
func TestAPackageIsAWholeArchive(t *testing.T) {
	p, err := repo.Pack(fstest.MapFS{"plugin.toml": {Data: []byte(toml)}, "plugin.wasm": {Data: []byte("x")}})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Bytes); n%512 != 0 || strings.Trim(string(p.Bytes[max(n-1024, 0):]), "\x00") != "" {
		t.Errorf("a package of %d bytes has no end", n)
	}
}

// A program has what links to files in its directory lead to; what else they lead to is not left out without a word.
func TestLinksInAPackage(t *testing.T) {
	dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "words.txt")
	text := "name = \"shop/words\"\nversion = \"1.0.0\"\nabi = \"whirlpool:1\"\ntier = \"process\"\n" +
		"entry = \"words.sh\"\nsummary = \"Counts words\"\n[[serves]]\npoint = \"record\"\n"
	for name, data := range map[string]string{filepath.Join(dir, "plugin.toml"): text, elsewhere: "from elsewhere",
		filepath.Join(dir, "words.sh"): "#!/bin/sh\n"} {
		if err := os.WriteFile(name, []byte(data), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	for to, want := range map[string]string{elsewhere: "", "nothing": "link is a link to what is not there",
		t.TempDir(): "link is a link, and not to a file"} {
		_ = os.Remove(link)
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		p, err := repo.Pack(os.DirFS(dir))
		if want != "" {
			wants(t, err, want)
		} else if err != nil || !strings.Contains(string(p.Bytes), "from elsewhere") {
			t.Errorf("a link to a file: %v", err)
		}
	}
}

func FuzzRead(f *testing.F) {
	p, err := repo.Pack(fstest.MapFS{"plugin.toml": {Data: []byte(toml)}, "plugin.wasm": {Data: []byte("x")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(p.Bytes)
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := repo.Read(data); err == nil && (p.Descriptor == nil || p.Digest != repo.DigestOf(data)) {
			t.Errorf("a package without descriptor or digest: %+v", p)
		}
	})
}

func TestCheckOfAPipeline(t *testing.T) {
	d := open(t, t.TempDir(), repo.Settings{Unsigned: true})
	p := pack(t, toml, "one")
	push(t, d, p)
	pipeline := &crawl.Pipeline{Nodes: []crawl.PluginNode{
		{ID: "ok", At: crawl.AtDocument, Use: "shop/price@1.0.0", When: `doc.depth > 1`, With: map[string]any{"min": 2.0}},
		{ID: "own", At: crawl.AtRecord, Use: "builtin/filter@1", With: map[string]any{"keep": `record.lang == "en"`}},
	}}
	if errs := repo.Check(t.Context(), d, pipeline); len(errs) > 0 {
		t.Errorf("a good pipeline: %v", errs)
	}
	for _, c := range []struct {
		node crawl.PluginNode
		want string
	}{
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", With: map[string]any{"min": 0.5}},
			"pipeline.nodes[2].with.min minimum: got 0.5, want 1"},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", With: map[string]any{"min": 13.0}},
			"pipeline.nodes[2].with.min 13 is bad luck"},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", With: map[string]any{"mix": 1.0}},
			"pipeline.nodes[2].with additional properties 'mix'"},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "shop/price@1.0.0"},
			`pipeline.nodes[2].at "record": shop/price@1.0.0 serves document`},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "shop/price@3.0.0"},
			"pipeline.nodes[2].use there is no plug-in shop/price@3.0.0"},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filtr@1"},
			"pipeline.nodes[2].use there is no builtin/filtr@1: there are builtin/"},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filter@1", Digest: p.Digest}, "pipeline.nodes[2].digest "},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", Digest: "sha256:" + strings.Repeat("0", 64)},
			"pipeline.nodes[2].digest "},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", When: "doc.langs"},
			`pipeline.nodes[2].when "doc.langs": column 5`},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filter@1", With: map[string]any{"keep": "record."}},
			"pipeline.nodes[2].with.keep "},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filter@1", With: map[string]any{"keep": true}},
			"pipeline.nodes[2].with.keep got boolean, want string"},
	} {
		errs := repo.Check(t.Context(), d, &crawl.Pipeline{Nodes: append(slices.Clone(pipeline.Nodes), c.node)})
		wants(t, errors.Join(errs...), c.want)
	}
	if err := repo.Pin(t.Context(), d, pipeline); err != nil || pipeline.Nodes[0].Digest != p.Digest ||
		pipeline.Nodes[1].Digest != "" {
		t.Errorf("%v: %+v", err, pipeline.Nodes)
	}
}
