package fetcher

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
)

func asRobots(f *crawl.Fetch) { f.Task.Kind = crawl.KindRobots }

func TestRobotsTxtIsKeptWithWhatItSays(t *testing.T) {
	const file = "User-agent: whirlpool\nDisallow: /no\nCrawl-delay: 2.5\nSitemap: https://a.test/map.xml\n"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, file) })
	b := newBench(t, nil)
	r := b.get(url+"/robots.txt", asRobots)
	r.want(t, crawl.VerdictDone, "")
	o := r.Robots
	if o == nil || o.Origin != url || o.CrawlDelay != 2500*time.Millisecond || len(o.Sitemaps) != 1 ||
		o.Sitemaps[0] != "https://a.test/map.xml" {
		t.Fatalf("robots outcome %+v", o)
	}
	rec := b.mem.rules(url)
	if string(rec.Body) != file || rec.State != crawl.RobotsRules || rec.Status != 200 || !rec.Expires.Equal(o.Expires) {
		t.Errorf("record %+v", rec)
	}
	if left := time.Until(rec.Expires); left < 5*time.Hour || left > 6*time.Hour {
		t.Errorf("good for %v, want 6 h", left)
	}
	if r.page != nil || b.mem.Len() != 0 {
		t.Error("robots.txt went the way of a page")
	}
}

// Rules are asked for again when the job says, at most a day later (RFC 9309, 2.4), and not before some pages were
// fetched under them.
func TestRobotsTxtIsGoodForAsLongAsTheJobSays(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\nCrawl-delay: 240\n") })
	const h = crawl.Duration(time.Hour)
	for _, tt := range []struct{ refresh, delay, want crawl.Duration }{
		{0, 0, 6 * h}, {3 * h, 0, 3 * h}, {24 * h, 0, 24 * h}, {h / 60, 0, h * 2 / 3}, {h, 10 * h, 24 * h},
	} {
		b := newBench(t, nil)
		b.job.Robots.Refresh, b.job.Politeness.Delay = tt.refresh, tt.delay
		r := b.get(url+"/robots.txt", asRobots)
		r.want(t, crawl.VerdictDone, "")
		if left := time.Until(r.Robots.Expires); left > tt.want.D() || left < tt.want.D()-time.Minute {
			t.Errorf("refresh %v, delay %v: good for %v, want %v", tt.refresh, tt.delay, left, tt.want)
		}
	}
}

// Rules that cannot be asked for again stand until they are a day old.
func TestRulesOutliveAServerThatIsDown(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	b := newBench(t, nil)
	b.job.Retry.Max = 0
	for _, tt := range []struct {
		age, good time.Duration
		state     crawl.RobotsState
	}{
		{7 * time.Hour, time.Hour, crawl.RobotsRules}, {23*time.Hour + 50*time.Minute, 10 * time.Minute, crawl.RobotsRules},
		{25 * time.Hour, time.Hour, crawl.RobotsDisallowAll},
	} {
		file := []byte("User-agent: *\nCrawl-delay: 2\n")
		b.mem.allow(crawl.Robots{Origin: url, Body: file, FetchedAt: time.Now().Add(-tt.age),
			Expires: time.Now().Add(-time.Hour)})
		r := b.get(url+"/robots.txt", asRobots)
		r.want(t, crawl.VerdictFailed, crawl.ReasonStatus)
		rec := b.mem.rules(url)
		left := time.Until(rec.Expires)
		if rec.State != tt.state || left > tt.good || left < tt.good-time.Minute || !rec.Expires.Equal(r.Robots.Expires) {
			t.Errorf("%v old: %+v, good for %v", tt.age, rec, left)
		}
		if kept := tt.state == crawl.RobotsRules; kept != (r.Robots.CrawlDelay == 2*time.Second) {
			t.Errorf("%v old: %+v", tt.age, r.Robots)
		}
	}
}

// The group that counts is that of the agent that is sent, or of the one that the job names.
func TestRobotsTxtIsReadForTheAgentThatIsSent(t *testing.T) {
	const file = "User-agent: mybot\nDisallow: /mybot\nCrawl-delay: 7\n\nUser-agent: *\nDisallow: /all\n\n" +
		"User-agent: whirlpool\nDisallow: /whirlpool\n\nUser-agent: slow\nCrawl-delay: 301\n"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, file)
		}
	})
	for _, tt := range []struct {
		userAgent, agent, denied string
		delay                    time.Duration
	}{
		{"", "", "/whirlpool", 0},
		{"MyBot/1.0 (+https://e.org)", "", "/mybot", 7 * time.Second},
		{"Mozilla/5.0 (compatible; MyBot/1.0)", "", "/mybot", 7 * time.Second},
		{"Mozilla/5.0 (X11)", "MyBot", "/mybot", 7 * time.Second},
		{"MyBot/1.0", "else", "/all", 0},
	} {
		b := newBench(t, nil)
		b.job.IgnoreRobots, b.job.UserAgent, b.job.Robots.Agent = false, tt.userAgent, tt.agent
		if r := b.get(url+"/robots.txt", asRobots); r.Robots.CrawlDelay != tt.delay {
			t.Errorf("%+v: robots.txt asks for %v", tt, r.Robots.CrawlDelay)
		}
		for _, path := range []string{"/whirlpool", "/mybot", "/all"} {
			want, reason := crawl.VerdictDone, ""
			if path == tt.denied {
				want, reason = crawl.VerdictBlocked, crawl.ReasonRobots
			}
			r := b.get(url+path, nil)
			if r.want(t, want, reason); r.CrawlDelay != tt.delay {
				t.Errorf("%+v: %s: Crawl-delay %v", tt, path, r.CrawlDelay)
			}
		}
	}
	b := newBench(t, nil)
	b.job.IgnoreRobots = false
	b.get(url+"/robots.txt", asRobots)
	b.job.UserAgent = "Slow/2" // another job, whose agent is asked for more than the job has
	r := b.get(url+"/x", nil)
	if r.want(t, crawl.VerdictBlocked, crawl.ReasonCrawlDelay); r.Contacted() || r.CrawlDelay != 0 {
		t.Errorf("%+v", r.Outcome)
	}
}

func TestRobotsTxtOfEachStatus(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		if status/100 == 3 && status != 304 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	})
	for _, tc := range []struct {
		status  int
		verdict crawl.Verdict
		reason  string
		state   crawl.RobotsState
		stored  bool
		slow    bool
	}{
		{status: 204, verdict: crawl.VerdictDone, state: crawl.RobotsRules, stored: true},
		{status: 400, verdict: crawl.VerdictDone, state: crawl.RobotsAllowAll, stored: true},
		{status: 401, verdict: crawl.VerdictDone, state: crawl.RobotsAllowAll, stored: true},
		{status: 403, verdict: crawl.VerdictDone, state: crawl.RobotsAllowAll, stored: true},
		{status: 404, verdict: crawl.VerdictDone, state: crawl.RobotsAllowAll, stored: true},
		{status: 408, verdict: crawl.VerdictDone, state: crawl.RobotsAllowAll, stored: true},
		{status: 304, verdict: crawl.VerdictRetry, reason: crawl.ReasonStatus},
		{status: 429, verdict: crawl.VerdictRetry, reason: crawl.ReasonStatus, slow: true},
		{status: 500, verdict: crawl.VerdictRetry, reason: crawl.ReasonStatus, slow: true},
		{status: 501, verdict: crawl.VerdictRetry, reason: crawl.ReasonStatus},
		{status: 503, verdict: crawl.VerdictRetry, reason: crawl.ReasonStatus, slow: true},
	} {
		t.Run(fmt.Sprint(tc.status), func(t *testing.T) {
			b := newBench(t, nil)
			r := b.get(fmt.Sprintf("%s/%d", url, tc.status), asRobots)
			r.want(t, tc.verdict, tc.reason)
			rec, stored, _ := b.mem.Robots(t.Context(), url)
			if stored != tc.stored || rec.State != tc.state || r.Slow != tc.slow || (r.Robots != nil) != tc.stored {
				t.Errorf("stored %v: %+v, slow %v, robots %+v", stored, rec, r.Slow, r.Robots)
			}
			if tc.verdict != crawl.VerdictRetry {
				return
			}
			r = b.get(fmt.Sprintf("%s/%d", url, tc.status),
				func(f *crawl.Fetch) { asRobots(f); f.Task.Attempt = b.job.Retry.Max })
			r.want(t, crawl.VerdictFailed, tc.reason)
			rec = b.mem.rules(url)
			if rec.State != crawl.RobotsDisallowAll || time.Until(rec.Expires) > time.Hour || r.Robots == nil {
				t.Errorf("after the last retry: %+v, %+v", rec, r.Robots)
			}
		})
	}
}

func TestRobotsRedirectKeepsItsOrigin(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.Header().Set("Location", "ftp://a.test/robots.txt")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		if r.URL.Path == "/mail" {
			http.Redirect(w, r, "http://mail.test:25/robots.txt", http.StatusFound)
			return
		}
		http.Redirect(w, r, "http://b.test/robots.txt", http.StatusMovedPermanently)
	})
	const origin = "https://first.test"
	with := func(redirects int) func(*crawl.Fetch) {
		return func(f *crawl.Fetch) { asRobots(f); f.Task.For, f.Task.Redirects = origin, redirects }
	}
	b := newBench(t, nil)
	r := b.get(url+"/robots.txt", with(4))
	r.want(t, crawl.VerdictDone, "")
	if o := r.Robots; o == nil || o.Origin != origin || o.Redirect.String() != "http://b.test/robots.txt" ||
		r.links != nil {
		t.Errorf("robots %+v, links %v", o, r.links)
	}
	if b.mem.rules(url).Origin+b.mem.rules(origin).Origin != "" {
		t.Error("a redirect was stored as rules")
	}
	for path, redirects := range map[string]int{"/robots.txt": 5, "/bad": 0, "/mail": 0} {
		b := newBench(t, nil)
		r := b.get(url+path, with(redirects))
		r.want(t, crawl.VerdictDone, "")
		if b.mem.rules(origin).State != crawl.RobotsAllowAll || !r.Robots.Redirect.IsZero() {
			t.Errorf("%s: %+v", path, b.mem.rules(origin))
		}
	}
}

func TestHugeRobotsTxtIsReadToItsLimit(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /first\n", strings.Repeat("#", 1<<20), "\nDisallow: /last\n")
	})
	b := newBench(t, nil)
	b.get(url+"/robots.txt", asRobots).want(t, crawl.VerdictDone, "")
	if n := len(b.mem.rules(url).Body); n != robots.MaxSize {
		t.Errorf("%d octets kept, want %d", n, robots.MaxSize)
	}
}

func TestPageIsCheckedAgainstRobotsTxt(t *testing.T) {
	var asked []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, "User-agent: *\nDisallow: /no?x\n")
		}
	})
	b := newBench(t, nil)
	b.job.IgnoreRobots = false
	r := b.get(url+"/yes", nil)
	r.want(t, crawl.VerdictRetry, crawl.ReasonRobots)
	if r.Contacted() || len(asked) != 0 {
		t.Fatal("the host was contacted before its robots.txt was known")
	}
	b.get(url+"/robots.txt", asRobots)
	b.get(url+"/yes", nil).want(t, crawl.VerdictDone, "")
	for _, kind := range []crawl.Kind{crawl.KindPage, crawl.KindSitemap} {
		r = b.get(url+"/no?x=1", func(f *crawl.Fetch) { f.Task.Kind = kind })
		r.want(t, crawl.VerdictBlocked, crawl.ReasonRobots)
		if r.Contacted() || !strings.Contains(r.Detail, "line 2") {
			t.Errorf("contacted %v, detail %q", r.Contacted(), r.Detail)
		}
	}
	b.job.IgnoreRobots = true
	b.get(url+"/no?x=1", nil).want(t, crawl.VerdictDone, "")
	if got := strings.Join(asked, " "); got != "/robots.txt /yes /no" {
		t.Errorf("asked for %s", got)
	}
}

// Where robots.txt could not be had because the host cannot, its pages should say so.
func TestUnavailableRobotsTxtGivesTheTrueReason(t *testing.T) {
	b := newBench(t, func(c *Config, d *Deps, j *crawl.Job) {
		c.AllowPrivate, j.IgnoreRobots = false, false
		d.DNS = names{"private.test": {loopback}, "down.test": nil}
	})
	for host, tc := range map[string]struct {
		robots, page       crawl.Verdict
		robotsWhy, pageWhy string
	}{
		"nowhere.test": {crawl.VerdictGone, crawl.VerdictGone, crawl.ReasonNoSuchHost, crawl.ReasonNoSuchHost},
		"private.test": {crawl.VerdictRefused, crawl.VerdictRefused, crawl.ReasonPrivateAddress, crawl.ReasonPrivateAddress},
		"127.0.0.1":    {crawl.VerdictRefused, crawl.VerdictRefused, crawl.ReasonPrivateAddress, crawl.ReasonPrivateAddress},
		"down.test":    {crawl.VerdictFailed, crawl.VerdictBlocked, crawl.ReasonDNS, crawl.ReasonRobotsDown},
	} {
		r := b.get("http://"+host+"/robots.txt", func(f *crawl.Fetch) { asRobots(f); f.Task.Attempt = b.job.Retry.Max })
		r.want(t, tc.robots, tc.robotsWhy)
		if r.Robots == nil || b.mem.rules("http://"+host).State != crawl.RobotsDisallowAll || r.Contacted() {
			t.Errorf("%s: robots %+v, contacted %v", host, r.Robots, r.Contacted())
		} else if rest := time.Until(r.Robots.Expires); rest > time.Hour ||
			(rest <= time.Minute) != (tc.robotsWhy == crawl.ReasonPrivateAddress) {
			t.Errorf("%s: rests for %v; what only our setting forbids may be asked for soon", host, rest)
		}
		r = b.get("http://"+host+"/page", nil)
		r.want(t, tc.page, tc.pageWhy)
		if r.Contacted() {
			t.Errorf("%s: contacted", host)
		}
	}
}

// What the server says that one job names for a host is no rule for a job that asks the host's own.
func TestRulesOfANamedServerAreThatJobsAlone(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /\nSitemap: /map.xml\n")
	})
	named, everybody := crawl.DefaultJob(), crawl.DefaultJob()
	named.ID, named.AllowPrivate, everybody.ID, everybody.AllowPrivate = "named", true, "everybody", true
	named.Network.Resolve = []string{strings.TrimPrefix(url, "http://") + ":127.0.0.1"}
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) {
		d.Jobs = crawl.StaticJobs{"named": &named, "everybody": &everybody}
	})
	r := b.get(url+"/robots.txt", func(f *crawl.Fetch) { asRobots(f); f.Task.Job, f.Task.For = "named", url+"#127.0.0.1" })
	r.want(t, crawl.VerdictDone, "")
	if want := url + "#127.0.0.1"; r.Robots == nil || r.Robots.Origin != want || r.Robots.Sitemaps[0] != "/map.xml" {
		t.Errorf("robots outcome %+v, want it to be of %s", r.Robots, want)
	}
	b.get(url+"/page", func(f *crawl.Fetch) { f.Task.Job = "everybody" }).want(t, crawl.VerdictRetry, crawl.ReasonRobots)
	b.get(url+"/page", func(f *crawl.Fetch) { f.Task.Job = "named" }).want(t, crawl.VerdictBlocked, crawl.ReasonRobots)
}

// That robots.txt could not be had by one way (IPv6, no proxy) says nothing to a job that goes another.
func TestRobotsTxtThatFailedByOneWayIsAskedForByAnother(t *testing.T) {
	url := "http://127.0.0.1:9" // nobody listens
	one, other := crawl.DefaultJob(), crawl.DefaultJob()
	one.ID, one.AllowPrivate, one.Retry.Max, one.Network.IP = "one", true, 0, "4"
	other.ID, other.AllowPrivate = "other", true
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Jobs = crawl.StaticJobs{"one": &one, "other": &other} })
	b.get(url+"/robots.txt", func(f *crawl.Fetch) { asRobots(f); f.Task.Job = "one" }).
		want(t, crawl.VerdictFailed, crawl.ReasonConnect)
	b.get(url+"/page", func(f *crawl.Fetch) { f.Task.Job = "one" }).want(t, crawl.VerdictBlocked, crawl.ReasonRobotsDown)
	b.get(url+"/page", func(f *crawl.Fetch) { f.Task.Job = "other" }).want(t, crawl.VerdictRetry, crawl.ReasonRobots)
}
