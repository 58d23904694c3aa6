package urlfilter_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func aJob() *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.Seeds = "j", []string{"http://www.site.test/docs/start.html"}
	return &j
}

// knownRobots says what robots.txt files say; an origin that is not listed is not known.
type knownRobots map[string]bool

func (k knownRobots) Allowed(_ context.Context, _ *crawl.Job, u weburl.URL) (allowed, known bool, err error) {
	if u.Path() == "/error" {
		return false, false, errors.New("no store")
	}
	allowed, known = k[u.Origin()]
	return allowed || !strings.HasPrefix(u.Path(), "/private"), known, nil
}

func parsed(t *testing.T, raw string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// handle filters links of a page at depth 2 of the job.
func handle(t *testing.T, j *crawl.Job, robots urlfilter.Robots, links ...crawl.Link) *crawl.Filtered {
	t.Helper()
	in := &crawl.Links{Task: crawl.Task{Job: j.ID, URL: parsed(t, "http://www.site.test/docs/start.html"), Depth: 2,
		Redirects: 1, Priority: 3}, Links: links}
	events, err := urlfilter.New(crawl.StaticJobs{j.ID: j}, robots).Handle(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if len(events) == 0 {
		return &crawl.Filtered{}
	}
	s := events[0].(*crawl.Filtered)
	if len(events) != 1 || s.Job != j.ID {
		t.Fatalf("%d events, job %q", len(events), s.Job)
	}
	for _, task := range s.Tasks {
		if task.Job != j.ID || task.Referrer != in.Task.URL {
			t.Errorf("task of job %q with referrer %s", task.Job, task.Referrer)
		}
	}
	return s
}

// reason is why a link is left out; "" when it is a candidate.
func reason(t *testing.T, j *crawl.Job, robots urlfilter.Robots, l crawl.Link) string {
	t.Helper()
	s := handle(t, j, robots, l)
	switch {
	case len(s.Tasks) == 1 && len(s.Exclusions) == 0:
		return ""
	case len(s.Tasks) == 0 && len(s.Exclusions) == 1:
		if x := s.Exclusions[0]; x.Referrer.IsZero() || x.URL.IsZero() || x.Depth == 0 && l.Tag != crawl.TagRedirect {
			t.Errorf("exclusion %+v says too little", x)
		}
		return s.Exclusions[0].Reason
	}
	t.Fatalf("a link became %+v", s)
	return ""
}

func TestScope(t *testing.T) {
	urls := []string{"http://www.site.test/docs/a", "https://www.site.test/docs/a", "http://www.site.test/other",
		"http://sub.site.test/docs/a", "http://site.test/", "http://www.site.test:8080/docs/a", "http://othersite.test/",
		"http://www.site.test.evil.test/docs/a", "http://www.site.test/docs-not/a"}
	for scope, inside := range map[crawl.Scope]string{ // one letter a URL
		crawl.ScopeAny:    "yyyyyyyyy",
		crawl.ScopeDomain: "yyyyyynny",
		crawl.ScopeHost:   "yyynnnnny",
		crawl.ScopePrefix: "yynnnnnnn",
	} {
		for i, raw := range urls {
			t.Run(fmt.Sprint(scope, " ", raw), func(t *testing.T) {
				j := aJob()
				j.Scope = scope
				want := ""
				if inside[i] == 'n' {
					want = crawl.ReasonScope
				}
				if got := reason(t, j, nil, crawl.Link{URL: parsed(t, raw)}); got != want {
					t.Errorf("reason %q, want %q", got, want)
				}
			})
		}
	}
}

func TestReasons(t *testing.T) {
	list := filepath.Join(t.TempDir(), "blacklist")
	if err := os.WriteFile(list, []byte("# hosts\nbad.site.test\n\nhttp://www.site.test/black/ # a part\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	robots := knownRobots{"http://www.site.test": false}
	for _, tc := range []struct {
		name, url, want string
		link            crawl.Link
		set             func(*crawl.Job)
	}{
		{name: "plain", url: "/a"},
		{name: "nofollow", url: "/a", link: crawl.Link{Rel: "external NoFollow"}, want: crawl.ReasonNoFollow},
		{name: "nofollow ignored", url: "/a", link: crawl.Link{Rel: "nofollow"},
			set: func(j *crawl.Job) { j.IgnoreMeta = true }},
		{name: "exclude", url: "/x.pdf", set: func(j *crawl.Job) { j.Exclude = []string{`\.pdf$`} },
			want: crawl.ReasonExclude},
		{name: "exclude wins over include", url: "/x.pdf", want: crawl.ReasonExclude,
			set: func(j *crawl.Job) { j.Exclude, j.Include = []string{`\.pdf$`}, []string{`x`} }},
		{name: "include", url: "/docs/b", set: func(j *crawl.Job) { j.Include = []string{`/docs/`, `/faq/`} }},
		{name: "not included", url: "/b", set: func(j *crawl.Job) { j.Include = []string{`/docs/`} },
			want: crawl.ReasonInclude},
		{name: "blacklisted host", url: "http://bad.site.test/", want: crawl.ReasonBlacklist},
		{name: "blacklisted subdomain", url: "http://very.bad.site.test/", want: crawl.ReasonBlacklist},
		{name: "like a blacklisted host", url: "http://notbad.site.test/"},
		{name: "blacklisted part", url: "/black/a", want: crawl.ReasonBlacklist},
		{name: "blacklist before scope", url: "http://bad.site.test/", want: crawl.ReasonBlacklist,
			set: func(j *crawl.Job) { j.Scope = crawl.ScopeHost }},
		{name: "as deep as allowed", url: "/a", set: func(j *crawl.Job) { j.MaxDepth = 3 }},
		{name: "too deep", url: "/a", set: func(j *crawl.Job) { j.MaxDepth = 2 }, want: crawl.ReasonDepth},
		{name: "no bound of depth", url: "/a", set: func(j *crawl.Job) { j.MaxDepth = -1 }},
		{name: "redirect is no hop", url: "/a", link: crawl.Link{Tag: crawl.TagRedirect},
			set: func(j *crawl.Job) { j.MaxDepth = 2 }},
		{name: "sitemap elsewhere", url: "http://cdn.test/sitemap.xml", link: crawl.Link{Tag: crawl.TagSitemapIndex},
			want: crawl.ReasonScope},
		{name: "sitemap on a blacklisted host", url: "http://bad.site.test/sitemap.xml", want: crawl.ReasonBlacklist,
			link: crawl.Link{Tag: crawl.TagSitemapIndex}},
		{name: "page of a sitemap elsewhere", url: "http://cdn.test/a", link: crawl.Link{Tag: "sitemap"},
			want: crawl.ReasonScope},
		{name: "port of mail", url: "http://www.site.test:25/", want: crawl.ReasonPort},
		{name: "port of IRC, by a redirect", url: "http://irc.site.test:6667/", want: crawl.ReasonPort,
			link: crawl.Link{Tag: crawl.TagRedirect}},
		{name: "sitemap at a port of mail", url: "http://www.site.test:587/s.xml", want: crawl.ReasonPort,
			link: crawl.Link{Tag: crawl.TagSitemapIndex}},
		{name: "port of mail that a seed has", url: "http://www.site.test:25/a",
			set: func(j *crawl.Job) { j.Seeds = append(j.Seeds, "http://www.site.test:25/") }},
		{name: "unusual port", url: "http://www.site.test:8081/a"},
		{name: "trap", url: "/a/a/a/a/a", want: "trap-repeated-segment"},
		{name: "robots known", url: "/private/a", want: crawl.ReasonRobots},
		{name: "robots not known", url: "https://www.site.test/private/a"},
		{name: "robots ignored", url: "/private/a", set: func(j *crawl.Job) { j.IgnoreRobots = true }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := aJob()
			j.Blacklist = list
			if tc.set != nil {
				tc.set(j)
			}
			var err error
			if tc.link.URL, err = parsed(t, "http://www.site.test/").Resolve(tc.url); err != nil {
				t.Fatal(err)
			}
			if got := reason(t, j, robots, tc.link); got != tc.want {
				t.Errorf("reason %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhatALinkBecomes(t *testing.T) {
	for _, tc := range []struct {
		name       string
		link       crawl.Link
		kind       crawl.Kind
		depth, red int
		priority   int
	}{
		{"link", crawl.Link{}, crawl.KindPage, 3, 0, crawl.DefaultPriority},
		{"redirect", crawl.Link{Tag: crawl.TagRedirect, Weight: 9}, crawl.KindPage, 2, 2, 3},
		{"sitemap", crawl.Link{Tag: crawl.TagSitemapIndex}, crawl.KindSitemap, 2, 0, crawl.MaxPriority - 1},
		{"weight 1", crawl.Link{Weight: 1}, crawl.KindPage, 3, 0, crawl.MinPriority},
		{"weight 5", crawl.Link{Weight: 5}, crawl.KindPage, 3, 0, 3},
		{"weight 9", crawl.Link{Weight: 9}, crawl.KindPage, 3, 0, crawl.MaxPriority},
		{"weight 99", crawl.Link{Weight: 99}, crawl.KindPage, 3, 0, crawl.MaxPriority},
	} {
		tc.link.URL = parsed(t, "http://www.site.test/a?utm_source=x#part")
		s := handle(t, aJob(), nil, tc.link)
		if len(s.Tasks) != 1 {
			t.Fatalf("%s: %+v", tc.name, s)
		}
		got := s.Tasks[0]
		if got.Kind != tc.kind || got.Depth != tc.depth || got.Redirects != tc.red || got.Priority != tc.priority {
			t.Errorf("%s became %+v", tc.name, got)
		}
		if got.URL.String() != "http://www.site.test/a" {
			t.Errorf("%s: %s is not canonical", tc.name, got.URL)
		}
	}
}

func TestEachCanonicalURLCountsOnce(t *testing.T) {
	s := handle(t, aJob(), nil, crawl.Link{URL: parsed(t, "http://www.site.test/a#1")},
		crawl.Link{URL: parsed(t, "http://www.site.test/a#2")},
		crawl.Link{URL: parsed(t, "http://www.site.test/docs/start.html#top")}, crawl.Link{Raw: "mailto:x@y.test"},
		crawl.Link{URL: parsed(t, "http://x.test/1")}, crawl.Link{URL: parsed(t, "http://x.test/1")})
	if len(s.Tasks) != 1 || len(s.Exclusions) != 1 || len(s.Foreign) != 1 {
		t.Errorf("%d candidates, %d exclusions and %d links of other schemes, want one of each", len(s.Tasks),
			len(s.Exclusions), len(s.Foreign))
	}
}

func TestLinksOfOtherSchemesAreExcluded(t *testing.T) {
	for raw, want := range map[string]string{"mailto:x@y.test": "mailto:x@y.test",
		" JavaScript:void(0)": "javascript:void(0)", "tel:+49 1": "tel:+49 1", "ftp://h.test/a/../b": "ftp://h.test/b",
		"data:text/html,x": "data:text/html,x", "about:blank": "about:blank", "http://[bad": "", "a/b": "", "": "",
		"http://h.test:99999/": ""} {
		s := handle(t, aJob(), nil, crawl.Link{Raw: raw}, crawl.Link{Raw: raw})
		if want == "" {
			if s.Job != "" {
				t.Errorf("%q: got %+v", raw, s)
			}
			continue
		}
		if len(s.Foreign) != 1 || len(s.Exclusions) != 0 {
			t.Errorf("%q: got %+v", raw, s)
		} else if x := s.Foreign[0]; x.URL.String() != want || x.Reason != crawl.ReasonScheme || x.Depth != 3 ||
			x.Referrer.IsZero() {
			t.Errorf("%q: got %+v", raw, x)
		}
	}
}

func TestNothingToDoSendsNothing(t *testing.T) {
	if s := handle(t, aJob(), nil, crawl.Link{Raw: "http://[bad"}); s.Job != "" {
		t.Errorf("got %+v", s)
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	broken := aJob()
	broken.Include = []string{"("}
	missing := aJob()
	missing.Blacklist = filepath.Join(t.TempDir(), "none")
	link := crawl.Link{URL: parsed(t, "http://www.site.test/error")}
	for name, tc := range map[string]struct {
		job       *crawl.Job
		permanent bool
		says      string
	}{
		"a pattern that is none":               {broken, true, `"("`},
		"a blacklist that is missing":          {missing, true, "none"},
		"robots.txt files that cannot be read": {aJob(), false, link.URL.String()},
	} {
		t.Run(name, func(t *testing.T) {
			in := &crawl.Links{Task: crawl.Task{Job: "j", URL: parsed(t, "http://www.site.test/")}, Links: []crawl.Link{link}}
			_, err := urlfilter.New(crawl.StaticJobs{"j": tc.job}, knownRobots{}).Handle(context.Background(), in)
			if err == nil || crawl.IsPermanent(err) != tc.permanent || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v, want one that is permanent (%v) and names %s", err, tc.permanent, tc.says)
			}
		})
	}
}

func TestAJobThatIsSubmittedAgainIsFilteredByItsNewRules(t *testing.T) {
	j := aJob()
	jobs := crawl.StaticJobs{j.ID: j}
	h := urlfilter.New(jobs, nil)
	in := &crawl.Links{Task: crawl.Task{Job: j.ID, URL: parsed(t, "http://www.site.test/")},
		Links: []crawl.Link{{URL: parsed(t, "http://www.site.test/a")}}}
	left := func() int {
		t.Helper()
		events, err := h.Handle(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		return len(events[0].(*crawl.Filtered).Exclusions)
	}
	if n := left(); n != 0 {
		t.Fatalf("%d links left out at first", n)
	}
	again := *j
	jobs[j.ID] = &again // the same settings, read again
	if n := left(); n != 0 {
		t.Errorf("%d links left out by the same settings", n)
	}
	stricter := again
	stricter.Exclude = []string{"/a$"}
	jobs[j.ID] = &stricter
	if n := left(); n != 1 {
		t.Errorf("%d links left out by the new settings, want 1", n)
	}
}

// A link beyond links_per_page is left out with the number of such links; what the rules say of it comes first.
func TestLinksBeyondTheLimit(t *testing.T) {
	j := aJob()
	s := handle(t, j, nil, crawl.Link{URL: parsed(t, "http://www.site.test/docs/a")},
		crawl.Link{URL: parsed(t, "http://www.site.test/docs/a"), Beyond: 3},
		crawl.Link{URL: parsed(t, "http://www.site.test/docs/b"), Beyond: 3},
		crawl.Link{URL: parsed(t, "http://elsewhere.test/"), Beyond: 3})
	if len(s.Tasks) != 1 || len(s.Exclusions) != 2 {
		t.Fatalf("%d tasks, %d exclusions", len(s.Tasks), len(s.Exclusions))
	}
	if x := s.Exclusions[0]; x.Reason != crawl.ReasonLinksPerPage ||
		x.Rule != "links_per_page 6000; the page has 3 links more" {
		t.Errorf("%q by %q", x.Reason, x.Rule)
	}
	if x := s.Exclusions[1]; x.Reason != crawl.ReasonScope {
		t.Errorf("%q by %q", x.Reason, x.Rule)
	}
	for limit, want := range map[int]bool{6_000: false, 5_000: false, 7_000: true} {
		then, now := aJob(), aJob()
		then.Epoch, now.Epoch, now.Limits.LinksPerPage = 1, 2, limit
		left := s.Exclusions[0].LeftOut(j.ID)
		jobs := crawl.StaticJobs{j.ID: then}
		_, in, err := urlfilter.NewJudge(jobs).LetIn(context.Background(), jobs, now, &left)
		if in != want || err != nil {
			t.Errorf("links_per_page %d lets it in: %v, %v", limit, in, err)
		}
	}
}
