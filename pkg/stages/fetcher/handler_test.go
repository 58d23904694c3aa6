package fetcher

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
)

func TestPageIsSpooledHashedAndReported(t *testing.T) {
	const text = "<!doctype html><title>x</title>"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "Text/HTML; charset=utf-8")
		w.Header().Add("Link", `</c>; rel="canonical"`)
		w.Header().Add("X-Robots-Tag", "noarchive")
		fmt.Fprint(w, text)
	})
	r := newBench(t, nil).get(url+"/p?q=1", nil)
	r.want(t, crawl.VerdictDone, "")
	want := crawl.Digest(sha256.Sum256([]byte(text)))
	if r.page == nil || string(r.body) != text || r.page.Digest != want || r.Digest != want ||
		r.page.Bytes != int64(len(text)) {
		t.Fatalf("page %+v, body %q", r.page, r.body)
	}
	if r.page.ContentType != "Text/HTML; charset=utf-8" || r.ContentType != "text/html" || r.page.Truncated != "" {
		t.Errorf("page %q, outcome %q, truncated %q", r.page.ContentType, r.ContentType, r.page.Truncated)
	}
	if len(r.page.LinkHeaders) != 1 || len(r.page.RobotsTags) != 1 {
		t.Errorf("link headers %q, robots tags %q", r.page.LinkHeaders, r.page.RobotsTags)
	}
	if !r.Contacted() || r.Addr != loopback || r.FirstByte <= 0 || r.Status != 200 || r.Bytes != int64(len(text)) {
		t.Errorf("outcome %+v", r.Outcome)
	}
	if r.page.FetchedAt != r.Started {
		t.Errorf("fetched at %v, started %v", r.page.FetchedAt, r.Started)
	}
}

func TestVerdictOfEachStatus(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		if status != 204 && status != 304 {
			fmt.Fprint(w, "body")
		}
	})
	b := newBench(t, nil)
	for _, tc := range []struct {
		statuses []int
		verdict  crawl.Verdict
		reason   string
		slow     bool
	}{
		{[]int{200, 201, 203}, crawl.VerdictDone, "", false},
		{[]int{204, 205}, crawl.VerdictDone, "", false},
		{[]int{300, 301, 302, 303, 307, 308, 399}, crawl.VerdictRefused, crawl.ReasonRedirectTarget, false},
		{[]int{304}, crawl.VerdictGone, crawl.ReasonStatus, false},
		{[]int{429, 500, 503}, crawl.VerdictRetry, crawl.ReasonStatus, true},
		{[]int{408, 421, 425, 502, 504, 520, 522, 524, 529, 599, 600, 999}, crawl.VerdictRetry, crawl.ReasonStatus, false},
		{[]int{400, 404, 410, 418, 501, 505, 511}, crawl.VerdictGone, crawl.ReasonStatus, false},
		{[]int{401, 403, 407, 451}, crawl.VerdictBlocked, crawl.ReasonStatus, false},
	} {
		for _, status := range tc.statuses {
			t.Run(fmt.Sprint(status), func(t *testing.T) {
				r := b.get(fmt.Sprintf("%s/%d", url, status), nil)
				r.want(t, tc.verdict, tc.reason)
				if r.Status != status || r.Slow != tc.slow || !r.Contacted() {
					t.Errorf("status %d, slow %v, contacted %v", r.Status, r.Slow, r.Contacted())
				}
				if isPage := status >= 200 && status < 204; (r.page != nil) != isPage {
					t.Errorf("page %v, want one: %v", r.page, isPage)
				}
			})
		}
	}
}

func TestConditionalRequestAndUnchangedPage(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` && r.Header.Get("If-Modified-Since") == "Mon, 02 Jan 2006 15:04:05 GMT" {
			w.WriteHeader(http.StatusNotModified)
		}
	})
	b := newBench(t, nil)
	r := b.get(url, func(f *crawl.Fetch) { f.Task.ETag, f.Task.LastModified = `"v1"`, "Mon, 02 Jan 2006 15:04:05 GMT" })
	r.want(t, crawl.VerdictDone, "")
	if r.Status != 304 || r.page != nil {
		t.Errorf("status %d, page %v", r.Status, r.page)
	}
	b.get(url, func(f *crawl.Fetch) { f.Task.ETag = "a\r\nX-Evil: 1" }).want(t, crawl.VerdictDone, "")
}

func TestRequestSaysWhoAsks(t *testing.T) {
	var got http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	b := newBench(t, func(_ *Config, _ *Deps, j *crawl.Job) { j.Contact = "crawl@example.org" })
	b.get(url, nil)
	for name, want := range map[string]string{
		"User-Agent": "Whirlpool/" + crawl.Version + " (+crawl@example.org)", "From": "crawl@example.org",
		"Accept-Encoding": "gzip, br, zstd, deflate", "Accept-Language": "", "Cookie": "", "Referer": "",
	} {
		if got.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Get(name), want)
		}
	}
	b.job.Contact = "https://example.org/bot"
	b.get(url, nil)
	if got.Get("From") != "" {
		t.Errorf("From: %q for a contact that is a URL", got.Get("From"))
	}
}

func TestRequestTargetIsTheURLsOwnText(t *testing.T) {
	var got string
	url := raw(t, func(c net.Conn, req string) {
		got, _, _ = strings.Cut(req, "\r\n")
		fmt.Fprint(c, "HTTP/1.1 204 No Content\r\n\r\n")
	})
	b := newBench(t, nil)
	for _, target := range []string{"/", "/a%zz", "/a|b", "/%E3%83%84?x=%20&y=a|b", "//x/y?z", "/a?", "/a;b=c/..x",
		"/'%2F'"} {
		b.get(url+target, nil).want(t, crawl.VerdictDone, "")
		if want := "GET " + target + " HTTP/1.1"; got != want {
			t.Errorf("request line %q, want %q", got, want)
		}
	}
}

// Bytes of a Location that are not UTF-8 are kept, as browsers do.
func TestLocationOfOtherEncoding(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{"/caf\xe9?q=\xff"}
		w.WriteHeader(http.StatusFound)
	})
	if r := newBench(t, nil).get(url+"/r", nil); r.Location.String() != url+"/caf%E9?q=%FF" {
		t.Errorf("location %v", r.Location)
	}
}

func TestRedirectIsALinkAndNotFollowed(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		w.Header()["Location"] = []string{r.URL.Query().Get("to")}
		w.WriteHeader(http.StatusMovedPermanently)
	})
	b := newBench(t, nil)
	for _, tc := range []struct{ to, want string }{
		{"/next", url + "/next"}, {"//other.test/x", "http://other.test/x"}, {"https://other.test", "https://other.test/"},
		{"../ü", url + "/%C3%BC"}, {"http://0x7f.1/", "http://127.0.0.1/"},
	} {
		r := b.get(url+"/r?to="+queryEscape(tc.to), nil)
		r.want(t, crawl.VerdictDone, "")
		if r.Location.String() != tc.want || r.links == nil || len(r.links.Links) != 1 ||
			r.links.Links[0].URL != r.Location || r.links.Links[0].Tag != "redirect" || r.page != nil {
			t.Errorf("%s: location %v, links %+v", tc.to, r.Location, r.links)
		}
	}
	for _, p := range asked {
		if p != "/r" {
			t.Errorf("%s was asked for", p)
		}
	}
}

func queryEscape(s string) string {
	return strings.NewReplacer("&", "%26", "#", "%23", " ", "%20").Replace(s)
}

func TestRedirectThatLeadsNowhereIsRefused(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header()["Location"] = []string{to}
		}
		w.WriteHeader(http.StatusFound)
	})
	b := newBench(t, nil)
	for _, to := range []string{"", "file:///etc/passwd", "javascript:alert(1)", "mailto:a@b", "http://",
		"http://a:99999/", "gopher://x"} {
		r := b.get(url+"/?to="+queryEscape(to), nil)
		r.want(t, crawl.VerdictRefused, crawl.ReasonRedirectTarget)
		if r.links != nil || !strings.Contains(r.Detail, to) {
			t.Errorf("%q: links %v, detail %q", to, r.links, r.Detail)
		}
	}
	r := b.get(url+"/?to=/x", func(f *crawl.Fetch) { f.Task.Redirects = b.job.Limits.Redirects })
	r.want(t, crawl.VerdictRefused, crawl.ReasonRedirects)
	if r.links != nil {
		t.Error("a redirect too many became a link")
	}
	b.get(url+"/?to=/x", func(f *crawl.Fetch) { f.Task.Redirects = b.job.Limits.Redirects - 1 }).want(t, crawl.VerdictDone,
		"")
}

func TestRepeatedLeaseMakesNoRequest(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was made") })
	b := newBench(t, nil)
	u := parse(t, url)
	ctx := pipeline.WithDelivery(t.Context(), pipeline.Delivery{Repeat: true})
	events, err := b.h.Handle(ctx, &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u}})
	if err != nil || len(events) != 1 {
		t.Fatalf("events %v, %v", events, err)
	}
	r := b.read(events)
	r.want(t, crawl.VerdictInterrupted, crawl.ReasonInterrupted)
	if time.Since(r.Ended) > time.Minute {
		t.Error("the host's politeness clock would not move, though the request may just have been made")
	}
}

// waited is a context that tells when somebody waits for something else or its end.
type waited struct {
	context.Context
	once  sync.Once
	waits chan struct{}
}

func (w *waited) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waits) })
	return w.Context.Done()
}

// A copy of a lease whose request is under way must not say that it is over: its host would be asked again meanwhile.
func TestRepeatedLeaseWaitsForItsRequest(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		fmt.Fprint(w, "text")
	})
	b := newBench(t, nil)
	u := parse(t, url)
	var ended atomic.Bool
	first, second := make(chan []crawl.Event, 1), make(chan []crawl.Event, 1)
	handle := func(ctx context.Context, number int64) []crawl.Event {
		events, err := b.h.Handle(ctx, &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u, Lease: number}})
		if err != nil {
			t.Error(err)
		}
		return events
	}
	go func() { first <- handle(t.Context(), 7) }()
	<-asked
	copied := &waited{Context: t.Context(), waits: make(chan struct{})}
	go func() {
		second <- handle(copied, 7) // unmarked, as the publisher may not know
		if !ended.Load() {
			t.Error("the copy of a lease ended before its request")
		}
	}()
	b.read(handle(pipeline.WithDelivery(t.Context(), pipeline.Delivery{Repeat: true}), 8)).want(t,
		crawl.VerdictInterrupted, crawl.ReasonInterrupted)
	<-copied.waits // or else the copy may come when the request is over, and be a lease like any other
	ended.Store(true)
	close(answer)
	b.read(<-first).want(t, crawl.VerdictDone, "")
	b.read(<-second).want(t, crawl.VerdictInterrupted, crawl.ReasonInterrupted)
}

// The process may die between storing the rules and publishing what they name.
func TestRepeatedRobotsLeaseNamesTheSitemapsAgain(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, "Sitemap: /one.xml\nSitemap: /two.xml\n")
	})
	b := newBench(t, nil)
	u := parse(t, url+"/robots.txt")
	lease := &crawl.Fetch{Task: crawl.Task{Job: "test", URL: u, Kind: crawl.KindRobots, For: u.Origin()}}
	repeated := pipeline.WithDelivery(t.Context(), pipeline.Delivery{Repeat: true})
	if events, err := b.h.Handle(repeated, lease); err != nil || len(events) != 1 {
		t.Fatalf("before the rules are known: events %v, %v; want the outcome alone", events, err)
	}
	first, err := b.h.Handle(t.Context(), lease)
	if err != nil || len(first) != 2 {
		t.Fatalf("events %v, %v", first, err)
	}
	again, err := b.h.Handle(repeated, lease)
	if err != nil || len(again) != 2 {
		t.Fatalf("repeated: events %v, %v", again, err)
	}
	want, got := first[0].(*crawl.Links), again[0].(*crawl.Links)
	if !reflect.DeepEqual(got, want) || len(got.Links) != 2 {
		t.Errorf("repeated: links %+v, want %+v", got, want)
	}
	b.read(again).want(t, crawl.VerdictInterrupted, crawl.ReasonInterrupted)
}

func TestFaultOfOursIsAnErrorAndLeavesNothingBehind(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "text") })
	full := errors.New("disk is full")
	for name, mod := range map[string]func(*memory){
		"spool": func(m *memory) { m.putErr = full }, "archive": func(m *memory) { m.writeErr = full },
	} {
		b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) { d.Archive = d.Bodies.(*memory) })
		mod(b.mem)
		events, err := b.h.Handle(t.Context(), &crawl.Fetch{Task: crawl.Task{Job: "test", URL: parse(t, url)}})
		if !errors.Is(err, full) || events != nil || !strings.Contains(err.Error(), url) {
			t.Errorf("%s: events %v, error %v", name, events, err)
		}
		if b.mem.Len() != 0 {
			t.Errorf("%s: %d bodies stay in the spool", name, b.mem.Len())
		}
	}
	b := newBench(t, nil)
	if _, err := b.h.Handle(t.Context(), &crawl.Fetch{Task: crawl.Task{Job: "none", URL: parse(t, url)}}); err == nil {
		t.Error("a job that nobody knows is no error")
	}
}

func TestShutdownIsNoVerdict(t *testing.T) {
	for _, part := range []string{"header", "body"} {
		t.Run(part, func(t *testing.T) {
			arrived := make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if part == "body" {
					fmt.Fprint(w, "<html>")
					w.(http.Flusher).Flush()
				}
				close(arrived)
				<-r.Context().Done()
			})
			b := newBench(t, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-arrived; cancel() }()
			events, err := b.h.Handle(ctx, &crawl.Fetch{Task: crawl.Task{Job: "test", URL: parse(t, url)}})
			if !errors.Is(err, context.Canceled) || events != nil {
				t.Errorf("events %v, error %v, want the cancellation", events, err)
			}
		})
	}
}

func TestAddressOfTheLeaseIsDialledFirst(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Host) })
	_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	b := newBench(t, func(_ *Config, d *Deps, _ *crawl.Job) {
		d.DNS = names{"a.test": {netip.MustParseAddr("127.0.0.99")}, "b.test": {netip.MustParseAddr("127.0.0.99"), loopback}}
	})
	r := b.get("http://a.test:"+port, func(f *crawl.Fetch) { f.Addr = loopback })
	r.want(t, crawl.VerdictDone, "")
	if r.Addr != loopback || string(r.body) != "a.test:"+port {
		t.Errorf("address %v, host %q", r.Addr, r.body)
	}
	// Nobody listens at the address of the lease: the name's others are tried.
	r = b.get("http://b.test:"+port, func(f *crawl.Fetch) { f.Addr = netip.MustParseAddr("127.0.0.98") })
	r.want(t, crawl.VerdictDone, "")
	if r.Addr != loopback {
		t.Errorf("address %v", r.Addr)
	}
}
