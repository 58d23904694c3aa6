package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/report"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
)

func TestStatusOfAFinishedCrawlCountsWhatItLeft(t *testing.T) {
	dir := crawled(t)
	s := statusOf(t, dir)
	if s.State != report.StateFinished || s.Queued != 0 || s.InFlight != 0 || s.DeadLetters != 0 {
		t.Errorf("state %s, %d queued, %d in flight, %d dead letters; want a finished crawl", s.State, s.Queued, s.InFlight,
			s.DeadLetters)
	}
	if s.Statuses[200] != s.Pages || s.Verdicts["gone"] == 0 || s.Statuses[404] == 0 || s.Excluded["scope"] == 0 {
		t.Errorf("outcomes %v, status codes %v, left out %v with %d pages", s.Verdicts, s.Statuses, s.Excluded, s.Pages)
	}
	for _, f := range s.Files {
		if info, err := os.Stat(filepath.Join(dir, f.Name)); err != nil || !info.IsDir() && info.Size() != f.Bytes {
			t.Errorf("%s is said to have %d bytes: %v", f.Name, f.Bytes, err)
		}
	}
	text := must(t, "status", "-o", dir)
	for _, want := range []string{"finished", dir, "pages.jsonl", "404"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// A crawl does not wait for URLs whose robots.txt cannot be had, and says that it is done: so does its status.
func TestStatusOfACrawlThatLeftAHostAside(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
	}))
	t.Cleanup(page.Close)
	dir := filepath.Join(t.TempDir(), "crawl")
	noTLS := "https" + strings.TrimPrefix(server.URL, "http") + "/"
	must(t, "crawl", "-o", dir, "--allow-private", "--delay", "0s", "--quiet", noTLS, page.URL+"/")
	if s := statusOf(t, dir); s.State != report.StateFinished || s.Queued != 1 {
		t.Errorf("state %s, %d queued; want a finished crawl and the URL that waits", s.State, s.Queued)
	}
	const want = "finished; 1 URL was not asked, because robots.txt or the host could not be had"
	if text := must(t, "status", "-o", dir); !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
	must(t, "status", "--wait", "-o", dir)
}

func TestAuditOfASoundCrawl(t *testing.T) {
	dir := crawled(t)
	text := must(t, "audit", "-o", dir)
	if strings.Contains(text, "WRONG") || strings.Count(text, "ok ") < 4 {
		t.Errorf("audit says\n%s", text)
	}
	r := decode[crawl.AuditReport](t, must(t, "audit", "--json", "-o", dir))
	if r.Done == 0 || r.Lost != 0 || r.Pages == 0 {
		t.Errorf("audit: %+v", r)
	}
}

// The control of the test above: a crawl whose queue was emptied by hand has lost URLs.
func TestAuditFailsWhereURLsWereLost(t *testing.T) {
	tg := newTarget(t, nil)
	must(t, append(tg.args, "--max-pages", "5")...)
	st, err := local.Open(tg.dir, local.Default())
	if err != nil {
		t.Fatal(err)
	}
	lengths, err := st.Queues().Lengths(t.Context())
	if err != nil || len(lengths) == 0 {
		t.Fatalf("queues %v, %v: nothing to lose", lengths, err)
	}
	for name, n := range lengths {
		ds, err := st.Queues().Pull(t.Context(), name, int(n))
		if err == nil {
			err = st.Queues().Settle(t.Context(), ds...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	r := whirlpool(t, "audit", "-o", tg.dir)
	if r.exit != exitFailure || !strings.Contains(r.stdout, "WRONG") || !strings.Contains(r.stderr, "--fresh") {
		t.Errorf("exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
}

func TestExportWritesEveryPage(t *testing.T) {
	dir := crawled(t)
	pages, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n, copies := bytes.Count(pages, []byte("\n")), bytes.Count(pages, []byte(`"similarity":`))
	if copies == 0 {
		t.Fatal("the crawl found no copies: --originals cannot be tested")
	}
	if got := strings.Count(must(t, "export", "-o", dir, "--columns", "url,status"), "\n"); got != n+1 {
		t.Errorf("CSV has %d lines, want a header and %d pages", got, n)
	}
	if got := must(t, "export", "-o", dir, "--format", "jsonl"); got != string(pages) {
		t.Error("JSON Lines without columns differ from pages.jsonl")
	}
	file := filepath.Join(t.TempDir(), "out.jsonl")
	must(t, "export", "-o", dir, "--originals", "--columns", "url", file)
	data, err := os.ReadFile(file)
	if got := bytes.Count(data, []byte("\n")); err != nil || got != n-copies {
		t.Errorf("%d originals, %v; want %d", got, err, n-copies)
	}
	file = filepath.Join(t.TempDir(), "out.parquet")
	must(t, "export", "-o", dir, file)
	if data, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(data, []byte("PAR1")) {
		t.Errorf("no Parquet file: %v", err)
	}
}

func TestBadUsageAndWrongDirectories(t *testing.T) {
	dir, empty := crawled(t), t.TempDir()
	for _, tt := range []struct {
		args []string
		exit int
		want string
	}{
		{[]string{"status", "-o", empty}, exitFailure, "holds no crawl"},
		{[]string{"status", "-o", filepath.Join(empty, "no")}, exitFailure, "holds no crawl"},
		{[]string{"explain", "-o", empty, "http://a/"}, exitFailure, "holds no crawl"},
		{[]string{"audit", "-o", empty}, exitFailure, "holds no crawl"},
		{[]string{"export", "-o", empty}, exitFailure, "holds no crawl"},
		{[]string{"replay", "-o", empty}, exitFailure, "holds no crawl"},
		{[]string{"stop", "-o", empty}, exitFailure, "holds no crawl"},
		{[]string{"status"}, exitUsage, "-o"},
		{[]string{"status", "-o", dir, "more"}, exitUsage, "more"},
		{[]string{"status", "--nonsense"}, exitUsage, "--nonsense"},
		{[]string{"explain", "-o", dir}, exitUsage, "whirlpool explain URL"},
		{[]string{"explain", "-o", dir, "ftp://a/"}, exitUsage, "ftp://a/"},
		{[]string{"export", "-o", dir, "--format", "xls"}, exitUsage, "xls"},
		{[]string{"export", "-o", dir, "--columns", "url,nonsense"}, exitUsage, "nonsense"},
		{[]string{"replay", "-o", dir, "77"}, exitUsage, `"77"`},
		{[]string{"pause", "-o", dir}, exitFailure, "no crawl runs"},
		{[]string{"nonsense"}, exitUsage, "nonsense"},
	} {
		r := whirlpool(t, tt.args...)
		if r.exit != tt.exit || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("%q: exit status %d, want %d, and %q in %q", tt.args, r.exit, tt.exit, tt.want, r.stderr)
		}
	}
	if entries, err := os.ReadDir(empty); err != nil || len(entries) > 0 {
		t.Errorf("commands on a wrong directory left %v in it, %v", entries, err)
	}
}

func TestHelpAndCompletion(t *testing.T) {
	help := must(t, "--help")
	for _, name := range []string{"completion", "status", "explain", "audit", "export", "replay", "pause", "resume",
		"stop"} {
		if !strings.Contains(help, "  "+name) {
			t.Errorf("%s is not in the help", name)
		}
		if name == "completion" {
			continue
		}
		if text := must(t, name, "--help"); !strings.Contains(text, "Examples:") || !strings.Contains(text, "--out") {
			t.Errorf("the help of %s lacks examples or flags:\n%s", name, text)
		}
	}
	if text := must(t, "completion", "bash"); !strings.Contains(text, "whirlpool") {
		t.Error("no completion for bash")
	}
	if text := must(t, "__complete", "export", "--format", ""); !strings.Contains(text, "parquet") {
		t.Errorf("completion of --format offers %q", text)
	}
}
