package appweb

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Page is what a record has of a page that matters here.
type Page struct {
	Text     string
	Links    string // URLs, in their order
	Rendered bool
}

// Pages are the pages of a crawl by URL. The sites are in them by their names, so that crawls of two webs can be
// compared.
type Pages map[string]Page

// Add adds a record of a crawl of w. It reports whether there was none of its URL.
func (ps Pages) Add(w *Web, r *crawl.Record) bool {
	var links []string
	for i := range r.Links {
		links = append(links, w.named(r.Links[i].URL.String()))
	}
	u := w.named(r.URL.String())
	_, twice := ps[u]
	ps[u] = Page{r.Text, strings.Join(links, " "), r.Rendered != nil}
	return !twice
}

// Read reads the pages of a crawl of w from its directory. Two records of one URL are an error.
func (w *Web) Read(dir string) (Pages, error) {
	data, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		return nil, err
	}
	pages := Pages{}
	for line := range bytes.Lines(data) {
		if jsonl.IsReplaced(line) {
			continue
		}
		r, err := jsonl.ParseRecord(line)
		if err != nil {
			return nil, err
		}
		if !pages.Add(w, r) {
			return nil, fmt.Errorf("two records of %s", r.URL)
		}
	}
	return pages, nil
}

// named puts the names of the sites in the place of their addresses.
func (w *Web) named(u string) string {
	for site, host := range w.hosts {
		if rest, ok := strings.CutPrefix(u, "http://"+host+"/"); ok {
			return "http://" + site + "/" + rest
		}
	}
	return u
}

// Lacks says which pages were not found, and which of the application were not rendered to their end.
func (w *Web) Lacks(ps Pages) (faults []string) {
	want := []string{"http://app/", "http://app/late/1"}
	for n := 1; n < w.pages-1; n++ {
		want = append(want, "http://app/item/"+strconv.Itoa(n))
	}
	for _, u := range want {
		p, found := ps[u]
		switch {
		case !found:
			faults = append(faults, u+" was not found")
		case !p.Rendered || !strings.Contains(p.Text+p.Links, "/late/1"):
			faults = append(faults, fmt.Sprintf("%s was not rendered, or not to its end: %+v", u, p))
		}
	}
	for i := range PlainPages {
		if u := fmt.Sprintf("http://plain/p/%d", i); ps[u] == (Page{}) {
			faults = append(faults, u+" was not found")
		}
	}
	return faults
}

// Differs says where two crawls did not find the same. Which of the plain pages are rendered is chance.
func (ps Pages) Differs(other Pages) (faults []string) {
	for u, a := range ps {
		b, found := other[u]
		if strings.HasPrefix(u, "http://plain/") {
			a.Rendered, b.Rendered = false, false
		}
		if !found || a != b {
			faults = append(faults, fmt.Sprintf("%s: %+v, and in the other crawl %+v", u, a, b))
		}
	}
	for u := range other {
		if _, found := ps[u]; !found {
			faults = append(faults, u+" is in the other crawl only")
		}
	}
	slices.Sort(faults)
	return faults
}

// RenderedPlain is how many plain pages were rendered.
func (ps Pages) RenderedPlain() (n int) {
	for u, p := range ps {
		if p.Rendered && strings.HasPrefix(u, "http://plain/") {
			n++
		}
	}
	return n
}
