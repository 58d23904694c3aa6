package repo_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/crypto/blake2b"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
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

func open(t *testing.T, dir string, set repo.Settings) *repo.Directory {
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

func push(t *testing.T, d *repo.Directory, p *repo.Package) {
	t.Helper()
	if err := d.Push(p, nil); err != nil {
		t.Fatal(err)
	}
}

func TestANameMeansTheSameBytesForEver(t *testing.T) {
	d := open(t, t.TempDir(), repo.Settings{})
	one := pack(t, toml, "one")
	push(t, d, one)
	push(t, d, pack(t, toml, "one")) // the same again changes nothing
	wants(t, d.Push(pack(t, toml, "two"), nil), "a version never changes")
	if got, err := d.Digest("shop/price@1.0.0"); err != nil || got != one.Digest {
		t.Errorf("%s, %v", got, err)
	}
	push(t, d, pack(t, strings.Replace(toml, "1.0.0", "1.10.0", 1), "two"))
	push(t, d, pack(t, strings.Replace(toml, "1.0.0", "1.9.0", 1), "three"))
	items, err := d.List()
	var names []string
	for _, i := range items {
		names = append(names, i.Descriptor.Use())
	}
	if want := []string{"shop/price@1.0.0", "shop/price@1.9.0", "shop/price@1.10.0"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v; want %v", names, err, want)
	}
	_, err = d.Digest("shop/price@2.0.0")
	wants(t, err, "of shop/price there are 1.0.0, 1.10.0, 1.9.0")
	_, err = d.Digest("shop/other@2.0.0")
	wants(t, err, "whirlpool plugin list")
	_, err = d.Digest("../../etc@1.0.0")
	wants(t, err, "want OWNER/NAME@VERSION")
}

// Of many that push under one name at a time, one wins, and all see its bytes.
func TestPushesAtATime(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		p := pack(t, toml, fmt.Sprint("content ", i))
		d := open(t, dir, repo.Settings{})
		wg.Go(func() { errs[i] = d.Push(p, nil) })
	}
	wg.Wait()
	if n := len(slices.DeleteFunc(errs, func(err error) bool { return err != nil })); n != 1 {
		t.Errorf("%d pushes won", n)
	}
	if _, err := open(t, dir, repo.Settings{}).Show("shop/price@1.0.0"); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", ".new*")); len(left) > 0 {
		t.Errorf("%v was left", left)
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
	if items, err := d.List(); err != nil || len(items) != 0 {
		t.Errorf("%v, %v", items, err)
	}
	push(t, d, pack(t, toml, "one"))
}

func TestAChangedPackageIsRefused(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, repo.Settings{Unsigned: true})
	p := pack(t, toml, "one")
	push(t, d, p)
	file := filepath.Join(dir, "packages", strings.TrimPrefix(p.Digest, "sha256:")+".tar")
	if err := os.WriteFile(file, append(bytes.Clone(p.Bytes), 0), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := d.Plugin(t.Context(), "shop/price@1.0.0", "")
	wants(t, err, "has been changed")
}

func TestTrust(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	d := open(t, dir, repo.Settings{Now: func() time.Time { return now }})
	p := pack(t, toml, "one")
	push(t, d, p)
	use := "shop/price@1.0.0"
	_, err := d.Plugin(t.Context(), use, "")
	wants(t, err, "nobody has signed or approved it")
	if _, err := open(t, dir, repo.Settings{Unsigned: true}).Plugin(t.Context(), use, ""); err != nil {
		t.Errorf("a dry run does not get it: %v", err)
	}
	if err := d.Approve(p.Digest, "ann"); err != nil {
		t.Fatal(err)
	}
	got, err := d.Plugin(t.Context(), use, p.Digest)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Plugin(t.Context(), use, "sha256:"+strings.Repeat("0", 64))
	wants(t, err, "digest: ")
	i, err := got.Configure(t.Context(), crawl.AtDocument, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Handle(t.Context(), &plugin.Call{}); err != nil {
		t.Error(err)
	}
	if err := open(t, dir, repo.Settings{}).Disable(p.Digest, "ann", "it is slow"); err != nil { // by another program
		t.Fatal(err)
	}
	now = now.Add(10 * time.Second)
	if _, err := i.Handle(t.Context(), &plugin.Call{}); !errors.Is(err, repo.ErrDisabled) {
		t.Errorf("a disabled plug-in is called: %v", err)
	}
	_, err = open(t, dir, repo.Settings{Unsigned: true}).Plugin(t.Context(), use, "")
	wants(t, err, "it was disabled")
	wants(t, d.Approve("sha256:"+strings.Repeat("0", 64), "ann"), "there is no plug-in with the digest")
}

func TestProgramsNeedApprovalAndASetting(t *testing.T) {
	dir := t.TempDir()
	p := pack(t, strings.Replace(toml, `"wasm"`, `"process"`, 1), "#!/bin/sh")
	push(t, open(t, dir, repo.Settings{}), p)
	use := "shop/price@1.0.0"
	_, err := open(t, dir, repo.Settings{Processes: true}).Plugin(t.Context(), use, "")
	wants(t, err, "a program must be approved")
	if err := open(t, dir, repo.Settings{}).Approve(p.Digest, "ann"); err != nil {
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
}

// signed makes a public key and a signature as the minisign program does, of hashed bytes.
func signed(t *testing.T, data []byte) (public string, signature []byte) {
	t.Helper()
	pub, secret, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := blake2b.Sum512(data)
	id := []byte("12345678")
	sig := ed25519.Sign(secret, sum[:])
	comment := "timestamp:1"
	global := ed25519.Sign(secret, append(bytes.Clone(sig), comment...))
	b64 := base64.StdEncoding.EncodeToString
	text := fmt.Sprintf("untrusted comment: x\n%s\ntrusted comment: %s\n%s\n", b64(slices.Concat([]byte("ED"), id, sig)), comment, b64(global))
	return b64(slices.Concat([]byte("Ed"), id, pub)), []byte(text)
}

func TestSignatures(t *testing.T) {
	dir := t.TempDir()
	p := pack(t, toml, "one")
	public, signature := signed(t, p.Bytes)
	_, other := signed(t, []byte("something else"))
	wants(t, open(t, dir, repo.Settings{}).Push(p, signature), "give the public key")
	d := open(t, dir, repo.Settings{Keys: []string{"untrusted comment: k\n" + public + "\n"}})
	wants(t, d.Push(p, other), "does not fit the package")
	wants(t, d.Push(p, []byte("x")), "none of minisign")
	if err := d.Push(p, signature); err != nil {
		t.Fatal(err)
	}
	item, err := d.Show("shop/price@1.0.0")
	if err != nil || item.Trust.Level != repo.Signed || !item.Trust.Usable || item.Trust.Signer != "3837363534333231" {
		t.Errorf("%+v, %v", item.Trust, err)
	}
	if _, err := d.Plugin(t.Context(), "shop/price@1.0.0", ""); err != nil {
		t.Error(err)
	}
	if _, err := open(t, dir, repo.Settings{}).Plugin(t.Context(), "shop/price@1.0.0", ""); err == nil {
		t.Error("without the key it is trusted")
	}
	_, err = repo.Open(dir, repo.Settings{Keys: []string{"RWx"}})
	wants(t, err, "key 1: it is no public key")
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
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", With: map[string]any{"min": 0.5}}, "pipeline.nodes[2].with.min minimum: got 0.5, want 1"},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", With: map[string]any{"min": 13.0}}, "pipeline.nodes[2].with.min 13 is bad luck"},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", With: map[string]any{"mix": 1.0}}, "pipeline.nodes[2].with additional properties 'mix'"},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "shop/price@1.0.0"}, `pipeline.nodes[2].at "record": shop/price@1.0.0 serves document`},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "shop/price@3.0.0"}, "pipeline.nodes[2].use there is no plug-in shop/price@3.0.0"},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filtr@1"}, "pipeline.nodes[2].use there is no builtin/filtr@1: there are builtin/"},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filter@1", Digest: p.Digest}, "pipeline.nodes[2].digest "},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", Digest: "sha256:" + strings.Repeat("0", 64)}, "pipeline.nodes[2].digest "},
		{crawl.PluginNode{At: crawl.AtDocument, Use: "shop/price@1.0.0", When: "doc.langs"}, `pipeline.nodes[2].when "doc.langs": column 5`},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filter@1", With: map[string]any{"keep": "record."}}, "pipeline.nodes[2].with.keep "},
		{crawl.PluginNode{At: crawl.AtRecord, Use: "builtin/filter@1", With: map[string]any{"keep": true}}, "pipeline.nodes[2].with.keep got boolean, want string"},
	} {
		errs := repo.Check(t.Context(), d, &crawl.Pipeline{Nodes: append(slices.Clone(pipeline.Nodes), c.node)})
		wants(t, errors.Join(errs...), c.want)
	}
	if err := repo.Pin(d, pipeline); err != nil || pipeline.Nodes[0].Digest != p.Digest || pipeline.Nodes[1].Digest != "" {
		t.Errorf("%v: %+v", err, pipeline.Nodes)
	}
}
