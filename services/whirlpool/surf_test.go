package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The page about Surf's workflow says what can be done: its commands are run one after the other, and each has to hold.
func TestSurfsWorkflow(t *testing.T) {
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("the page's commands need %s", program)
		}
	}
	page, err := os.ReadFile("../../docs/surf.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) < 6 {
		t.Fatalf("%d blocks of commands", len(blocks))
	}
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for _, b := range blocks {
		script.Write(b[1])
	}
	pages := map[string]string{"/": `<title>Offers</title><article><h2>Gopher</h2><p class="pay">100</p></article><a href="/a">a</a> <a href="/gone">b</a>`,
		"/a": `<title>A</title><p>We write golang.</p><a href="/b">b</a>`,
		"/b": `<title>B</title><p>nothing of note here</p>`}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, found := pages[r.URL.Path]
		if !found {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(site.Close)
	s := startServe(t)
	key := strings.TrimSpace(must(t, "key", "create", "surf", "--role", "user", "--dir", s.dir))
	cmd := exec.CommandContext(t.Context(), "bash", "-xc", script.String())
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "API="+s.url+"/api/v1", "KEY="+key, "SITE="+site.URL)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := s.end(); err != nil {
		t.Fatal(err)
	}
}
