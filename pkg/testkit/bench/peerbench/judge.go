package peerbench

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// Verdict is what a server's log says of a crawl.
type Verdict struct {
	Pages     int // different URLs whose content was fetched whole
	Missed    int // of those that had to be found
	Again     int // requests for a page that had been fetched whole before
	Forbidden int // requests that robots.txt forbids
	Requests  int
	AtOnce    int      // most requests to one host at the same time
	Lost      []string // what was missed, in order
	// Took is the time from the first request to the last new page: what a crawler waits for after that is not counted
	// (hosts whose robots.txt fails, which whirlpool asks again for hours).
	Took time.Duration
}

// judge reads a log. wanted are the URLs that a crawl must find; allowed says what robots.txt lets be fetched.
func judge(log []fakeweb.Entry, wanted map[string]bool, allowed func(host, path string) bool) (v Verdict) {
	got := map[string]int{}
	var first, last int64
	for i, e := range log {
		if i == 0 || e.Start < first {
			first = e.Start
		}
		v.Requests++
		if path, _, _ := strings.Cut(e.Path, "?"); path != "/robots.txt" && !allowed(e.Host, e.Path) {
			v.Forbidden++
		}
		if e.Status == http.StatusOK && !e.Cut && e.Method == http.MethodGet && isPage(e.Path, wanted, e.Host) {
			if got[e.Host+e.Path]++; got[e.Host+e.Path] == 1 {
				last = max(last, e.End)
			}
		}
	}
	for _, n := range got {
		v.Again += n - 1
	}
	v.Pages, v.Took = len(got), time.Duration(max(0, last-first))
	for url := range wanted {
		if got[url] == 0 {
			v.Lost = append(v.Lost, url)
		}
	}
	slices.Sort(v.Lost)
	v.Missed = len(v.Lost)
	v.AtOnce = mostAtOnce(log)
	return v
}

// isPage reports whether a request was for a page: for one of those that must be found, or, where nobody knows these,
// for a document of HTML by its name.
func isPage(path string, wanted map[string]bool, host string) bool {
	if len(wanted) > 0 {
		return wanted[host+path]
	}
	path, _, _ = strings.Cut(path, "?")
	return strings.HasSuffix(path, "/") || strings.HasSuffix(path, ".html") || strings.HasSuffix(path, ".htm")
}

// mostAtOnce is how many requests one host answered at the same time.
func mostAtOnce(log []fakeweb.Entry) (most int) {
	type edge struct {
		at   int64
		step int
	}
	byHost := map[string][]edge{}
	for _, e := range log {
		byHost[e.Host] = append(byHost[e.Host], edge{e.Start, 1}, edge{e.End, -1})
	}
	for _, edges := range byHost {
		slices.SortFunc(edges, func(a, b edge) int {
			if a.at != b.at {
				return int(min(max(a.at-b.at, -1), 1))
			}
			return a.step - b.step // an end first: it is no overlap
		})
		now := 0
		for _, e := range edges {
			now += e.step
			most = max(most, now)
		}
	}
	return most
}
