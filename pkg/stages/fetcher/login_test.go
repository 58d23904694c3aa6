package fetcher

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// members is a bench in front of a site for members.
type members struct {
	*bench
	site  *fakeweb.Members
	url   string
	store *memJars
}

func newMembers(t *testing.T, expire int, mod func(*crawl.Job)) *members {
	t.Helper()
	t.Setenv("LOGIN_PASSWORD", "p-secret")
	m := &members{site: fakeweb.NewMembers("ada", "p-secret", 10, expire), store: &memJars{}}
	srv := httptest.NewServer(m.site)
	t.Cleanup(srv.Close)
	m.url = srv.URL
	m.bench = newBench(t, func(_ *Config, d *Deps, j *crawl.Job) {
		d.Jars, d.OwnJars, j.Seeds, j.Politeness.Delay = m.store, true, []string{srv.URL}, crawl.Duration(10*time.Millisecond)
		j.Login = crawl.Login{URL: srv.URL + "/login",
			Fields: map[string]string{"name": "ada", "password": "${LOGIN_PASSWORD}"}, Check: crawl.LoginCheck{CSS: "a.logout"}}
		if mod != nil {
			mod(j)
		}
	})
	return m
}

// settle fetches a page until its outcome is final, as the frontier would, and returns how many leases that took.
func (m *members) settle(path string) (r result, leases int) {
	for leases = 1; leases < 10; leases++ {
		if r = m.get(m.url+path, func(f *crawl.Fetch) { f.Task.Lease = int64(leases) }); r.Verdict.Final() {
			return r, leases
		}
	}
	return r, leases
}

func TestLoggedInOnceAndAgainWhenTheSessionIsOver(t *testing.T) {
	m := newMembers(t, 2, nil)
	for i, want := range []int{2, 1, 3, 1, 3, 1} { // leases: a log-in takes one, finding out that it is needed another
		r, leases := m.settle(fmt.Sprintf("/members/%d", i))
		if r.Verdict != crawl.VerdictDone || r.page == nil || leases != want {
			t.Errorf("page %d: %v %s %s, page %v, %d leases, want %d", i, r.Verdict, r.Reason, r.Detail, r.page != nil, leases,
				want)
		}
	}
	if logins, refused, _ := m.site.Counts(); logins != 3 || refused != 0 {
		t.Errorf("%d log-ins, %d refused", logins, refused)
	}
	if m.mem.Len() != 6 {
		t.Errorf("%d bodies are kept, want those of 6 pages", m.mem.Len())
	}
}

// The requests of a log-in keep the distance that the host is given.
func TestLogInsAreNoHurry(t *testing.T) {
	const delay = 60 * time.Millisecond
	m := newMembers(t, 0, func(j *crawl.Job) {
		j.Politeness.Delay, j.Politeness.DownloadFactor = crawl.Duration(delay),
			0
	})
	if r := m.get(m.url+"/", nil); r.Verdict != crawl.VerdictInterrupted || r.Reason != crawl.ReasonLogin ||
		r.Ended.IsZero() {
		t.Errorf("%v %s", r.Verdict, r.Reason)
	}
	seen := m.site.Seen()
	for i := range seen[1:] {
		if gap := seen[i+1].At.Sub(seen[i].At); gap < delay {
			t.Errorf("%s %s came %v after the request before", seen[i+1].Method, seen[i+1].Path, gap)
		}
	}
	if len(seen) != 3 || seen[1].Method != http.MethodPost || seen[1].Header.Get("Referer") != m.url+"/login" {
		t.Errorf("%+v", seen)
	}
}

func TestLogInsThatDoNotComeAbout(t *testing.T) {
	for name, tc := range map[string]struct {
		mod   func(*crawl.Job)
		want  string
		posts int
	}{
		"wrong password": {func(j *crawl.Job) { t.Setenv("LOGIN_PASSWORD", "wrong-secret") }, "are the fields right?", 1},
		"no such field":  {func(j *crawl.Job) { j.Login.Fields["mail"] = "x" }, `no field "mail"`, 0},
		"no such form":   {func(j *crawl.Job) { j.Login.Form = "#nobody" }, "#nobody", 0},
		"GET":            {func(j *crawl.Job) { j.Login.Form = "form[action='/search']" }, "by GET", 0},
		"no such page":   {func(j *crawl.Job) { j.Login.URL += "/nowhere" }, "answered 404", 0},
		"wrong check":    {func(j *crawl.Job) { j.Login.Check = crawl.LoginCheck{Text: "Nobody says so"} }, "login.check", 1},
		"wrong page":     {func(j *crawl.Job) { j.Login.Check.URL = j.Seeds[0] + "/nowhere" }, "answered 404", 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMembers(t, 0, nil)
			tc.mod(&m.job)
			for range 3 { // the password is sent once, whatever the number of pages
				if r, _ := m.settle("/members/0"); r.Verdict != crawl.VerdictBlocked || r.Reason != crawl.ReasonLogin ||
					!strings.Contains(r.Detail, tc.want) || strings.Contains(r.Detail, "secret") {
					t.Fatalf("%v %s %q, want %q", r.Verdict, r.Reason, r.Detail, tc.want)
				}
			}
			posts := 0
			for _, r := range m.site.Seen() {
				if r.Method == http.MethodPost {
					posts++
				}
			}
			if posts != tc.posts {
				t.Errorf("the form was sent %d times, want %d", posts, tc.posts)
			}
			if text := fmt.Sprint(m.store.jars); strings.Contains(text, "p-secret") || strings.Contains(text, "wrong-secret") {
				t.Errorf("stored: %s", text)
			}
		})
	}
}

func TestRobotsBindLogIns(t *testing.T) {
	m := newMembers(t, 0, func(j *crawl.Job) { j.IgnoreRobots = false })
	m.mem.allow(crawl.Robots{Origin: m.url, Body: []byte("User-agent: *\nDisallow: /login"), FetchedAt: time.Now(),
		Expires: time.Now().Add(time.Hour)})
	if r, _ := m.settle("/members/0"); r.Verdict != crawl.VerdictBlocked || r.Reason != crawl.ReasonLogin ||
		!strings.Contains(r.Detail, "Disallow: /login") {
		t.Errorf("%v %s %s", r.Verdict, r.Reason, r.Detail)
	}
	if n := len(m.site.Seen()); n > 0 {
		t.Errorf("%d requests all the same", n)
	}
	m.job.Login.IgnoreRobots, m.job.Epoch = true, 2
	r := m.get(m.url+"/members/0", func(f *crawl.Fetch) { f.Task.Epoch = 2 })
	if r.Reason != crawl.ReasonLogin || r.Verdict != crawl.VerdictInterrupted {
		t.Errorf("where it is permitted: %v %s %s", r.Verdict, r.Reason, r.Detail)
	}
}

// What is filled in goes to no other host, whatever the form or a redirect says.
func TestPasswordsGoToTheirOwnHostOnly(t *testing.T) {
	thief := newMirror(t)
	for name, form := range map[string]string{
		"the form leads elsewhere": `<form method=post action="` + thief.URL +
			`/x"><input name=name><input type=password name=password></form>`,
		"base leads elsewhere": `<base href="` + thief.URL +
			`"><form method=post action="/x"><input name=name><input type=password name=password></form>`,
		"a redirect after it": `<form method=post action="/away"><input name=name><input type=password name=password></form>`,
		"a redirect with it":  `<form method=post action="/with"><input name=name><input type=password name=password></form>`,
	} {
		t.Run(name, func(t *testing.T) {
			own := newMirror(t)
			own.do = func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/away":
					http.Redirect(w, r, thief.URL+"/x", http.StatusFound)
				case "/with":
					http.Redirect(w, r, thief.URL+"/x", http.StatusTemporaryRedirect)
				default:
					fmt.Fprint(w, form)
				}
			}
			m := newMembers(t, 0, nil)
			m.url, m.job.Login.URL = own.URL, own.URL+"/login"
			if r, _ := m.settle("/"); r.Verdict != crawl.VerdictBlocked || r.Reason != crawl.ReasonLogin {
				t.Errorf("%v %s %s", r.Verdict, r.Reason, r.Detail)
			}
			if len(thief.seen) > 0 {
				t.Errorf("the other host was asked: %v", thief.seen)
			}
		})
	}
}

// A page that never shows the check costs one log-in more, and is left out.
func TestAPageWithoutTheCheck(t *testing.T) {
	m := newMembers(t, 0, func(j *crawl.Job) { j.Login.Check = crawl.LoginCheck{NotText: "no. 3"} })
	if r, _ := m.settle("/members/1"); r.Verdict != crawl.VerdictDone {
		t.Fatalf("%v %s", r.Verdict, r.Detail)
	}
	if r, leases := m.settle("/members/3"); r.Verdict != crawl.VerdictRefused || r.Reason != crawl.ReasonLoggedOut ||
		leases != 3 || r.page != nil {
		t.Errorf("%v %s after %d leases", r.Verdict, r.Reason, leases)
	}
	if logins, _, _ := m.site.Counts(); logins != 2 {
		t.Errorf("%d log-ins", logins)
	}
}

// The session is over each time that a page's turn comes, because others are fetched between the log-in and it. That is
// not the page's fault: it is fetched when it comes soon enough.
func TestAPageWhoseSessionIsAlwaysOverIsNotLeftOut(t *testing.T) {
	m := newMembers(t, 2, nil)
	m.settle("/members/1") // logged in
	m.settle("/members/2")
	for range 3 {
		if r := m.get(m.url+"/members/9", nil); r.Verdict != crawl.VerdictInterrupted || r.Reason != crawl.ReasonLogin {
			t.Fatalf("%v %s %s, want it interrupted", r.Verdict, r.Reason, r.Detail)
		}
		m.settle("/members/3") // a new session, and its two pages
		m.settle("/members/4")
	}
	m.get(m.url+"/members/9", nil)
	if r, _ := m.settle("/members/9"); r.Verdict != crawl.VerdictDone || r.page == nil {
		t.Errorf("%v %s %s", r.Verdict, r.Reason, r.Detail)
	}
}

// A sitemap waits for the log-in, and need not show the check.
func TestSitemapsShowNoCheck(t *testing.T) {
	m := newMembers(t, 0, func(j *crawl.Job) { j.Login.Check = crawl.LoginCheck{NotText: "no. 3"} })
	m.get(m.url+"/members/1", nil)
	r := m.get(m.url+"/members/3", func(f *crawl.Fetch) { f.Task.Kind = crawl.KindSitemap })
	if logins, _, _ := m.site.Counts(); logins != 1 || r.Reason == crawl.ReasonLogin || r.Reason == crawl.ReasonLoggedOut {
		t.Errorf("%v %s, %d log-ins", r.Verdict, r.Reason, logins)
	}
}

// Two fetchers of a cluster: one logs in, the other waits for it; a killed one holds nobody up for long.
func TestOneFetcherLogsIn(t *testing.T) {
	a := newMembers(t, 0, nil)
	b := newBench(t, func(_ *Config, d *Deps, j *crawl.Job) { *j, d.Jars = a.job, a.store })
	a.h.jars.own = false
	done := make(chan result, 2)
	for _, who := range []*bench{a.bench, b} {
		go func() { done <- who.get(a.url+"/members/0", nil) }()
	}
	for range 2 {
		if r := <-done; r.Verdict != crawl.VerdictInterrupted || r.Reason != crawl.ReasonLogin {
			t.Errorf("%v %s %s", r.Verdict, r.Reason, r.Detail)
		}
	}
	if logins, _, _ := a.site.Counts(); logins != 1 {
		t.Errorf("%d log-ins", logins)
	}
	state := crawl.LoginState{Holder: "killed", Until: time.Now().Add(time.Minute)}
	if !b.h.logins.heldByOther(&state) {
		t.Error("it is not waited for another")
	}
	if state.Until = time.Now().Add(-time.Second); b.h.logins.heldByOther(&state) {
		t.Error("a killed one is waited for")
	}
	if b.h.jars.own, state.Until = true, time.Now().Add(time.Minute); b.h.logins.heldByOther(&state) {
		t.Error("in a directory there is nobody else")
	}
}
