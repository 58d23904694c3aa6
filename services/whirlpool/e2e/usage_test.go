package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// htmlServer serves HTML pages by path, and nothing else.
func htmlServer(t *testing.T, pages map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, body) // a client that leaves is its own affair
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// Bad usage has exit status 2, prints nothing on standard output, and names what is wrong.
func TestBadUsageNamesWhatIsWrong(t *testing.T) {
	long(t)
	page := inFile(t, "page.html", "<p>x")
	job := func(text string) string { return inFile(t, "job.yml", text) }
	const seeds = "seeds: [http://h.test/]\n"
	for _, c := range []struct {
		args string // %s is the file
		file string
		want string
	}{
		{"nosuch", "", "nosuch"}, {"--nope", "", "--nope"}, {"tool nosuch", "", "nosuch"}, {"tool --nope", "", "--nope"},
		{"tool url x y", "", "given:"}, {"tool url --nope", "", "--nope"}, {"tool canon x y", "", "given:"},
		{"tool canon --nope", "", "--nope"}, {"tool robots", "", "given:"}, {"tool robots --nope", "", "--nope"},
		{"tool robots /nowhere/r a /", "", "/nowhere/r"}, {"tool links %s", page, "--base"},
		{"tool links --base no-url %s", page, "no-url"}, {"tool links --nope", "", "--nope"},
		{"tool text", "", "given:"}, {"tool text --nope %s", page, "--nope"}, {"tool simhash", "", "given:"},
		{"tool simhash --nope %s", page, "--nope"}, {"tool warc", "", "given:"}, {"tool warc --nope", "", "--nope"},
		{"crawl", "", "URL"}, {"crawl --nope http://h.test/", "", "--nope"}, {"crawl ftp://h.test/", "", "ftp://h.test/"},
		{"crawl http://h.test:99999/", "", "99999"}, {"crawl file:///etc/passwd", "", "file:///etc/passwd"},
		{"crawl http://h.test/ --scope all", "", `scope "all"`}, {"crawl http://h.test/ --include (", "", `"("`},
		{"crawl http://h.test/ --exclude a[", "", `"a["`}, {"crawl http://h.test/ --delay 5", "", "--delay"},
		{"crawl http://h.test/ --max-body 3x", "", "--max-body"}, {"crawl http://h.test/ --dns no-address", "", "no-address"},
		{"crawl http://h.test/ --proxy ftp://p", "", "proxy"},
		{"crawl http://h.test/ --blacklist /nowhere/b", "", "/nowhere/b"},
		{"crawl http://h.test/ --host-connections 0", "", "--host-connections"},
		{"crawl http://h.test/ --concurrency 0", "", "--concurrency"}, {"crawl -c /nowhere/job.yml", "", "/nowhere/job.yml"},
		{"crawl -c %s", job("sedes: [http://h.test/]\n"), "sedes"},
		{"crawl -c %s", job(seeds + "limits: {max_boddy: 3}\n"), "max_boddy"},
		{"crawl -c %s", job(seeds + "max_pages: many\n"), "many"},
		{"crawl -c %s", job(seeds + "politeness: {delay: soon}\n"), "soon"}, {"crawl -c %s", job("a: b: c"), "job.yml"},
		{"crawl -c %s", job(seeds + "rules: [{name: r, fields: [{name: f, css: 'a[['}]}]\n"), "a[["},
		{"crawl -c %s", job(seeds + "rules: [{name: r, fields: [{name: f, xpath: '//a['}]}]\n"), "//a["},
		{"crawl -c %s", job(seeds + "rules: [{name: r, match: '(', fields: [{name: f, css: a}]}]\n"), "("},
	} {
		args := strings.Fields(c.args)
		for i, a := range args {
			if a == "%s" {
				args[i] = c.file
			}
		}
		got := run(t, args...)
		if got.exit != 2 || got.stdout != "" || !strings.Contains(got.stderr, c.want) ||
			!strings.HasPrefix(got.stderr, "whirlpool: ") {
			t.Errorf("whirlpool %s: exit status %d, %q, %q: want 2 and %q named", c.args, got.exit, got.stdout, got.stderr,
				c.want)
		}
	}
}

// Failures that are nobody's mistake on the command line have exit status 1.
func TestFailuresNameTheFile(t *testing.T) {
	long(t)
	file := inFile(t, "file", "")
	for _, c := range []struct{ args, want string }{
		{"crawl http://h.test/ -o " + file, file}, {"crawl http://h.test/ -o " + filepath.Join(file, "x"), file},
		{"status -o /nowhere/c", "/nowhere/c"}, {"audit -o /nowhere/c", "/nowhere/c"}, {"tool text /nowhere/p", "/nowhere/p"},
		{"tool simhash /nowhere/p", "/nowhere/p"}, {"tool warc /nowhere/w", "/nowhere/w"},
		{"tool links --base http://h.test/ /nowhere/p", "/nowhere/p"},
	} {
		if got := run(t, strings.Fields(c.args)...); got.exit != 1 || !strings.Contains(got.stderr, c.want) {
			t.Errorf("whirlpool %s: exit status %d, %q: want 1 and %s named", c.args, got.exit, got.stderr, c.want)
		}
	}
}

// A name server that answers nothing ends the crawl with a reason; the same command finds the page when it is back.
func TestDeadNameServer(t *testing.T) {
	long(t)
	port := strings.TrimPrefix(htmlServer(t, map[string]string{"/": "<p>x"}), "http://127.0.0.1")
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := conn.LocalAddr().String()
	conn.Close()
	job := inFile(t, "job.yml", "retry: {max: 1, base: 10ms}\npoliteness: {delay: 0s}\n")
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"crawl", "http://h.test" + port + "/", "-c", job, "--allow-private", "--quiet", "-o", dir}
	got := run(t, append(args, "--dns", dead)...)
	if got.exit != 1 || !strings.Contains(got.stderr, "crawl.log") {
		t.Errorf("exit status %d, %q: want 1 and where to look", got.exit, got.stderr)
	}
	lines := finalsIn(t, dir)["http://h.test"+port+"/"]
	if len(lines) != 1 || lines[0].Verdict == crawl.VerdictDone || lines[0].Reason == "" {
		t.Errorf("%d outcomes, want one with a reason", len(lines))
	}
	log, err := os.ReadFile(filepath.Join(dir, "crawl.log"))
	if err != nil || !strings.Contains(string(log), dead) {
		t.Errorf("crawl.log does not name the server %s: %v", dead, err)
	}
	alive := nameServer(t, map[string]string{"h.test.": "127.0.0.1"}, "")
	if got := run(t, append(args, "--dns", alive, "--fresh")...); got.exit != 0 {
		t.Errorf("with a name server: exit status %d, %s", got.exit, got.stderr)
	}
}

// A disk without room is said aloud even with --quiet, stops the crawl from storing, and loses nothing: with room again
// the same command finishes. The device /dev/full stands for the disk.
func TestFullDiskIsSaidAndLosesNothing(t *testing.T) {
	long(t)
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skipf("%s has no /dev/full", runtime.GOOS)
	}
	pages := map[string]string{"/": ""}
	for i := range 20 {
		pages[fmt.Sprintf("/%d", i)] = fmt.Sprintf("<p>page number %d of a small site", i)
		pages["/"] += fmt.Sprintf("<a href=/%d>%d</a> ", i, i)
	}
	srv := htmlServer(t, pages)
	dir := t.TempDir()
	file := filepath.Join(dir, "pages.jsonl")
	if err := os.Symlink("/dev/full", file); err != nil {
		t.Fatal(err)
	}
	c := crawler{exe: program, dir: dir,
		args: []string{"crawl", srv + "/", "--allow-private", "--delay", "0s", "--quiet", "-o", dir}}
	cmd := exec.Command(program, c.args...)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said, lines := "", bufio.NewScanner(stderr)
	giveUp := time.AfterFunc(runPatience, func() { _ = cmd.Process.Kill() })
	for !strings.Contains(said, "no space left") && lines.Scan() {
		said += lines.Text() + "\n"
	}
	giveUp.Stop()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if !strings.Contains(said, file) || !strings.Contains(said, "no space left") {
		t.Errorf("the crawl said %q: want %s and that there is no space left", said, file)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	c.start(t).wait(t)
	r := readResults(t, dir)
	if a := audit(t, dir); len(r.Pages) != len(pages) || len(r.Twice) > 0 || len(a.Faults) > 0 || a.Open > 0 {
		t.Errorf("%d pages, %q twice, audit %+v; want %d pages", len(r.Pages), r.Twice, a, len(pages))
	}
}
