package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The program of docs/plugins.md works as it is there.
func TestTheProgramOfTheDocs(t *testing.T) {
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("there is no Python here")
		}
	}
	data, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n## Programs\n")
	block := func(language string) string {
		_, rest, found := strings.Cut(text, "```"+language+"\n")
		code, _, closed := strings.Cut(rest, "```")
		if !found || !closed {
			t.Fatalf("docs/plugins.md has no block of %s under Programs", language)
		}
		return code
	}
	dir, repository := filepath.Join(t.TempDir(), "words"), t.TempDir()
	t.Setenv(pluginsEnv, repository)
	program := block("python")
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		program = strings.Replace(program, "/usr/bin/python3", "/usr/bin/env python3", 1)
	}
	for name, text := range map[string]string{"plugin.toml": block("toml"), "words.py": program} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil { //nolint:gosec // one of them is a program
			t.Fatal(err)
		}
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<title>x</title><p>Seven words are in this page, Zoë."))
	}))
	defer site.Close()
	must(t, "plugin", "push", "--untested", dir)
	must(t, "plugin", "approve", "bench/words@1.0.0")
	job, out := filepath.Join(t.TempDir(), "job.yml"), filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(job, []byte("pipeline:\n  nodes:\n    - {id: n, at: document, use: bench/words@1.0.0}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"crawl", site.URL + "/", "-c", job, "-o", out, "--allow-private", "--max-pages", "1", "--quiet"}
	if r := whirlpool(t, args...); r.exit == exitOK || !strings.Contains(r.stderr, "--plugin-processes") {
		t.Errorf("without --plugin-processes: %d, %s", r.exit, r.stderr)
	}
	must(t, append(args, "--plugin-processes")...)
	if records := must(t, "export", "-o", out, "--format", "jsonl"); !strings.Contains(records, `"words":7`) ||
		strings.Contains(records, "plugin_errors") {
		t.Errorf("the record is\n%s", records)
	}
}
