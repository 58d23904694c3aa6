package builtin

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Seeds say where a node at provider takes seeds from: one of URLs, File, Sitemap, Dir and Execution is set.
type Seeds struct {
	URLs    []string
	File    string // a URL a line
	Sitemap string // URL of a sitemap or feed

	// Pages of another crawl, in a directory or of a server.
	Dir       string
	Execution crawl.JobID
	Status    []int    // of those; none: any
	Hosts     []string // of those; none: any
	Match     *regexp.Regexp
}

// Bounds of providers.
const (
	maxSeedURLs = 1000
	maxListed   = 1000
)

var executionID = lazily(`^[a-z0-9-]{1,64}$`)

func atProvider() []plugin.Serves { return serving(nil, crawl.AtProvider) }

// urls gives URLs that are in the job.
func urls() *builtin {
	return &builtin{plugin.Descriptor{Name: "urls", Summary: "Gives URLs as seeds", Serves: atProvider(),
		Config: object([]string{"urls"},
			map[string]any{"urls": texts("URLs to start from; without a scheme http:// is meant")})}, makeSeeds}
}

// list gives the URLs of a file.
func list() *builtin {
	return &builtin{plugin.Descriptor{Name: "list", Summary: "Gives the URLs of a file as seeds, a line each",
		Serves: atProvider(), Config: object([]string{"file"}, map[string]any{"file": prop("string",
			"file with a URL a line; empty lines and # comments are left out. In a job file: beside it. On a server: its "+
				"whole path")})}, makeSeeds}
}

// sitemapNode gives what a sitemap or feed lists.
func sitemapNode() *builtin {
	return &builtin{plugin.Descriptor{Name: "sitemap",
		Summary: "Reads a sitemap, an index of sitemaps or a feed, whatever its URL looks like, for the pages that it lists",
		Serves:  atProvider(), Config: object([]string{"url"},
			map[string]any{"url": prop("string", "URL of the sitemap or feed")})}, makeSeeds}
}

// pages gives the pages of another crawl.
func pages() *builtin {
	return &builtin{plugin.Descriptor{Name: "pages", Summary: "Gives the pages of another crawl as seeds",
		Serves: atProvider(), Config: object(nil,
			map[string]any{"dir": prop("string", "directory of that crawl; in a job file: beside it"),
				"execution": prop("string", "that crawl on a server, as in manual-17"),
				"status": map[string]any{"type": "array", "items": map[string]any{"type": "integer"},
					"description": "only pages with one of these status codes"},
				"hosts": texts("only pages of these hosts"),
				"match": prop("string", "regular expression (RE2) that the URL has to match")})}, makeSeeds}
}

// makeSeeds checks the settings. No message passes.
func makeSeeds(_ crawl.Point, with map[string]any) (handler, error) {
	if _, err := seedsOf(with); err != nil {
		return nil, err
	}
	return func(*plugin.Call) (*plugin.Answer, error) { return pass, nil }, nil
}

// SeedsOf returns what a node at provider asks for.
func SeedsOf(n *crawl.PluginNode) (*Seeds, error) {
	b, ok := all[n.Use]
	if ok {
		_, ok = b.d.ServesAt(crawl.AtProvider)
	}
	if !ok {
		return nil, fmt.Errorf("use: %s gives no seeds", n.Use)
	}
	return seedsOf(n.With)
}

func seedsOf(with map[string]any) (*Seeds, error) {
	var set struct {
		URLs           []string
		File, URL, Dir string
		Execution      string
		Status         []int
		Hosts          []string
		Match          string
	}
	if err := decode(with, &set); err != nil {
		return nil, err
	}
	out := &Seeds{URLs: set.URLs, File: set.File, Sitemap: set.URL, Dir: set.Dir, Execution: crawl.JobID(set.Execution),
		Status: set.Status}
	of := 0
	for _, is := range []bool{len(set.URLs) > 0, set.File != "", set.URL != "", set.Dir != "", set.Execution != ""} {
		if is {
			of++
		}
	}
	if of != 1 {
		return nil, bad("", "want one place to take seeds from: urls, file, url, or one of dir and execution")
	}
	if err := out.checkURLs(); err != nil {
		return nil, err
	}
	return out, out.checkPages(set.Hosts, set.Match)
}

func (s *Seeds) checkURLs() error {
	if len(s.URLs) > maxSeedURLs {
		return bad("urls", "%d: want at most %d; builtin/list@1 reads a file of any length", len(s.URLs), maxSeedURLs)
	}
	for i, text := range s.URLs {
		if strings.ContainsAny(text, "\r\n") {
			return bad(fmt.Sprintf("urls[%d]", i), "%q: want one URL", text)
		}
		if _, err := crawl.ParseSeed(text); err != nil {
			return bad(fmt.Sprintf("urls[%d]", i), "%v", err)
		}
	}
	if s.Sitemap == "" {
		return nil
	}
	if _, err := crawl.ParseSeed(s.Sitemap); err != nil || strings.ContainsAny(s.Sitemap, "\r\n") {
		return bad("url", "%q: want the URL of a sitemap or feed: %v", s.Sitemap, err)
	}
	return nil
}

// checkPages checks which pages of another crawl are wanted.
func (s *Seeds) checkPages(hosts []string, match string) (err error) {
	if s.Execution != "" && !executionID().MatchString(string(s.Execution)) {
		return bad("execution", "%q: want the id of an execution, as in manual-17", s.Execution)
	}
	if len(s.Status) > maxListed || len(hosts) > maxListed {
		return bad("", "status and hosts: want at most %d each", maxListed)
	}
	for i, code := range s.Status {
		if code < 100 || code > 999 {
			return bad(fmt.Sprintf("status[%d]", i), "%d: want a status code, as in 200", code)
		}
	}
	for i, host := range hosts {
		host = strings.ToLower(strings.TrimSpace(host))
		if host == "" || strings.ContainsAny(host, "/ \t") {
			return bad(fmt.Sprintf("hosts[%d]", i), "%q: want the name of a host, as in www.example.com", host)
		}
		s.Hosts = append(s.Hosts, host)
	}
	if match != "" {
		if s.Match, err = regexp.Compile(match); err != nil {
			return bad("match", "%v", err)
		}
	}
	return nil
}
