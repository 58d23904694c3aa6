package fakeweb

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everything is a small web with all there is.
func everything() Config {
	c := Default()
	c.Hosts, c.Pages, c.PageBytes = 40, 2500, 6<<10
	c.Unavailable, c.Changing = 0.02, 0.05
	c.DeadHosts, c.NXHosts, c.SlowHosts, c.TrapHosts, c.RebindHosts = 2, 2, 3, 2, 1
	return c
}

func get(t testing.TB, w *Web, url string) Response {
	t.Helper()
	r, err := w.Get(nil, url, 0, 99)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryAnswerMatchesTheTruth(t *testing.T) {
	w := New(everything()).WithPort(8080)
	n := 0
	for p := range w.Pages {
		n++
		r := get(t, w, p.URL)
		if r.Status != p.Status {
			t.Fatalf("%s answers %d, truth says %d", p.URL, r.Status, p.Status)
		}
		if found, ok := w.Page(p.URL); !ok || found != p {
			t.Fatalf("Page(%s) = %+v, %v; Pages says %+v", p.URL, found, ok, p)
		}
		checkRedirect(t, w, p, r)
		checkCopy(t, w, p, r)
		checkDirectives(t, p, r)
	}
	if n != w.cfg.Pages {
		t.Errorf("%d pages, want %d", n, w.cfg.Pages)
	}
}

func checkRedirect(t *testing.T, w *Web, p Page, r Response) {
	t.Helper()
	if p.RedirectTo == "" {
		return
	}
	_, location, _ := strings.Cut(r.Header, "Location: ")
	location, _, _ = strings.Cut(location, "\r\n")
	if strings.HasPrefix(location, "/") {
		location = "http://" + p.Host + ":8080" + location
	}
	if location != p.RedirectTo {
		t.Fatalf("%s redirects to %s, truth says %s", p.URL, location, p.RedirectTo)
	}
	if _, ok := w.Page(location); !ok {
		t.Fatalf("%s redirects to %s, which does not exist", p.URL, location)
	}
}

func checkCopy(t *testing.T, w *Web, p Page, r Response) {
	t.Helper()
	switch {
	case p.DuplicateOf != "":
		if !bytes.Equal(r.Body, get(t, w, p.DuplicateOf).Body) {
			t.Fatalf("%s is not the bytes of %s", p.URL, p.DuplicateOf)
		}
	case p.NearDuplicateOf != "":
		other := get(t, w, p.NearDuplicateOf).Body
		if j := jaccard(shingles(r.Body), shingles(other)); j == 1 || j < 0.8 {
			t.Fatalf("%s has Jaccard similarity %.3f with %s, want under 1 and at least 0.8", p.URL, j, p.NearDuplicateOf)
		}
	}
}

func checkDirectives(t *testing.T, p Page, r Response) {
	t.Helper()
	said := func(word string) bool {
		header := strings.Contains(r.Header, "X-Robots-Tag: "+word)
		return header || bytes.Contains(bytes.ToLower(r.Body), []byte("content=\"index, "+word)) ||
			bytes.Contains(r.Body, []byte("name=\"robots\" content=\""+word))
	}
	if said("noindex") != p.NoIndex || said("nofollow") != p.NoFollow {
		t.Fatalf("%s: noindex %v, nofollow %v; truth says %v, %v", p.URL, said("noindex"), said("nofollow"), p.NoIndex,
			p.NoFollow)
	}
}

func TestSharesAreWhatWasAsked(t *testing.T) {
	c := Default()
	c.Hosts, c.Pages, c.PagesZipf = 50, 40_000, 1
	c.Unavailable, c.Changing = 0.02, 0.05
	count := map[string]int{}
	for p := range New(c).Pages {
		switch {
		case p.DuplicateOf != "":
			count["exact"]++
		case p.NearDuplicateOf != "":
			count["near"]++
		case p.RedirectTo != "":
			count["redirect"]++
		case p.Status == 404 || p.Status == 410:
			count["missing"]++
		case p.Refusals > 0:
			count["unavailable"]++
		case p.ChangeEvery > 0:
			count["changing"]++
		}
		if p.Disallowed {
			count["disallowed"]++
		}
		if p.NoIndex {
			count["noindex"]++
		}
		if p.NoFollow {
			count["nofollow"]++
		}
	}
	for name, want := range map[string]float64{
		"exact": c.ExactDuplicates, "near": c.NearDuplicates, "redirect": c.Redirects,
		"missing": c.Errors404, "unavailable": c.Unavailable, "changing": c.Changing,
	} {
		if got := float64(count[name]) / float64(c.Pages); math.Abs(got-want) > 0.15*want {
			t.Errorf("%s: %.4f of the pages, want %.4f", name, got, want)
		}
	}
	for _, name := range []string{"disallowed", "noindex", "nofollow"} {
		if count[name] == 0 {
			t.Errorf("no page is %s", name)
		}
	}
}

func TestPagesAreSpreadOverHosts(t *testing.T) {
	for _, c := range []struct {
		hosts, pages int
		x            float64
		first        int
	}{{1, 1, 0, 1}, {10, 10, 1, 1}, {4, 100, 0, 25}, {100, 100_000, 1, 19_000}, {3, 1_000_000_000, 0, 333_333_333}} {
		starts := spread(c.hosts, c.pages, c.x)
		if starts[c.hosts] != c.pages {
			t.Errorf("%+v: %d pages", c, starts[c.hosts])
		}
		for h := range c.hosts {
			if starts[h+1] <= starts[h] {
				t.Errorf("%+v: host %d has no page", c, h)
			}
		}
		if got := starts[1]; math.Abs(float64(got-c.first)) > 0.05*float64(c.first) {
			t.Errorf("%+v: the first host has %d pages", c, got)
		}
	}
}

func TestSameSeedSameWebOtherSeedOtherWeb(t *testing.T) {
	c := everything()
	a, b := New(c), New(c)
	c.Seed++
	other := New(c)
	same := 0
	for p := range a.Pages {
		r := get(t, a, p.URL)
		if !bytes.Equal(r.Body, get(t, b, p.URL).Body) {
			t.Fatalf("%s differs between two webs of one seed", p.URL)
		}
		if bytes.Equal(r.Body, get(t, other, p.URL).Body) && r.Status == 200 {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d pages are the same under another seed", same)
	}
}

// A change of the golden page is a change of every web: recorded figures and crawls no longer compare.
func TestGoldenPage(t *testing.T) {
	w := New(everything()).WithPort(8080)
	got := w.appendPage(nil, pageRef{7, 1}, edition{})
	file := filepath.Join("testdata", "page.html")
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the page differs from %s (rewrite it with -update)", file)
	}
}

func TestChangingPagesChangeWithTime(t *testing.T) {
	c := everything()
	w := New(c)
	n := 0
	for p := range w.Pages {
		at := func(d time.Duration) []byte {
			r, err := w.Get(nil, p.URL, d, 99)
			if err != nil {
				t.Fatal(err)
			}
			return r.Body
		}
		if p.ChangeEvery == 0 {
			if !bytes.Equal(at(0), at(1000*time.Hour)) {
				t.Fatalf("%s changed", p.URL)
			}
			continue
		}
		n++
		if !bytes.Equal(at(0), at(p.ChangeEvery-1)) || bytes.Equal(at(0), at(p.ChangeEvery)) {
			t.Fatalf("%s does not change just every %v", p.URL, p.ChangeEvery)
		}
		if p.ChangeEvery < c.ChangeEvery/4 || p.ChangeEvery > c.ChangeEvery*4 {
			t.Fatalf("%s changes every %v", p.URL, p.ChangeEvery)
		}
	}
	if n == 0 {
		t.Error("no page changes")
	}
}

func TestMemoryDoesNotGrowWithPages(t *testing.T) {
	w := New(Plain(100, 1_000_000_000))
	ref := w.page(999_999_999)
	if p, ok := w.Page(w.url(ref)); !ok || p.Status != 200 {
		t.Errorf("the last of 10^9 pages: %+v, %v", p, ok)
	}
	if allocs := testing.AllocsPerRun(50, func() { w.appendPage(make([]byte, 0, 1<<18), ref, edition{}) }); allocs > 2 {
		t.Errorf("%v allocations a page", allocs)
	}
}

func TestValidateRefuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no hosts":         func(c *Config) { c.Hosts = 0 },
		"too few pages":    func(c *Config) { c.Pages = c.Hosts - 1 },
		"share above 1":    func(c *Config) { c.CrossHost = 1.1 },
		"share NaN":        func(c *Config) { c.Redirects = math.NaN() },
		"shares together":  func(c *Config) { c.ExactDuplicates, c.Redirects = 0.4, 0.4 },
		"Zipf exponent":    func(c *Config) { c.PagesZipf = -1 },
		"negative hosts":   func(c *Config) { c.SlowHosts = -1 },
		"addresses":        func(c *Config) { c.Addresses = MaxAddresses + 1 },
		"negative delay":   func(c *Config) { c.Delay = -1 },
		"change period":    func(c *Config) { c.Changing, c.ChangeEvery = 0.1, 0 },
		"slow byte period": func(c *Config) { c.SlowHosts, c.SlowByte = 1, 0 },
	} {
		c := Default()
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for name, c := range map[string]Config{"Default": Default(), "Plain": Plain(1, 1), "everything": everything()} {
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHostNamesAreReadBack(t *testing.T) {
	c := everything()
	c.Hosts, c.Pages = 500_100, 500_100
	w := New(c)
	for _, h := range []hostRef{{ordinary, 0}, {ordinary, 1}, {ordinary, 2}, {ordinary, 3}, {ordinary, 4}, {ordinary, 5},
		{ordinary, 500_099}, {dead, 0}, {dead, 1}, {unknown, 1}, {slow, 2}, {trap, 0}, {rebind, 0}} {
		name := string(appendHost(nil, h))
		for _, spelling := range []string{name, name + ":80", strings.ToUpper(name), name + "."} {
			if got, ok := w.parseHost(spelling); !ok || got != h {
				t.Errorf("%s is %v (%v), want %v", spelling, got, ok, h)
			}
		}
	}
	for _, name := range []string{"", "test", "site-00000.test", "www.site-0.test", "www.site-000000.test",
		"blog.site-00000.test", "www.site--0001.test", "dead-00002.test", "www.site-00000.example", "www.site-999999.test",
		"www.site-99999999999999999999.test"} {
		if got, ok := w.parseHost(name); ok {
			t.Errorf("%q is taken for %v", name, got)
		}
	}
}
