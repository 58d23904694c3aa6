package report

import (
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
)

// The scope of a crawl whose seeds are in a list is that of the page that names a URL. What was not met yet is
// judged as if a page of its own host named it: other rules bind it all the same.
func TestWhatAListedCrawlDidNotMeet(t *testing.T) {
	other := mustURL(t, "http://other.test/")
	for name, tt := range map[string]struct {
		list, url, exclude string
		lines              []crawl.LogLine
		allowed            bool
		text               string
	}{
		"a list":           {"seeds.txt", "http://a.test/x", "", nil, true, `within scope "host" of the page that names it`},
		"a list, excluded": {"seeds.txt", "http://a.test/x", "/x", nil, false, "matches the exclude pattern"},
		"a list, left out": {"seeds.txt", "http://a.test/x", "", []crawl.LogLine{{Depth: 1, Referrer: other}}, false,
			`outside scope "host" of the page that names it`},
		"a list, its seed":  {"seeds.txt", "http://a.test/x", "", []crawl.LogLine{{Attempt: 1}}, true, "a seed"},
		"no list, in scope": {"", "http://seed.test/x", "", nil, true, `within scope "host" (seed.test)`},
		"no list, outside":  {"", "http://a.test/x", "", nil, false, `outside scope "host" (seed.test)`},
	} {
		job := crawl.DefaultJob()
		job.ID, job.Scope, job.SeedList = "test", crawl.ScopeHost, tt.list
		if tt.list == "" {
			job.Seeds = []string{"http://seed.test/"}
		}
		if tt.exclude != "" {
			job.Exclude = []string{tt.exclude}
		}
		rules, err := urlrules.Compile(&job)
		if err != nil {
			t.Fatal(err)
		}
		s := &story{job: &job}
		v := s.judge(rules, &Explanation{URL: mustURL(t, tt.url), Time: fakeNow, lines: tt.lines})
		if v.Allowed != tt.allowed || !strings.HasPrefix(v.Text, tt.text) {
			t.Errorf("%s: %+v, want %v, %q", name, v, tt.allowed, tt.text)
		}
	}
}

// The answer about a URL that was not met promises nothing of links that are not read.
func TestWhatWasNotMet(t *testing.T) {
	e := &Explanation{Ledger: LedgerEntry{State: crawl.StateUnknown.String()}, Rules: RulesVerdict{Allowed: true},
		Robots: RobotsVerdict{Allowed: true}, mostLinks: 500, URL: mustURL(t, "http://a.test/x")}
	want := "The crawl has not met it: it is no seed, and not among the first 500 links (links_per_page) of a page that " +
		"was read. It would be fetched."
	if got := e.answer(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// The record of a host that is asked without a delay is some requests behind: the attempts at the URL count, too.
func TestAHostWasContactedWhenItsURLWas(t *testing.T) {
	job := crawl.DefaultJob()
	e := &Explanation{URL: mustURL(t, "http://a.test/x")}
	e.sorted([]crawl.LogLine{{At: fakeNow, Verdict: crawl.VerdictDone, Status: 200, Attempt: 1},
		{At: fakeNow.Add(time.Minute), Verdict: crawl.VerdictFailed, Reason: "timeout", Attempt: 2}})
	if err := (&story{job: &job, hosts: fakeHosts{}}).explainHost(t.Context(), e); err != nil || !e.Host.Known ||
		!e.Host.LastContact.Equal(fakeNow) {
		t.Errorf("%+v, %v; want a contact at %v", e.Host, err, fakeNow)
	}
}
