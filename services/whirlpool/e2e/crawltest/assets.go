package crawltest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// AssetSites are sites whose pages are made of style sheets, what these import, images and fonts, partly of the next
// site's. Each has a port, and so is a host of its own.
type AssetSites struct {
	URLs     []string
	Requests atomic.Int64
}

// pagesOfASite is how many pages a site has.
const pagesOfASite = 12

// ServeAssetSites serves so many sites at an address until the test ends.
func ServeAssetSites(t *testing.T, address string, n int) *AssetSites {
	t.Helper()
	s := &AssetSites{}
	listeners := make([]net.Listener, n)
	for i := range listeners {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", net.JoinHostPort(address, "0"))
		harness.Check(t, err)
		listeners[i] = l
		s.URLs = append(s.URLs, "http://"+l.Addr().String())
	}
	for i, l := range listeners {
		srv := &http.Server{ReadHeaderTimeout: time.Minute,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				s.Requests.Add(1)
				s.answer(w, i, r.URL.Path)
			})}
		go func() { _ = srv.Serve(l) }()
		t.Cleanup(func() { _ = srv.Close() })
	}
	return s
}

func (s *AssetSites) answer(w http.ResponseWriter, i int, path string) {
	next := s.URLs[(i+1)%len(s.URLs)]
	say := func(mediaType, body string) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = io.WriteString(w, body)
	}
	var page int
	switch _, err := fmt.Sscanf(path, "/p/%d.html", &page); {
	case path == "/":
		page = -1
		fallthrough
	case err == nil && page < pagesOfASite && strings.HasSuffix(path, ".html"):
		say("text/html; charset=utf-8", s.page(i, page, next))
	case path == "/robots.txt":
		say("text/plain", "User-agent: *\nDisallow: /private/\n")
	case path == "/css/site.css":
		say("text/css", fmt.Sprintf("@import 'deep.css'; @font-face { font-family: f; src: url(%s/font.woff2) } body { "+
			"background: url(../img/bg.gif) }", next))
	case path == "/css/deep.css":
		say("text/css", "p { list-style: url(../img/deep.gif) }")
	case strings.HasPrefix(path, "/img/") && strings.HasSuffix(path, ".gif"):
		say("image/gif", "GIF89a of "+path)
	case path == "/font.woff2":
		say("font/woff2", "a font")
	case path == "/script.js":
		say("text/javascript", "document.title += '!'")
	default:
		http.NotFound(w, nil)
	}
}

// page is the page of a number; -1: the first.
func (s *AssetSites) page(i, n int, next string) string {
	text := strings.Repeat(fmt.Sprintf("Words of page %d of site %d, %d. ", n, i, 7919*(n+2)*(i+3)), 8)
	body := fmt.Sprintf(`<!doctype html><title>Page %d of %d</title><link rel=stylesheet href=/css/site.css><script src=/script.js></script>
<p>%s</p><img src=/img/%d.gif srcset="/img/%d-large.gif 2x"><img src="%s/img/shared.gif"><img src=/private/no.gif><img src=/gone.png>
<a href="/">first</a> <a href="%s/">next site</a>`, n, i, text, n, n, next, next)
	for k := range pagesOfASite {
		body += fmt.Sprintf(` <a href="/p/%d.html">%d</a>`, k, k)
	}
	return body
}

// Job crawls all sites with their assets.
func (s *AssetSites) Job() *crawl.Job {
	job := crawl.DefaultJob()
	job.ID, job.Contact, job.Scope = "assets", "e2e@whirlpool.invalid", crawl.ScopeHost
	for _, u := range s.URLs {
		job.Seeds = append(job.Seeds, u+"/")
	}
	job.MaxPages, job.MaxDepth, job.NearDuplicate = 0, -1, -1
	job.Politeness.Delay, job.Politeness.IPDelay = crawl.Duration(5*time.Millisecond), 0
	job.Assets.Scope = crawl.AssetsAny
	return &job
}

// Copy is a copy to browse: its files.
type Copy map[string]string

// ReadCopy reads one, without the files robots.txt: a cluster's belong to no job, and are not in its copy.
func ReadCopy(t *testing.T, dir string) Copy {
	t.Helper()
	all := Copy{}
	fsys := os.DirFS(dir)
	var walk func(string)
	walk = func(at string) {
		list, err := os.ReadDir(filepath.Join(dir, at))
		harness.Check(t, err)
		for _, e := range list {
			name := strings.TrimPrefix(at+"/"+e.Name(), "/")
			if e.IsDir() {
				walk(name)
				continue
			}
			if e.Name() == "robots.txt" {
				continue
			}
			f, err := fsys.Open(name)
			harness.Check(t, err)
			data, err := io.ReadAll(f)
			harness.Check(t, err)
			harness.Check(t, f.Close())
			all[name] = string(data)
		}
	}
	walk("")
	return all
}

// Differs lists the files that are not the same in two copies.
func (c Copy) Differs(other Copy) (faults []string) {
	for name, text := range c {
		if got, ok := other[name]; !ok {
			faults = append(faults, name+" is only in the first copy")
		} else if got != text {
			faults = append(faults, name+" is not the same")
		}
	}
	for name := range other {
		if _, ok := c[name]; !ok {
			faults = append(faults, name+" is only in the second copy")
		}
	}
	slices.Sort(faults)
	return faults
}

// CopyAlone has one machine crawl the sites, and returns its copy and the URLs that its WACZ holds, by check.
func (s *AssetSites) CopyAlone(t *testing.T, exe string,
	check func(testing.TB, string) []string) (c Copy, captures []string) {
	t.Helper()
	dir := t.TempDir()
	cl := &Cluster{T: t, Dir: dir}
	to := filepath.Join(dir, "copy")
	cl.Must(os.Environ(), exe, "crawl", "-c", WriteJob(t, dir, s.Job()), "-o", filepath.Join(dir, "crawl"),
		"--allow-private", "--quiet", "--mirror", to, "--wacz", to+".wacz")
	return ReadCopy(t, to), check(t, to+".wacz")
}
