package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // closed twice by some tests
	return s
}

func TestControlStore(t *testing.T) {
	storetest.ControlStore(t, func(t *testing.T) workflow.Store {
		return open(t,
			filepath.Join(t.TempDir(), "control.db"))
	})
}

func TestNamesOfFiles(t *testing.T) {
	for _, name := range []string{"a b.db", "what?.db", "100%25#.db"} {
		path := filepath.Join(t.TempDir(), name)
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(found) != 1 || found[0] != path {
			t.Errorf("%s: there is %q", path, found)
		}
	}
}
