package tryout_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/tryout"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/fetcher"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

const shop = `<html lang=en><title>Lamp</title><h1>Lamp</h1><b class=price>12.50</b><p>A lamp that lights the room well.
<a href=/b>next</a><a href=/cart/1>cart</a><a href=/private/x>private</a><a href=http://elsewhere.invalid/>away</a>
<a href=/n rel=nofollow>n</a><a href=mailto:a@b>mail</a>`

// site serves a shop and counts its requests.
func site(t *testing.T) (url string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "User-agent: *\nDisallow: /private/\nAllow: /p/\n")
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter,
		r *http.Request) {
		http.Redirect(w, r, "/p/1", http.StatusFound)
	})
	mux.HandleFunc("/p/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, shop)
	})
	mux.HandleFunc("/hidden", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<meta name=robots content=noindex><p>x")
	})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func try(t *testing.T, home, path string, change func(o *tryout.Options)) *trial.Trial {
	t.Helper()
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Politeness.Delay = "job", []string{home}, crawl.Duration(1)
	job.Exclude = []string{"/cart/"}
	job.Rules = []crawl.SiteRule{
		{Name: "products", Match: "/p/",
			Fields: []crawl.FieldRule{{Name: "price", CSS: ".price", Type: "number"}, {Name: "size", CSS: ".size"}},
			Links:  []crawl.LinkWeight{{Match: "/b$", Weight: 9}}},
		{Name: "others", Match: "/other/"},
	}
	o := tryout.Options{Job: &job, URL: home + path, Fetch: fetcher.Default(), DNS: dnscache.Default(),
		Log: slog.New(slog.DiscardHandler)}
	o.Fetch.AllowPrivate = true
	if change != nil {
		change(&o)
	}
	got, err := tryout.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEveryStepIsTold(t *testing.T) {
	home, asked := site(t)
	got := try(t, home, "/p/1#part", func(o *tryout.Options) { o.Depth = 2 })
	var out bytes.Buffer
	if err := got.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"canonical  " + home + "/p/1\n", "allowed at depth 2", `line 3 of ` + home + `/robots.txt, "Allow: /p/"`,
		"done: 200 OK, text/html", `"Lamp", text/html`, "field      price = 12.5\n",
		"products: matches; found nothing for size", "others: is for other URLs",
		home + "/b  followed: page, depth 3, priority 5", home + "/cart/1  left out [exclude] by /cart/",
		home + "/private/x  left out [robots]", "http://elsewhere.invalid/  left out [scope] by scope domain",
		home + "/n  left out [nofollow]", "mailto:a@b  left out [scheme]", "links      1 followed, 5 left out",
		"it is fetched and stored",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not told in\n%s", want, out.String())
		}
	}
	if string(got.Body()) != shop || asked.Load() != 2 {
		t.Errorf("body of %d bytes, %d requests; want %d and 2", len(got.Body()), asked.Load(), len(shop))
	}
}

func TestWhatIsNotFetched(t *testing.T) {
	home, asked := site(t)
	for _, tt := range []struct {
		path, answer string
		requests     int64
		change       func(o *tryout.Options)
	}{
		{"/private/x", "blocked [robots]", 1, nil},
		{"/cart/1", "a crawl does not ask for it [exclude]", 2, nil},
		{"/none", "gone [status]", 2, nil},
		{"/moved", "redirects to " + home + "/p/1", 2, nil},
		{"/hidden", "not stored [noindex]", 2, nil},
		{"/p/1", "refused [private-address]", 0, func(o *tryout.Options) { o.Fetch.AllowPrivate = false }},
		{"/private/x", "gone [status]", 1, func(o *tryout.Options) { o.Job.IgnoreRobots = true }},
	} {
		asked.Store(0)
		if got := try(t, home, tt.path, tt.change); !strings.Contains(got.Answer, tt.answer) || asked.Load() != tt.requests {
			t.Errorf("%s: %s after %d requests, want %q after %d", tt.path, got.Answer, asked.Load(), tt.answer, tt.requests)
		}
	}
}
