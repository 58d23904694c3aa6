package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Depth of a Tree, and how many links each of its pages has.
const (
	TreeDepth = 4
	treeLinks = 4
)

// Tree is a site on one host whose pages have four links each, four levels deep: 341 pages, "/" and "/-1-0-3" among
// them. The depth of a page does not depend on the order of the crawl, and a page has one link to it.
type Tree struct {
	*httptest.Server

	mu    sync.Mutex
	asked []visit
	gate  chan struct{} // requests wait until it is closed; nil: none does
	held  int
}

type visit struct {
	path string
	at   time.Time
}

// NewTree serves a site until it is closed.
func NewTree() *Tree {
	s := &Tree{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

func (s *Tree) answer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, visit{r.URL.Path, time.Now()})
	gate := s.gate
	if gate != nil {
		s.held++
	}
	s.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	name := strings.Trim(r.URL.Path, "/")
	if name == "robots.txt" || name == "sitemap.xml" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprintf(w, "<title>page %s</title><p>%s", name, strings.Repeat("words of page "+name+" ", 20))
	if strings.Count(name, "-") < TreeDepth {
		for i := range treeLinks {
			fmt.Fprintf(w, `<a href="/%s%d">%d</a>`, name+"-", i, i)
		}
	}
}

// Since returns the paths that were asked for after a moment.
func (s *Tree) Since(at time.Time) (paths []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if a.at.After(at) {
			paths = append(paths, a.path)
		}
	}
	return paths
}

// Count is how many requests came.
func (s *Tree) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

// Hold has requests wait from now on, until Release or their client's end.
func (s *Tree) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gate, s.held = make(chan struct{}), 0
}

// Held is how many requests have had to wait since Hold.
func (s *Tree) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// Release ends what Hold began.
func (s *Tree) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gate != nil {
		close(s.gate)
	}
	s.gate = nil
}

// TreeRules are what a crawl of a Tree lets in.
type TreeRules struct {
	Depth   int
	Exclude string // a pattern of paths from their beginning; empty: none
}

// AnyTreeRules are rules that have pages in common with others, and pages of their own.
func AnyTreeRules(r *rand.Rand) TreeRules {
	return TreeRules{Depth: 3 + r.IntN(2), Exclude: []string{"", "/-1", "/-[02]", "/-2-[13]", "/-3-0"}[r.IntN(5)]}
}

// Patterns are the URLs that a job of these rules excludes; not nil.
func (rules TreeRules) Patterns() []string {
	if rules.Exclude == "" {
		return []string{}
	}
	return []string{`^http://[^/]+` + rules.Exclude}
}

// Job is a job that crawls the site, within some seconds.
func (s *Tree) Job(id crawl.JobID, rules TreeRules) *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.AllowPrivate, job.Sitemaps = id, []string{s.URL + "/"}, crawl.ScopeHost, true, false
	job.NearDuplicate, job.MaxPages, job.MaxDepth, job.Exclude = -1, 0, rules.Depth, rules.Patterns()
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(4*time.Millisecond), 0
	job.Retry.Base, job.Retry.SlowMin, job.Retry.SlowMax = crawl.Duration(5*time.Millisecond),
		crawl.Duration(50*time.Millisecond), crawl.Duration(200*time.Millisecond)
	return &job
}

// Differs lists what pages, with the revisions by which they were fetched, are not those that a crawl by the rules has
// and those that were fetched by revisions before the last one, epoch.
func (s *Tree) Differs(rules TreeRules, pages map[string]uint32, epoch uint32) (faults []string) {
	want := s.Pages(rules)
	for u := range want {
		if _, has := pages[u]; !has {
			faults = append(faults, u+" is missing")
		}
	}
	for u, by := range pages {
		if !want[u] && by >= epoch {
			faults = append(faults, fmt.Sprintf("%s was fetched by revision %d, the last one, which leaves it out", u, by))
		}
	}
	return faults
}

// Pages are the URLs of the pages that a crawl by these rules has in the end.
func (s *Tree) Pages(rules TreeRules) map[string]bool {
	var exclude *regexp.Regexp
	if rules.Exclude != "" {
		exclude = regexp.MustCompile("^" + rules.Exclude)
	}
	pages := map[string]bool{}
	var add func(path string, depth int)
	add = func(path string, depth int) {
		if depth > min(rules.Depth, TreeDepth) || exclude != nil && exclude.MatchString(path) {
			return
		}
		pages[s.URL+path] = true
		for i := range treeLinks {
			add(fmt.Sprintf("%s-%d", path, i), depth+1)
		}
	}
	add("/", 0)
	return pages
}
