package repo_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
)

// above is a registry that has one package under a name.
type above struct {
	use       string
	pack      *repo.Package
	signature []byte
	err       error // what it answers instead; nil: nothing
	asked     int
}

func (a *above) String() string { return "oci://registry.example/" }

func (a *above) Fetch(_ context.Context, use string) (*repo.Package, []byte, error) {
	a.asked++
	switch {
	case a.err != nil:
		return nil, nil, a.err
	case use != a.use:
		return nil, nil, fs.ErrNotExist
	}
	return a.pack, a.signature, nil
}

func (a *above) Versions(context.Context, string) ([]string, error) {
	return []string{"1.0.0"}, a.err
}

// What a registry says is trusted no further than a signature of our keys goes, and what was taken once stays.
func TestWhatIsTakenFromARegistry(t *testing.T) {
	const use = "shop/price@1.0.0"
	p, other := repotest.Pack(t, use, "one"), repotest.Pack(t, use, "two")
	key, signature := repotest.Sign(t, p.Bytes)
	_, strange := repotest.Sign(t, []byte("something else"))
	otherKey, _ := repotest.Sign(t, nil)
	down := fmt.Errorf("%w: it is away", repo.ErrUnavailable)
	for name, c := range map[string]struct {
		from  above
		keys  []string
		level repo.Level // empty: it is not taken
		kind  error
	}{
		"signed by our key":    {above{use: use, pack: p, signature: signature}, []string{key}, repo.Signed, nil},
		"we have no key":       {above{use: use, pack: p, signature: signature}, nil, repo.Unsigned, nil},
		"not signed":           {above{use: use, pack: p}, []string{key}, repo.Unsigned, nil},
		"what is no signature": {above{use: use, pack: p, signature: []byte("x")}, []string{key}, repo.Unsigned, nil},
		"a signature of other bytes": {above{use: use, pack: p, signature: strange}, []string{otherKey}, "",
			repo.ErrSignature},
		"another plug-in":             {above{use: use, pack: repotest.Pack(t, "evil/price@1.0.0", "one")}, nil, "", nil},
		"another version":             {above{use: use, pack: repotest.Pack(t, "shop/price@1.0.1", "one")}, nil, "", nil},
		"a registry that is away":     {above{err: down}, nil, "", repo.ErrUnavailable},
		"a registry without the name": {above{use: "shop/rice@1.0.0", pack: p}, nil, "", repo.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := repo.Open(t.TempDir(), repo.Settings{Keys: c.keys, Upstream: &c.from})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = d.Close() }()
			digest, err := d.Digest(t.Context(), use)
			if c.level == "" {
				if err == nil || c.kind != nil && !errors.Is(err, c.kind) {
					t.Errorf("%v; want %v", err, c.kind)
				}
				if items, err := d.List(t.Context()); err != nil || len(items) > 0 {
					t.Errorf("%v is there, %v", items, err)
				}
				return
			}
			if err != nil || digest != p.Digest {
				t.Fatalf("%s, %v", digest, err)
			}
			if i, err := d.Show(t.Context(), use); err != nil || i.Trust.Level != c.level {
				t.Errorf("%+v, %v", i.Trust, err)
			}
			c.from.pack = other // the registry's version means something else from now on
			if digest, err := d.Digest(t.Context(), use); err != nil || digest != p.Digest || c.from.asked != 1 {
				t.Errorf("%s, %v, asked %d times", digest, err, c.from.asked)
			}
			f, err := repo.Fetch(t.Context(), &c.from, use)
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Keep(t.Context(), f); !errors.Is(err, repo.ErrTaken) && !errors.Is(err, repo.ErrSignature) {
				t.Errorf("other bytes are kept: %v", err)
			}
		})
	}
}
