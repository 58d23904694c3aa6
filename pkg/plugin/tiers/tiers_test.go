package tiers_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/tiers"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/repotest"
)

// A directory that cannot hold compiled modules, as on a full disk, keeps no plug-in from being used.
func TestModulesRunWithoutACache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{"with": t.TempDir(), "without": file} {
		p, err := tiers.Loaders(dir)[plugin.WASM](t.Context(), repotest.Pack(t, "x/y@1.0.0", `{"action":"pass"}`), "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		i, err := p.Configure(t.Context(), crawl.AtDocument, nil)
		if err != nil {
			t.Fatal(err)
		}
		a, err := i.Handle(t.Context(), &plugin.Call{Message: &plugin.Document{}})
		if err != nil || a.Action != plugin.Pass {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
		if err := i.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
