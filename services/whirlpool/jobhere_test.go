package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// cookieHead begins a file of cookies.
const cookieHead = "# Netscape HTTP Cookie File\n"

// What a job refers to and this machine does not have is told before --fresh discards the crawl that is there.
func TestAMissingFileIsToldBeforeTheOldCrawlIsDiscarded(t *testing.T) {
	for name, tt := range map[string]struct {
		job, file, text string // file is written beside the job file, unless it is empty
		args, want      []string
	}{
		"no list":           {job: "seed_list: list.txt", want: []string{"seed_list", "list.txt", "no such file"}},
		"a list: directory": {job: "seed_list: .", want: []string{"seed_list", "directory"}},
		"no cookies":        {job: "cookies_file: c.txt", want: []string{"cookies_file", "c.txt", "no such file"}},
		"bad cookies": {job: "cookies_file: c.txt", file: "c.txt", text: cookieHead + "a.test\tTRUE\n",
			want: []string{"cookies_file", "c.txt", "line 2", "want 7"}},
		"an output elsewhere": {job: "pipeline: {nodes: [{id: o, at: output, use: builtin/file@1, with: {file: ../x.csv}}]}",
			want: []string{"../x.csv"}},
		"an output's secret": {job: "pipeline: {nodes: [{id: h, at: output, use: builtin/webhook@1, " +
			"with: {url: 'http://127.0.0.1:9/', secrets: ['${NO_SUCH_HOOK}']}}]}",
			want: []string{"pipeline.nodes[0].with.secrets[0]", "set the environment variable NO_SUCH_HOOK"}},
		"an output's address": {job: "pipeline: {nodes: [{id: d, at: output, use: builtin/postgres@1, " +
			"with: {url: 'postgres://me:${NO_SUCH_WORD}@127.0.0.1/x'}}]}",
			want: []string{"pipeline.nodes[0].with.url", "NO_SUCH_WORD"}},
		"flag of cookies": {job: "max_pages: 1", args: []string{"--cookies", "gone.txt"},
			want: []string{"--cookies", "gone.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := usedDirectory(t)
			tmp := t.TempDir()
			file := filepath.Join(tmp, "job.yml")
			writeText(t, file, "seeds: [http://127.0.0.1:9/]\n"+tt.job+"\n")
			if tt.file != "" {
				writeText(t, filepath.Join(tmp, tt.file), tt.text)
			}
			r := whirlpool(t, append([]string{"crawl", "-c", file, "-o", dir, "--fresh", "--allow-private"}, tt.args...)...)
			refusedAndKept(t, r, dir, tt.want...)
		})
	}
}

// So is where copies cannot be written. Those that can be are written, in directories that are not there yet.
func TestTargetsAreTriedBeforeTheOldCrawlIsDiscarded(t *testing.T) {
	tmp := t.TempDir()
	file := filepath.Join(tmp, "file")
	writeText(t, file, "text")
	for name, tt := range map[string]struct{ flag, target, want string }{
		"Markdown into a file":        {"--markdown", file, "no directory"},
		"Markdown below a file":       {"--markdown", filepath.Join(file, "md"), "not a directory"},
		"a mirror into a file":        {"--mirror", file, "no directory"},
		"WACZ into no directory":      {"--wacz", filepath.Join(tmp, "none", "c.wacz"), "no directory"},
		"WACZ as a directory":         {"--wacz", filepath.Join(tmp, "d.wacz"), "is a directory"},
		"WACZ below what is no place": {"--wacz", filepath.Join(file, "c.wacz"), "not a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(filepath.Join(tmp, "d.wacz"), 0o700); err != nil {
				t.Fatal(err)
			}
			dir := usedDirectory(t)
			r := whirlpool(t, "crawl", "http://127.0.0.1:9/", "-o", dir, "--fresh", "--allow-private", tt.flag, tt.target)
			refusedAndKept(t, r, dir, tt.flag+" "+tt.target, tt.want)
		})
	}
	for _, f := range []crawlFlags{
		{out: filepath.Join(tmp, "out"), markdown: filepath.Join(tmp, "new", "md"),
			copies: copyFlags{wacz: filepath.Join(tmp, "out", "c.wacz")}},
		{out: filepath.Join(tmp, "out"),
			copies: copyFlags{mirror: filepath.Join(tmp, "m"), wacz: filepath.Join(tmp, "m", "c.wacz")}},
		{out: filepath.Join(tmp, "out"), copies: copyFlags{wacz: filepath.Join(tmp, "c.wacz")}},
		{out: "-"},
	} {
		if err := f.checkTargets(); err != nil {
			t.Errorf("%+v is refused: %v", f, err)
		}
	}
}

// refusedAndKept checks that a command was refused as misused, with a message that has all of want, and that the crawl
// in dir is as it was.
func refusedAndKept(t *testing.T, r result, dir string, want ...string) {
	t.Helper()
	for _, text := range want {
		if r.exit != exitUsage || !strings.Contains(r.stderr, text) {
			t.Errorf("exit status %d, want %d and %q in %s", r.exit, exitUsage, text, r.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "pages.jsonl")); err != nil {
		t.Errorf("the crawl that was there is lost: %v", err)
	}
}

// usedDirectory is the directory of a crawl that a test may change.
func usedDirectory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "used")
	if err := os.CopyFS(dir, os.DirFS(crawled(t))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeText(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
