package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// markdownFiles returns the files below dir, by name.
func markdownFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, dir+string(filepath.Separator))] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// However often a crawl is killed, in the end the files are those that the records ask for, and an export makes the
// same.
func TestMarkdownFilesOutliveKills(t *testing.T) {
	long(t)
	t.Parallel()
	srv := serve(t, variedWeb(600), 0)
	notes := filepath.Join(t.TempDir(), "notes")
	c := newCrawler(t, srv, jobFor(srv), "--markdown", notes, "--extract", "structured")
	m := tormented(t, c, srv, 5, 700)
	got := markdownFiles(t, notes)
	again := filepath.Join(t.TempDir(), "again")
	if r := run(t, "export", "--format", "markdown", "-o", c.dir, again); r.exit != 0 {
		t.Fatalf("exit %d: %s", r.exit, r.stderr)
	}
	want := markdownFiles(t, again)
	t.Logf("%d kills, %d files", m.kills, len(got))
	if len(want) < 300 {
		t.Errorf("only %d files", len(want))
	}
	for name, content := range want {
		if got[name] != content {
			t.Errorf("%s: got %q, want %q", name, got[name], content)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s is the file of no record", name)
	}
}

const articlePage = `<!doctype html><html lang=en><head><title>A storm</title><meta property="og:title" content="Storm">
<script type="application/ld+json">{"@type":"NewsArticle","author":{"name":"Ann Bee"},"datePublished":"2025-03-04","dateModified":"2025-03-05T06:00:00Z"}</script></head>
<body><nav><a href="/nav">Menu of the site</a></nav><main><article><h1>A storm</h1><p>The storm came in the night and took the roofs of many houses along the coast of the
country, as <a href="/more?a=b&amp;c">people</a> who live there say.</p><pre><code class="language-go">func f() {}</code></pre>
<table><tr><th>Town<th>Roofs<tr><td>A<td>5</table></article></main></body></html>`

// One page through the whole crawl: record, files, columns, tools.
func TestExtractOfAPage(t *testing.T) {
	long(t)
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/News/a" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(articlePage))
	}))
	defer srv.Close()
	url, dir, notes := srv.URL+"/News/a", filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "notes")
	if r := run(t, "crawl", url, "--allow-private", "--delay", "0s", "--max-depth", "0", "--extract", "structured",
		"--markdown", notes, "-o", dir); r.exit != 0 ||
		!strings.Contains(r.stdout+r.stderr, "1 Markdown files written to "+notes) {
		t.Fatalf("exit %d: %s%s", r.exit, r.stdout, r.stderr)
	}
	line, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var rec struct {
		Markdown, Author, Published, Modified string
		Structured                            struct {
			JSONLD    []map[string]any `json:"jsonld"`
			OpenGraph map[string]string
		}
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		t.Fatal(err)
	}
	want := "# A storm\n\nThe storm came in the night and took the roofs of many houses along the coast of the country, " +
		"as [people](" + srv.URL +
		"/more?a=b&c) who live there say.\n\n```go\nfunc f() {}\n```\n\n| Town | Roofs |\n|---|---|\n| A | 5 |"
	if rec.Markdown != want {
		t.Errorf("Markdown %q, want %q", rec.Markdown, want)
	}
	if rec.Author != "Ann Bee" || rec.Published != "2025-03-04T00:00:00.000Z" ||
		rec.Modified != "2025-03-05T06:00:00.000Z" ||
		rec.Structured.JSONLD[0]["@type"] != "NewsArticle" || rec.Structured.OpenGraph["title"] != "Storm" {
		t.Errorf("record %s", line)
	}
	for name, content := range markdownFiles(t, notes) {
		if !strings.Contains(content, "\nauthor: \"Ann Bee\"\npublished: 2025-03-04T00:00:00Z\n") ||
			!strings.HasSuffix(content, want+"\n") {
			t.Errorf("%s: %s", name, content)
		}
	}
	if r := run(t, "export", "-o", dir, "--columns", "author,published,structured"); !strings.HasPrefix(r.stdout,
		"author,published,structured\nAnn Bee,2025-03-04T00:00:00.000Z,\"{") {
		t.Errorf("export: %s%s", r.stdout, r.stderr)
	}
	if r := run(t, "tool", "markdown", "--allow-private", url); strings.TrimSpace(r.stdout) != want {
		t.Errorf("tool markdown URL: %s%s", r.stdout, r.stderr)
	}
	file := inFile(t, "a.html", articlePage)
	if r := run(t, "tool", "markdown", "--base", url, "--front-matter", file); !strings.Contains(r.stdout, want) ||
		!strings.Contains(r.stdout, "author: \"Ann Bee\"") {
		t.Errorf("tool markdown FILE: %s%s", r.stdout, r.stderr)
	}
	if r := run(t, "tool", "structured", file); !bytes.Contains([]byte(r.stdout),
		[]byte(`"author":"Ann Bee","published":"2025-03-04T00:00:00Z"`)) {
		t.Errorf("tool structured: %s%s", r.stdout, r.stderr)
	}
	if r := run(t, "tool", "markdown", url); r.exit == 0 || !strings.Contains(r.stderr, "private") {
		t.Errorf("tool markdown fetches from a private address: exit %d, %s%s", r.exit, r.stdout, r.stderr)
	}
}
