package repotest

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/wasmtest"
)

const use = "shop/price@1.0.0"

// Pack makes a package of the name that says what its content is.
func Pack(t *testing.T, name, content string) *repo.Package {
	t.Helper()
	p, err := repo.Pack(os.DirFS(wasmtest.Plugin(t, name, content)))
	check(t, err)
	return p
}

// over opens a repository over a store. Its loader makes plug-ins that pass everything.
func over(t *testing.T, s repo.Store, edit ...func(*repo.Settings)) *repo.Repository {
	t.Helper()
	set := repo.Settings{Watch: time.Millisecond, Loaders: map[plugin.Tier]repo.Loader{
		plugin.WASM: func(_ context.Context, p *repo.Package, _ string) (plugin.Plugin, error) {
			return passing{p.Descriptor}, nil
		}}}
	for _, e := range edit {
		e(&set)
	}
	d, err := repo.New(s, t.TempDir(), set)
	check(t, err)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

type passing struct{ d *plugin.Descriptor }

func (p passing) Descriptor() *plugin.Descriptor { return p.d }
func (p passing) Close() error                   { return nil }
func (p passing) Configure(context.Context, crawl.Point, map[string]any) (plugin.Instance, error) {
	return p, nil
}
func (p passing) Handle(context.Context, *plugin.Call) (*plugin.Answer, error) {
	return &plugin.Answer{Action: plugin.Pass}, nil
}

func wants(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v; want %q in it", err, text)
	}
}

func sameBytes(t *testing.T, open func() repo.Store) {
	ctx, d := t.Context(), over(t, open())
	one := Pack(t, use, "one")
	check(t, d.Push(ctx, one, nil))
	check(t, d.Push(ctx, Pack(t, use, "one"), nil)) // the same again changes nothing
	wants(t, d.Push(ctx, Pack(t, use, "two"), nil), "a version never changes")
	if got, err := over(t, open()).Digest(ctx, use); err != nil || got != one.Digest {
		t.Errorf("%s, %v", got, err)
	}
	for _, more := range []string{"shop/price@1.10.0", "shop/price@1.9.0", "shop/rice@1.0.0"} {
		check(t, d.Push(ctx, Pack(t, more, "two"), nil))
	}
	items, err := over(t, open()).List(ctx)
	var got []string
	for _, i := range items {
		got = append(got, i.Descriptor.Use())
	}
	if want := []string{use, "shop/price@1.9.0", "shop/price@1.10.0", "shop/rice@1.0.0"}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	_, err = d.Digest(ctx, "shop/price@2.0.0")
	wants(t, err, "of shop/price there are 1.0.0, 1.10.0, 1.9.0")
	_, err = d.Digest(ctx, "shop/other@2.0.0")
	wants(t, err, "whirlpool plugin list")
	_, err = d.Digest(ctx, "../../etc@1.0.0")
	wants(t, err, "want OWNER/NAME@VERSION")
}

// pushesAtATime: of many that push under one name at a time one wins, and all see its bytes.
func pushesAtATime(t *testing.T, open func() repo.Store) {
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		p, d := Pack(t, use, fmt.Sprint("content ", i)), over(t, open())
		wg.Go(func() { errs[i] = d.Push(t.Context(), p, nil) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else {
			wants(t, err, "is there already with other content")
		}
	}
	if won != 1 {
		t.Errorf("%d pushes won", won)
	}
	if _, err := over(t, open()).Show(t.Context(), use); err != nil {
		t.Error(err)
	}
}

func trust(t *testing.T, open func() repo.Store) {
	ctx, d := t.Context(), over(t, open())
	p := Pack(t, use, "one")
	check(t, d.Push(ctx, p, nil))
	_, err := d.Plugin(ctx, use, "")
	wants(t, err, "nobody has signed or approved it")
	if _, err := over(t, open(), func(s *repo.Settings) { s.Unsigned = true }).Plugin(ctx, use, ""); err != nil {
		t.Errorf("a dry run does not get it: %v", err)
	}
	check(t, over(t, open()).Approve(ctx, p.Digest, "ann"))
	if _, err := d.Plugin(ctx, use, p.Digest); err != nil {
		t.Error(err)
	}
	if i, err := d.Show(ctx, use); err != nil || i.Trust.Level != repo.Approved || i.Trust.By != "ann" || !i.Trust.Usable {
		t.Errorf("%+v, %v", i.Trust, err)
	}
	_, err = d.Plugin(ctx, use, "sha256:"+strings.Repeat("0", 64))
	wants(t, err, "digest: ")
	wants(t, d.Approve(ctx, "sha256:"+strings.Repeat("0", 64), "ann"), "there is no plug-in with the digest")
}

// disabledWhileItRuns: who uses a plug-in hears without asking that another program disabled it, and that it may be
// used again.
func disabledWhileItRuns(t *testing.T, open func() repo.Store) {
	ctx, d, other := t.Context(), over(t, open()), over(t, open())
	p := Pack(t, use, "one")
	check(t, d.Push(ctx, p, nil))
	check(t, d.Approve(ctx, p.Digest, "ann"))
	got, err := d.Plugin(ctx, use, "")
	check(t, err)
	i, err := got.Configure(ctx, crawl.AtDocument, nil)
	check(t, err)
	call := func(want error) func() bool {
		return func() bool { _, err := i.Handle(ctx, &plugin.Call{}); return errors.Is(err, want) }
	}
	if !call(nil)() {
		t.Error("it is not called")
	}
	check(t, other.Disable(ctx, p.Digest, "ann", "it is slow"))
	await(t, "it is not called", call(repo.ErrDisabled))
	if _, err := d.Plugin(ctx, use, ""); !errors.Is(err, repo.ErrDisabled) {
		t.Errorf("a new crawl uses it: %v", err)
	}
	_, err = over(t, open(), func(s *repo.Settings) { s.Unsigned = true }).Plugin(ctx, use, "")
	wants(t, err, "it was disabled")
	check(t, other.Approve(ctx, p.Digest, "ann"))
	await(t, "it is called again", call(nil))
}

// nextVersion: a version that is approved while another is in use is loaded before anybody asks for it, and one that
// nobody approved is not.
func nextVersion(t *testing.T, open func() repo.Store) {
	ctx := t.Context()
	loaded := make(chan string, 10)
	d := over(t, open(), func(s *repo.Settings) {
		s.Loaders = map[plugin.Tier]repo.Loader{plugin.WASM: func(_ context.Context, p *repo.Package,
			_ string) (plugin.Plugin, error) {
			loaded <- p.Descriptor.Use()
			return passing{p.Descriptor}, nil
		}}
	})
	other := over(t, open())
	push := func(use string, approve bool) {
		t.Helper()
		p := Pack(t, use, use)
		check(t, other.Push(ctx, p, nil))
		if approve {
			check(t, other.Approve(ctx, p.Digest, "ann"))
		}
	}
	push(use, true)
	push("shop/rice@1.0.0", true) // nobody uses it
	_, err := d.Plugin(ctx, use, "")
	check(t, err)
	push("shop/price@1.1.0", true)
	for _, want := range []string{use, "shop/price@1.1.0"} {
		select {
		case got := <-loaded:
			if got != want {
				t.Errorf("%s is loaded; want %s", got, want)
			}
		case <-time.After(10 * time.Minute):
			t.Fatalf("%s is never loaded", want)
		}
	}
	push("shop/price@1.9.0", false)
	push("shop/price@1.10.0", false)
	_, err = d.Plugin(ctx, "shop/price@1.1.0", "")
	check(t, err)
	digest, err := other.Digest(ctx, "shop/price@1.10.0")
	check(t, err)
	check(t, other.Approve(ctx, digest, "ann"))
	if got := <-loaded; got != "shop/price@1.10.0" {
		t.Errorf("%s is loaded", got)
	}
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Minute); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// changedPackages: bytes that are not those of their digest are never used, and a push mends them.
func changedPackages(t *testing.T, open func() repo.Store) {
	ctx, s := t.Context(), open()
	p := Pack(t, use, "one")
	check(t, over(t, s).Push(ctx, p, nil))
	check(t, over(t, s).Approve(ctx, p.Digest, "ann"))
	check(t, s.Set(ctx, "packages/"+strings.TrimPrefix(p.Digest, "sha256:")+".tar", Pack(t, use, "two").Bytes))
	_, err := over(t, s).Plugin(ctx, use, "")
	wants(t, err, "has been changed")
	_, err = over(t, repo.Cached(s, t.TempDir())).Plugin(ctx, use, "")
	wants(t, err, "has been changed")
	check(t, over(t, s).Push(ctx, p, nil))
	if _, err := over(t, s).Plugin(ctx, use, ""); err != nil {
		t.Errorf("after it was pushed again: %v", err)
	}
}

// faulty is a store that fails: after so many writes for ever, as a program that was killed there; or always.
type faulty struct {
	repo.Store
	mu   sync.Mutex
	left int // writes that succeed
	away bool
}

var errFull = errors.New("no space left on device")

func (f *faulty) write(do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 || f.away {
		return errFull
	}
	f.left--
	return do()
}

func (f *faulty) Add(ctx context.Context, name string, data []byte) error {
	return f.write(func() error { return f.Store.Add(ctx, name, data) })
}

func (f *faulty) Set(ctx context.Context, name string, data []byte) error {
	return f.write(func() error { return f.Store.Set(ctx, name, data) })
}

func (f *faulty) Get(ctx context.Context, name string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return nil, errFull
	}
	return f.Store.Get(ctx, name)
}

func (f *faulty) set(away bool) { f.mu.Lock(); f.away = away; f.mu.Unlock() }

// cutOff: a push that ends after any of its writes, or before the approval, leaves nothing that a crawl could use or
// that is in the way of another try.
func cutOff(t *testing.T, open func() repo.Store) {
	ctx, s := t.Context(), open()
	p := Pack(t, use, "one")
	public, signature := Sign(t, p.Bytes)
	trusting := func(s *repo.Settings) { s.Keys = []string{public} }
	for writes := range 3 { // signature, package, name
		d := over(t, &faulty{Store: s, left: writes}, trusting)
		if err := d.Push(ctx, p, signature); !errors.Is(err, errFull) {
			t.Errorf("after %d writes: %v", writes, err)
		}
		if items, err := over(t, s).List(ctx); err != nil || len(items) > 0 {
			t.Errorf("after %d writes: %v, %v", writes, items, err)
		}
	}
	check(t, over(t, s).Push(ctx, p, nil))
	d := over(t, &faulty{Store: s})
	if err := d.Approve(ctx, p.Digest, "ann"); !errors.Is(err, errFull) {
		t.Error(err)
	}
	_, err := over(t, s).Plugin(ctx, use, "")
	wants(t, err, "nobody has signed or approved it")
	check(t, over(t, s).Approve(ctx, p.Digest, "ann"))
	if _, err := over(t, s).Plugin(ctx, use, ""); err != nil {
		t.Error(err)
	}
}

// goesAway: while the store does not answer, what was loaded works, and what was not is told as something that passes.
func goesAway(t *testing.T, open func() repo.Store) {
	ctx, s := t.Context(), &faulty{Store: open(), left: 100}
	cache := t.TempDir()
	d := over(t, repo.Cached(s, cache))
	p := Pack(t, use, "one")
	check(t, d.Push(ctx, p, nil))
	check(t, d.Approve(ctx, p.Digest, "ann"))
	got, err := d.Plugin(ctx, use, "")
	check(t, err)
	i, err := got.Configure(ctx, crawl.AtDocument, nil)
	check(t, err)
	s.set(true)
	if _, err := i.Handle(ctx, &plugin.Call{}); err != nil {
		t.Errorf("what was loaded does not work: %v", err)
	}
	late := over(t, repo.Cached(s, cache))
	for what, err := range map[string]error{"load": second(late.Plugin(ctx, use, "")),
		"digest": second(late.Digest(ctx, use)), "show": second(late.Show(ctx, use))} {
		if !errors.Is(err, repo.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s.set(false)
	if _, err := late.Plugin(ctx, use, ""); err != nil {
		t.Errorf("after it came back: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// Sign makes a public key and a signature as the minisign program does, of hashed bytes.
func Sign(t *testing.T, data []byte) (public string, signature []byte) {
	t.Helper()
	pub, secret, err := ed25519.GenerateKey(nil)
	check(t, err)
	sum := blake2b.Sum512(data)
	id := []byte("12345678")
	sig := ed25519.Sign(secret, sum[:])
	comment := "timestamp:1"
	global := ed25519.Sign(secret, append(bytes.Clone(sig), comment...))
	b64 := base64.StdEncoding.EncodeToString
	text := fmt.Sprintf("untrusted comment: x\n%s\ntrusted comment: %s\n%s\n", b64(slices.Concat([]byte("ED"), id, sig)),
		comment, b64(global))
	return b64(slices.Concat([]byte("Ed"), id, pub)), []byte(text)
}

func signatures(t *testing.T, open func() repo.Store) {
	ctx := t.Context()
	p := Pack(t, use, "one")
	public, signature := Sign(t, p.Bytes)
	_, other := Sign(t, []byte("something else"))
	wants(t, over(t, open()).Push(ctx, p, signature), "give the public key")
	d := over(t, open(), func(s *repo.Settings) { s.Keys = []string{"untrusted comment: k\n" + public + "\n"} })
	wants(t, d.Push(ctx, p, other), "does not fit the package")
	wants(t, d.Push(ctx, p, []byte("x")), "none of minisign")
	check(t, d.Push(ctx, p, signature))
	item, err := d.Show(ctx, use)
	if err != nil || item.Trust.Level != repo.Signed || !item.Trust.Usable || item.Trust.Signer != "3837363534333231" {
		t.Errorf("%+v, %v", item.Trust, err)
	}
	if _, err := d.Plugin(ctx, use, ""); err != nil {
		t.Error(err)
	}
	if _, err := over(t, open()).Plugin(ctx, use, ""); err == nil {
		t.Error("without the key it is trusted")
	}
}
