package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func textIn(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A job file takes its seeds from a list beside it and writes an output; --fresh removes what it wrote, and nothing
// else.
func TestACrawlWithEnds(t *testing.T) {
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	job, dir := filepath.Join(home, "job.yml"), filepath.Join(t.TempDir(), "out")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, "seeds.txt"), "# these\r\n"+web.Web().Seeds()[0]+"\r\nht tp://none\r\n")
	const head = "max_pages: 20\nscope: any\npipeline:\n  nodes:\n" +
		"    - {id: list, at: provider, use: builtin/list@1, with: {file: seeds.txt}}\n"
	write(job, head+"    - {id: table, at: output, use: builtin/file@1, with: {file: pages.csv, columns: [url, title]}}\n")
	args := []string{"crawl", "-c", job, "-o", dir, "--allow-private", "--dns", web.DNSAddr(), "--delay", "0s",
		"--no-sitemaps"}
	r := whirlpool(t, args...)
	if r.exit != exitOK || !strings.Contains(r.stdout+r.stderr, "node list: 1 seed of 3 lines, 1 line is no seed") {
		t.Fatalf("%+v", r)
	}
	if got, want := strings.Count(textIn(t, dir, "outputs", "pages.csv"), "\n"), len(records(t, dir))+1; got != want ||
		want < 10 {
		t.Errorf("%d lines, want %d", got, want)
	}
	write(filepath.Join(dir, "outputs", "mine.csv"), "mine")
	if r := whirlpool(t, append(args, "--fresh")...); r.exit != exitOK {
		t.Errorf("%+v", r)
	}
	if text := textIn(t, dir, "outputs", "mine.csv"); text != "mine" {
		t.Errorf("somebody's file holds %q", text)
	}
	if r := whirlpool(t, "crawl", "-c", job, "-o", "-", "--allow-private"); r.exit != exitUsage ||
		!strings.Contains(r.stderr, "nodes at output") {
		t.Errorf("-o -: %+v", r)
	}
	write(job, head+"    - {id: table, at: output, use: builtin/file@1, with: {file: mine.csv}}\n")
	if r := whirlpool(t, args...); r.exit == exitOK ||
		!strings.Contains(r.stderr, "pipeline.nodes[1].with.file (node table)") {
		t.Errorf("somebody's file: %+v", r)
	}
}

// On a server, an execution takes its seeds from the pages of another one, and its output lies in its directory.
func TestAWorkflowWithEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of waiting")
	}
	s := startServe(t)
	run := func(args ...string) result { t.Helper(); return whirlpool(t, append(args, "--dir", s.dir)...) }
	file := filepath.Join(t.TempDir(), "job.yml")
	apply := func(text string) result {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return run("apply", "-f", file)
	}
	const rest = "allow_private: true\npoliteness: {delay: 0s}\npipeline:\n  nodes:\n"
	const table = "    - {id: table, at: output, use: builtin/file@1, with: {file: t.csv, columns: [url]}}\n"
	first := "id: first\n" + rest + "    - {id: few, at: provider, use: builtin/urls@1, with: {urls: ['" + s.site.URL +
		"/']}}\n" + table
	second := "id: second\nseeds_only: true\n" + rest +
		"    - {id: old, at: provider, use: builtin/pages@1, with: {execution: first-1, match: '/[ab]$'}}\n" + table
	for name, text := range map[string]string{"first": first, "second": second} {
		if r := apply(text); r.exit != exitOK {
			t.Fatalf("%s: %+v", name, r)
		}
	}
	for _, c := range []struct {
		name, pages string
		rows        int
	}{{"first", "3 pages", 3}, {"second", "2 pages", 2}} {
		if r := run("workflow", "run", c.name, "--watch"); r.exit != exitOK ||
			!strings.Contains(r.stdout, "succeeded, "+c.pages) {
			t.Fatalf("%+v", r)
		}
		if text := textIn(t, s.dir, "executions", c.name+"-1", "outputs", "t.csv"); strings.Count(text, "\n") != c.rows+1 {
			t.Errorf("%s: %q", c.name, text)
		}
	}
	for fault, text := range map[string]string{
		"pipeline.nodes[0].with.dir": strings.Replace(second, "execution: first-1",
			"dir: "+filepath.Join(s.dir, "files", "x"), 1),
		"a server reads only files in": "id: third\n" + rest +
			"    - {id: f, at: provider, use: builtin/list@1, with: {file: /etc/passwd}}\n",
		"want the whole path": "id: third\n" + rest +
			"    - {id: f, at: provider, use: builtin/list@1, with: {file: ../../etc/passwd}}\n",
		"lies in no directory": "id: third\n" + rest +
			"    - {id: f, at: output, use: builtin/file@1, with: {file: ../x.csv}}\n",
	} {
		if r := apply(text); r.exit == exitOK || !strings.Contains(r.stderr, fault) {
			t.Errorf("%s: %+v", fault, r)
		}
	}
}
