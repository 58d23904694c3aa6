package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Programs over brokers and stores extract what one process does: the Markdown of their records makes the same files.
func TestExtractOverACluster(t *testing.T) {
	c := newCluster(t)
	tg := newTarget(t, func(j *crawl.Job) { j.Extract = crawl.Extract{Markdown: true} })
	local := filepath.Join(t.TempDir(), "local")
	must(t, append(tg.args, "--markdown", local)...)
	c.startNode()
	c.must("seed", "--cluster", "-c", tg.args[2], "--extract", "markdown,structured")
	if r := c.run("status", "--cluster", "--wait"); r.exit != exitOK {
		t.Fatalf("status --wait: exit status %d\n%s%s\nnode:\n%s", r.exit, r.stdout, r.stderr, c.log.String())
	}
	files := filepath.Join(t.TempDir(), "cluster")
	c.must("export", "--cluster", "--format", "markdown", files)
	want, got := markdownIn(t, local), markdownIn(t, files)
	if len(want) == 0 || len(got) < len(want)*9/10 {
		t.Fatalf("%d files, %d of one process", len(got), len(want))
	}
	same := 0
	for name, text := range want {
		if got[name] == text {
			same++
		}
	}
	// which of two copies is the original depends on the order of a crawl, and some pages change
	if same < len(want)*9/10 {
		t.Errorf("%d of %d files are the same", same, len(want))
	}
	if text := c.must("export", "--cluster", "--columns", "url,markdown,structured,author,published", "--format",
		"jsonl"); !strings.Contains(text, `"markdown":"`) ||
		!strings.Contains(text, `"published":null`) {
		t.Errorf("export: %.500s", text)
	}
}

// markdownIn returns the files below a directory, without the line of their front matter that says when they were
// fetched.
func markdownIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		var kept []string
		for line := range strings.SplitSeq(string(data), "\n") {
			if !strings.HasPrefix(line, "date: ") {
				kept = append(kept, line)
			}
		}
		all[strings.TrimPrefix(name, dir)] = strings.Join(kept, "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
