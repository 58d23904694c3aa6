package topicbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/node/topical"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

// Live crawls documentation with the real engine: files of a directory, served on addresses of the loopback, a host for
// each place where documentation begins.
type Live struct {
	Dir   string        // as /usr/share/doc
	Begin []string      // the pages where it begins, below Dir
	Pages int           // of each crawl
	Draws int           // of examples: figures are their means
	Delay time.Duration // of each host
	Out   io.Writer

	scratch string
	seeds   []string
}

// Beginnings are the places where the documentation of the packages begins over which Topics are.
func Beginnings() []string {
	return []string{"python3.11/html/index.html", "postgresql-doc-15/html/index.html", "linux-doc-6.1/html/index.html",
		"libboost1.74-doc/doc/html/index.html"}
}

// Plain names the crawl of a job without a topic.
const Plain Order = "without a topic"

// LiveBest names the crawl of a job with a topic.
const LiveBest Order = "topical crawl"

// Run crawls breadth first, without a topic, and with each topic, and prints how many pages about each topic are among
// the first.
func (l *Live) Run(ctx context.Context, topics []Topic) (drawn []Drawn, err error) {
	if l.scratch, err = os.MkdirTemp("", "whirlpool-topic-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(l.scratch)
	stop, err := l.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	files, err := l.files()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(l.Out, "%d pages below %s, %d hosts; crawls of %d pages, %v between requests to a host\n", len(files),
		l.Dir, len(l.seeds), l.Pages, l.Delay)
	var others [2][]*crawl.Record
	for i, order := range []crawl.Order{crawl.OrderBreadth, crawl.OrderPriority} {
		if others[i], err = l.crawl(ctx, crawl.Theme{}, order); err != nil {
			return nil, err
		}
	}
	for _, t := range topics {
		d, err := l.topic(ctx, t, files, others)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		drawn = append(drawn, d)
	}
	return drawn, nil
}

// topic crawls with a topic.
func (l *Live) topic(ctx context.Context, t Topic, files []string, others [2][]*crawl.Record) (Drawn, error) {
	var about []string
	for _, f := range files {
		if t.Paths.MatchString(strings.ToLower(f)) {
			about = append(about, f)
		}
	}
	if len(about) <= Examples {
		return Drawn{}, errors.New("too few pages are about it")
	}
	rows := []Row{{Order: Breadth, At: make([]float64, 1)}, {Order: Plain, At: make([]float64, 1)},
		{Order: LiveBest, At: make([]float64, 1)}}
	for d := range l.Draws {
		random := rand.New(rand.NewPCG(uint64(d), Examples)) //nolint:gosec // the same examples each time
		given := map[string]bool{}
		theme := crawl.Theme{}
		for len(given) < Examples {
			f := about[random.IntN(len(about))]
			if b, err := os.ReadFile(filepath.Join(l.Dir, f)); err == nil && !given[f] &&
				len(topical.Parsed(f, b).Text) >= leastText {
				given[f] = true
				theme.Examples = append(theme.Examples, l.urlOf(f))
			}
		}
		records, err := l.crawl(ctx, theme, crawl.OrderPriority)
		if err != nil {
			return Drawn{}, err
		}
		for i, rs := range [][]*crawl.Record{others[0], others[1], records} {
			rows[i].At[0] += t.among(rs, given, l.Pages) / float64(l.Draws)
		}
	}
	fmt.Fprintf(l.Out,
		"%-14s %5d pages   breadth first %.3f   without a topic %.3f   topical %.3f   %.1f times breadth first\n", t.Name,
		len(about), rows[0].At[0], rows[1].At[0], rows[2].At[0], rows[2].At[0]/max(rows[0].At[0], 0.001))
	return Drawn{t.Name, rows}, nil
}

// among is the part of the first n pages that are about the topic. Examples do not count.
func (t *Topic) among(records []*crawl.Record, given map[string]bool, n int) float64 {
	hits, all := 0, 0
	for _, r := range records {
		p := strings.TrimPrefix(r.URL.Path(), "/")
		if given[p] || all == n {
			continue
		}
		all++
		if len(r.Text) >= leastText && t.Paths.MatchString(strings.ToLower(p)) {
			hits++
		}
	}
	return float64(hits) / float64(max(all, 1))
}

// urlOf is the address of a file.
func (l *Live) urlOf(file string) string {
	for i, begin := range l.Begin {
		if root := path.Dir(begin) + "/"; strings.HasPrefix(file, root) {
			return l.seeds[i] + strings.TrimPrefix(file, root)
		}
	}
	return ""
}

// fetched gets an example from the server.
func fetched(ctx context.Context, url string) (title, text string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	p := topical.Parsed(url, b)
	return p.Title, p.Text, err
}

// serve serves the directory on an address for each place where documentation begins.
func (l *Live) serve(ctx context.Context) (stop func(), err error) {
	var servers []*http.Server
	stop = func() {
		for _, s := range servers {
			_ = s.Close()
		}
	}
	for i, begin := range l.Begin {
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.%d:0", i+2))
		if err != nil {
			stop()
			return nil, err
		}
		s := &http.Server{Handler: http.FileServer(http.Dir(l.Dir)), ReadHeaderTimeout: time.Minute}
		servers = append(servers, s)
		go func() { _ = s.Serve(ln) }()
		l.seeds = append(l.seeds, "http://"+ln.Addr().String()+"/"+path.Dir(begin)+"/")
	}
	return stop, nil
}

// files are the pages below the directories where documentation begins.
func (l *Live) files() (files []string, err error) {
	for _, begin := range l.Begin {
		root, err := filepath.EvalSymlinks(filepath.Join(l.Dir, path.Dir(begin)))
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(root, func(name string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(name, ".html") {
				rel, _ := filepath.Rel(root, name)
				files = append(files, path.Join(path.Dir(begin), filepath.ToSlash(rel)))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return files, nil
}

// crawl crawls once, and returns the records in the order in which they were stored.
func (l *Live) crawl(ctx context.Context, theme crawl.Theme, order crawl.Order) (records []*crawl.Record, err error) {
	job := crawl.DefaultJob()
	job.ID, job.Seeds, job.Scope, job.Order, job.Topic = "topic", l.seeds, crawl.ScopeHost, order, theme
	job.MaxPages = l.Pages + Examples
	job.Politeness.Delay = crawl.Duration(l.Delay)
	if err := topical.Complete(ctx, &job, topical.Sources{Fetch: fetched}); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(l.scratch, "crawl-")
	if err != nil {
		return nil, err
	}
	opt := node.DefaultLocal(dir, &job, slog.New(slog.NewTextHandler(l.Out, &slog.HandlerOptions{Level: slog.LevelError})))
	opt.Node.Fetch.AllowPrivate = true
	local, err := node.OpenLocal(ctx, opt)
	if err != nil {
		return nil, err
	}
	finished, err := local.Crawl(ctx)
	if err = errors.Join(err, local.Close()); err != nil || !finished {
		return nil, errors.Join(err, errors.New("the crawl did not end"))
	}
	f, err := os.Open(filepath.Join(dir, "pages.jsonl"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = jsonl.EachRecord(f, func(r *crawl.Record) error {
		copied := *r
		records = append(records, &copied)
		return nil
	})
	return records, err
}
