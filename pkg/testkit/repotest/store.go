// Package repotest has the suite of repo.Store, and of the repository over one.
package repotest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// Run runs the suite. open returns another connection to a store each time it is called with the same name, and an
// empty store for a new one.
func Run(t *testing.T, open func(t *testing.T, name string) repo.Store) {
	for name, test := range map[string]func(*testing.T, func() repo.Store){
		"Values": values, "OneOfManyAdds": oneOfManyAdds, "SetsAtATime": setsAtATime, "Names": names,
		"ANameMeansTheSameBytes": sameBytes, "PushesAtATime": pushesAtATime, "Trust": trust,
		"DisabledWhileItRuns": disabledWhileItRuns, "ChangedPackages": changedPackages, "PushesThatAreCutOff": cutOff,
		"AStoreThatGoesAway": goesAway, "Signatures": signatures, "TheNextVersionIsReady": nextVersion,
	} {
		t.Run(name, func(t *testing.T) { test(t, func() repo.Store { t.Helper(); return open(t, name) }) })
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// values that are stored are there for others, byte for byte.
func values(t *testing.T, open func() repo.Store) {
	ctx, a, b := t.Context(), open(), open()
	if _, err := a.Get(ctx, "names/x/y/1"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a value that is not there: %v", err)
	}
	large := bytes.Repeat([]byte{0, 1, 0xff}, 1<<20)
	for name, data := range map[string][]byte{"names/x/y/1": []byte("one"), "packages/empty": {},
		"packages/large": large} {
		check(t, a.Add(ctx, name, data))
		if got, err := b.Get(ctx, name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		if err := b.Add(ctx, name, []byte("another")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s is added twice: %v", name, err)
		}
		if got, err := a.Get(ctx, name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s after a second Add: %d bytes, %v", name, len(got), err)
		}
	}
	check(t, b.Set(ctx, "trust/x", []byte("first")))
	check(t, a.Set(ctx, "trust/x", []byte("second")))
	if got, err := b.Get(ctx, "trust/x"); err != nil || string(got) != "second" {
		t.Errorf("%q, %v", got, err)
	}
	if a.String() == "" {
		t.Error("nothing says where it is")
	}
}

// oneOfManyAdds: of those that add under one name at a time, one succeeds, and all see its value.
func oneOfManyAdds(t *testing.T, open func() repo.Store) {
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		s := open()
		wg.Go(func() { errs[i] = s.Add(t.Context(), "names/x/y/1", []byte(fmt.Sprint(i))) })
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			t.Errorf("%d and %d succeed", won, i)
		case err == nil:
			won = i
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("one who lost hears %v", err)
		}
	}
	if got, err := open().Get(t.Context(), "names/x/y/1"); err != nil || string(got) != fmt.Sprint(won) {
		t.Errorf("%d won, and %q is there, %v", won, got, err)
	}
}

// setsAtATime: of values that are set at a time, one is there whole.
func setsAtATime(t *testing.T, open func() repo.Store) {
	var wg sync.WaitGroup
	for i := range 8 {
		s := open()
		wg.Go(func() {
			for range 5 {
				if err := s.Set(t.Context(), "trust/x", bytes.Repeat([]byte{byte('a' + i)}, 10_000)); err != nil {
					t.Error(err)
				}
				got, err := s.Get(t.Context(), "trust/x")
				if err != nil || len(got) != 10_000 || len(slices.Compact(got)) != 1 {
					t.Errorf("%d bytes, %.20q, %v", len(got), got, err)
				}
			}
		})
	}
	wg.Wait()
}

func names(t *testing.T, open func() repo.Store) {
	ctx, s := t.Context(), open()
	if got, err := s.Names(ctx, "names/"); err != nil || len(got) > 0 {
		t.Errorf("of an empty store: %q, %v", got, err)
	}
	for _, name := range []string{"names/b/x/1", "names/a/x/2.0.0", "names/a/x/10.0.0", "names/a/xy/1", "packages/p",
		"names/a_/x/1"} {
		check(t, s.Add(ctx, name, []byte("x")))
	}
	for prefix, want := range map[string][]string{
		"names/":     {"names/a/x/10.0.0", "names/a/x/2.0.0", "names/a/xy/1", "names/a_/x/1", "names/b/x/1"},
		"names/a/x/": {"names/a/x/10.0.0", "names/a/x/2.0.0"},
		"names/a/":   {"names/a/x/10.0.0", "names/a/x/2.0.0", "names/a/xy/1"},
		"names/a_/":  {"names/a_/x/1"}, // no pattern
		"names/%/":   nil,
		"names/z/z/": nil,
	} {
		if got, err := s.Names(ctx, prefix); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", prefix, got, err, want)
		}
	}
}
