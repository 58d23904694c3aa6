package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/traps"
)

// reasons are all reasons that the domain names, read from its source, and those of the traps.
func reasons(t *testing.T) (list []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../crawl/outcome.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Names) == 1 && strings.HasPrefix(v.Names[0].Name, "Reason") &&
			len(v.Values) == 1 {
			if text, ok := v.Values[0].(*ast.BasicLit); ok {
				reason, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, reason)
			}
		}
		return true
	})
	if len(list) < 30 {
		t.Fatalf("only %d reasons were found: %q", len(list), list)
	}
	return append(list, traps.ReasonURLLength, traps.ReasonPathDepth, traps.ReasonRepeatedSegment, traps.ReasonCalendar,
		traps.ReasonListing)
}

// TestEveryReasonIsSaidInWords: a token of crawl.log is no explanation.
func TestEveryReasonIsSaidInWords(t *testing.T) {
	job := crawl.DefaultJob()
	job.Seeds, job.Exclude, job.Include, job.PagesPerLevel, job.PagesPerHost = []string{"http://a.test/"}, []string{"/x"},
		[]string{"/y"}, 3, 4
	for _, reason := range reasons(t) {
		if text := reasonText(&job, reason, "http://a.test/x"); text == reason || len(text) < 12 {
			t.Errorf("reason %q is explained as %q", reason, text)
		}
	}
}

// wishes are the outcomes by which a site says that it does not want a URL fetched. For no other does the answer say
// so.
func wishes(v crawl.Verdict, reason string, status int) bool {
	return v == crawl.VerdictBlocked &&
		(reason == crawl.ReasonRobots || reason == crawl.ReasonCrawlDelay || reason == crawl.ReasonStatus && status > 0)
}

// TestEveryVerdictIsToldAsWhatItIs asks for the answer to each verdict with each reason.
func TestEveryVerdictIsToldAsWhatItIs(t *testing.T) {
	job := crawl.DefaultJob()
	job.Seeds = []string{"http://a.test/"}
	for v := crawl.VerdictGone; v <= crawl.VerdictExcluded; v++ {
		for _, reason := range append(reasons(t), "") {
			for _, status := range []int{0, 403, 404, 503} {
				l := LedgerEntry{State: "done", Verdict: v.String(), Reason: reason, Status: status, Attempts: 4, Revision: 1}
				if reason != "" {
					l.Text = reasonText(&job, reason, "http://a.test/x")
				}
				e := &Explanation{Ledger: l, Epoch: 1, why: "no connection to 192.0.2.1:443: connection refused"}
				text := e.answer()
				name := v.String() + " [" + reason + "] " + strconv.Itoa(status)
				if !strings.HasSuffix(text, ".") || strings.Contains(text, "  ") || strings.HasPrefix(text, ":") ||
					strings.Contains(text, "%!") {
					t.Errorf("%s: %q", name, text)
				}
				if said := strings.Contains(text, "does not want it"); said != wishes(v, reason, status) && reason != "" {
					t.Errorf("%s: the site's wish is told: %v, want %v: %q", name, said, wishes(v, reason, status), text)
				}
				if reason == crawl.ReasonStatus && status > 0 && !strings.Contains(text, strconv.Itoa(status)) {
					t.Errorf("%s does not name the status: %q", name, text)
				}
			}
		}
	}
}

// TestAnswersOfOutcomes are the answers of what happens, word by word.
func TestAnswersOfOutcomes(t *testing.T) {
	job := crawl.DefaultJob()
	job.Seeds = []string{"http://a.test/"}
	for _, tt := range []struct {
		verdict  crawl.Verdict
		reason   string
		status   int
		attempts int
		want     string
	}{
		{crawl.VerdictGone, crawl.ReasonStatus, 404, 1, "It is gone: the server answered 404 Not Found."},
		{crawl.VerdictGone, crawl.ReasonNoSuchHost, 0, 1, "It cannot be reached: its host does not exist."},
		{crawl.VerdictBlocked, crawl.ReasonStatus, 403, 1,
			"The site does not want it fetched: the server answered 403 Forbidden."},
		{crawl.VerdictBlocked, crawl.ReasonRobots, 0, 1, "The site does not want it fetched: robots.txt forbids it."},
		{crawl.VerdictBlocked, crawl.ReasonRobotsDown, 0, 1,
			"It was not fetched: robots.txt could not be had, so nothing of its origin may be fetched (connection refused)."},
		{crawl.VerdictRefused, crawl.ReasonTLS, 0, 1,
			"It could not be fetched: the certificate or the TLS handshake failed."},
		{crawl.VerdictRefused, crawl.ReasonMediaType, 200, 1,
			"The crawler refused it: its media type is not among media_types."},
		{crawl.VerdictFailed, crawl.ReasonConnect, 0, 4, "It could not be fetched: no connection to its host, 4 times."},
		{crawl.VerdictFailed, crawl.ReasonTLS, 0, 4,
			"It could not be fetched: the certificate or the TLS handshake failed, 4 times."},
		{crawl.VerdictFailed, crawl.ReasonStatus, 503, 4,
			"It failed as often as the job retries: the server answered 503 Service Unavailable, 4 times."},
		{crawl.VerdictFailed, crawl.ReasonRedirectLoop, 302, 1, "It leads to no page: its redirects lead back to it."},
		{crawl.VerdictFailed, crawl.ReasonHostDown, 0, 1,
			"It could not be fetched: its host failed so often in a row that it was given up."},
		{crawl.VerdictExcluded, crawl.ReasonDepth, 0, 0, "It was left out: deeper than max_depth 20."},
	} {
		l := LedgerEntry{State: "done", Verdict: tt.verdict.String(), Reason: tt.reason, Status: tt.status,
			Attempts: tt.attempts, Revision: 1, Text: reasonText(&job, tt.reason, "http://a.test/x")}
		e := &Explanation{Ledger: l, Epoch: 1, why: "connection refused", Time: time.Now()}
		if got := e.answer(); got != tt.want {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
