package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Assets have bounds of their own: the page budget does not stop them, their budgets do; they keep to the scope of
// assets and to what is excluded; and what a page is not made of is not asked for.
func TestAssetsHaveBoundsOfTheirOwn(t *testing.T) {
	long(t)
	site, other, _ := serveAssets(t)
	done := ending{crawl.VerdictDone, "", http.StatusOK}
	deep, font, script := site.URL+"/deep.gif", other.URL+"/font.woff2", site.URL+"/script.js"
	for name, c := range map[string]struct {
		flags []string
		file  string
		want  map[string]ending
		pages int
	}{
		"page budget": {flags: []string{"--assets", "--max-pages", "1"}, pages: 1,
			want: map[string]ending{deep: done, font: done, script: done}},
		"scope": {flags: []string{"--assets=job", "--max-pages", "1"}, pages: 1,
			want: map[string]ending{deep: done, font: {crawl.VerdictExcluded, crawl.ReasonScope, 0}}},
		"excluded": {flags: []string{"--assets", "--max-pages", "1", "--exclude", `\.gif$`}, pages: 1,
			want: map[string]ending{deep: {crawl.VerdictExcluded, crawl.ReasonExclude, 0}, font: done}},
		"not included": {flags: []string{"--assets", "--include", `/based/`}, pages: 2, want: map[string]ending{deep: done}},
		"budget": {file: "assets: {scope: any, max: 1}\n", flags: []string{"--max-pages", "1"}, pages: 1,
			want: map[string]ending{script: {crawl.VerdictExcluded, crawl.ReasonAssetBudget, 0}}},
		"host budget": {file: "assets: {scope: any, per_host: 1}\n", flags: []string{"--max-pages", "1"}, pages: 1,
			want: map[string]ending{script: {crawl.VerdictExcluded, crawl.ReasonAssetBudget, 0},
				other.URL + "/other.gif": done}},
		"depth": {flags: []string{"--assets", "--max-depth", "0"}, pages: 2, want: map[string]ending{deep: done}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "crawl")
			args := append([]string{"crawl", site.URL + "/", "--allow-private", "--delay", "0s", "--ip-delay", "0s", "--scope",
				"host", "-o", dir, "--quiet"}, c.flags...)
			if c.file != "" {
				file := filepath.Join(t.TempDir(), "job.yml")
				if err := os.WriteFile(file, []byte(c.file), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "-c", file)
			}
			if got := run(t, args...); got.exit != 0 {
				t.Fatalf("exit status %d: %s", got.exit, got.stderr)
			}
			finals := finalsIn(t, dir)
			for u, want := range c.want {
				wantEnding(t, finals, u, want)
			}
			if got := len(readResults(t, dir).Pages); got != c.pages {
				t.Errorf("%d pages, want %d", got, c.pages)
			}
			if r := audit(t, dir); len(r.Faults) > 0 {
				t.Errorf("audit: %+v", r)
			}
		})
	}
}
