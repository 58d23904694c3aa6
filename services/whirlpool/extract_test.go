package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const oldRules = "rules: [{name: shop, fields: [{name: title, css: h1}]}]\n"

const newRules = "rules: [{name: shop, match: /p/, fields: [{name: price, css: .price, type: number}, {name: name, " +
	"css: h1}]}]\n"

// shop serves ten products and counts its requests.
func shop(t *testing.T) (home string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/p/%d", &n); err == nil {
			fmt.Fprintf(w, "<h1>Gl\xfchlampe %d</h1><b class=price>%d.50</b><p>%s", n, n,
				strings.Repeat(fmt.Sprintf("lamp number %d. ", n*n*n), n+3))
			return
		}
		for n := range 10 {
			fmt.Fprintf(w, "<a href=/p/%d>%d</a>", n, n)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

// Rules are applied again to kept bodies and to archives, without a request; what was done is not done again.
func TestExtractAppliesRulesAgain(t *testing.T) {
	for _, how := range []string{"--keep-bodies", "--warc"} {
		t.Run(how, func(t *testing.T) {
			home, asked := shop(t)
			dir, before, after := filepath.Join(t.TempDir(), "crawl"), write(t, "old.yml", oldRules),
				write(t, "new.yml", newRules)
			args := []string{"crawl", "-c", before, home + "/", "-o", dir, "--allow-private", "--delay", "0s", "--no-sitemaps",
				"--quiet", "--near-duplicate", "-1"}
			must(t, append(args, how)...)
			requests := asked.Load()
			if out := must(t, "extract", "-c", after, "-o", dir, "--dry-run"); !strings.Contains(out,
				"11 pages: 10 would be amended, 1 as") {
				t.Errorf("dry run: %s", out)
			}
			if out := must(t, "extract", "-c", after, "-o", dir); !strings.Contains(out,
				"11 pages: 10 amended, 1 as the rules have them, 0 without") {
				t.Errorf("first: %s", out)
			}
			if out := must(t, "extract", "-c", after, "-o", dir); !strings.Contains(out,
				"11 pages: 0 amended, 11 as the rules have them") {
				t.Errorf("again: %s", out)
			}
			pages := records(t, dir)
			want := []crawl.Field{{Name: "price", Value: 7.5}, {Name: "name", Value: "Glühlampe 7"}}
			if r := pages[home+"/p/7"]; len(pages) != 11 || r == nil || !reflect.DeepEqual(r.Fields, want) ||
				!strings.Contains(r.Text, "lamp number 343") {
				t.Errorf("%d pages; one is %+v", len(pages), r)
			}
			if r := whirlpool(t, "audit", "-o", dir); r.exit != exitOK {
				t.Errorf("audit: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
			}
			if asked.Load() != requests {
				t.Errorf("%d requests were made", asked.Load()-requests)
			}
		})
	}
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A damaged body is found by audit, passed over by extract, and goes with --fresh.
func TestKeptBodiesAreAuditedAndDiscarded(t *testing.T) {
	home, _ := shop(t)
	dir, rules := filepath.Join(t.TempDir(), "crawl"), write(t, "new.yml", newRules)
	args := []string{"crawl", home + "/", "-o", dir, "--allow-private", "--delay", "0s", "--no-sitemaps", "--quiet"}
	must(t, append(args, "--keep-bodies")...)
	files, err := filepath.Glob(filepath.Join(dir, "bodies", "*", "*.zst"))
	if err != nil || len(files) != 11 {
		t.Fatalf("%d bodies are kept, %v; want 11", len(files), err)
	}
	if err := os.WriteFile(files[0], []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := whirlpool(t, "audit", "-o", dir); r.exit != exitFailure ||
		!strings.Contains(r.stdout, "1 files under bodies/ are damaged") {
		t.Errorf("audit: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	if r := whirlpool(t, "extract", "-c", rules, "-o", dir); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "1 kept bodies are damaged") {
		t.Errorf("extract: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
	must(t, append(args, "--fresh")...)
	if _, err := os.Stat(filepath.Join(dir, "bodies")); !os.IsNotExist(err) {
		t.Errorf("bodies/ after --fresh: %v", err)
	}
	if r := whirlpool(t, "extract", "-c", rules, "-o", dir); r.exit != exitFailure ||
		!strings.Contains(r.stderr, "no page has a body") {
		t.Errorf("extract without bodies: exit status %d, %s%s", r.exit, r.stdout, r.stderr)
	}
}
