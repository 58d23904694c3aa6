package peerbench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
)

// web is what all crawlers are sent to. It is served anew for each of them.
type web interface {
	// serve begins to serve and returns what a crawler is told of it.
	serve(ctx context.Context) (site, error)
}

// site is a web that is served.
type site struct {
	task    Task
	log     func() []fakeweb.Entry
	wanted  map[string]bool // host and path of what must be found; empty where nobody knows
	allowed func(host, path string) bool
	close   func() error
}

// synthetic is a synthetic web. names receives the addresses of its hosts, as /etc/hosts has them.
type synthetic struct {
	cfg   fakeweb.Config
	names string // file
}

func (s synthetic) serve(ctx context.Context) (site, error) {
	srv, err := fakeweb.Serve(ctx, fakeweb.New(s.cfg), fakeweb.Options{})
	if err != nil {
		return site{}, err
	}
	w := srv.Web()
	at := site{log: srv.Log().Entries, wanted: map[string]bool{}, allowed: w.Allowed, close: srv.Close}
	at.task = Task{Seeds: w.Seeds(), DNS: srv.DNSAddr()}
	hosts := "127.0.0.1 localhost\n"
	for h := range s.cfg.Hosts {
		name := w.HostName(h)
		addr, _ := srv.Addr(name)
		hosts += addr.Addr().String() + " " + name + "\n"
		at.task.Hosts = append(at.task.Hosts, name)
	}
	for p := range w.Pages {
		if u, err := url.Parse(p.URL); err == nil && p.Status == http.StatusOK && !p.Disallowed {
			at.wanted[u.Hostname()+u.RequestURI()] = true
		}
	}
	if err := os.WriteFile(s.names, []byte(hosts), 0o644); err != nil {
		_ = srv.Close()
		return site{}, fmt.Errorf("names of the synthetic hosts: %w", err)
	}
	return at, nil
}

// files is a directory of real documents on one host.
type files struct {
	dir   string
	names string // file
	first string // path of the document to begin with
}

// fileHost is the name under which documents are served.
const fileHost = "docs.test"

func (f files) serve(ctx context.Context) (site, error) {
	if err := os.WriteFile(f.names, []byte("127.0.0.1 localhost\n127.0.0.1 "+fileHost+"\n"), 0o644); err != nil {
		return site{}, fmt.Errorf("name of the documents' host: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return site{}, fmt.Errorf("serving %s: %w", f.dir, err)
	}
	rec := &recorder{next: http.FileServer(http.Dir(f.dir))}
	srv := &http.Server{Handler: rec, ReadHeaderTimeout: time.Minute}
	go srv.Serve(l)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return site{
		task: Task{Seeds: []string{"http://" + fileHost + ":" + port + path.Join("/", f.first)},
			Hosts: []string{fileHost}},
		log:     rec.entries,
		allowed: func(string, string) bool { return true },
		close:   srv.Close,
	}, nil
}

// recorder logs requests.
type recorder struct {
	next http.Handler
	mu   sync.Mutex
	log  []fakeweb.Entry
	conn atomic.Uint64
}

func (r *recorder) entries() []fakeweb.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]fakeweb.Entry(nil), r.log...)
}

// ServeHTTP implements http.Handler.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	e := fakeweb.Entry{Host: fileHost, Path: req.URL.RequestURI(), Method: req.Method, Start: time.Now().UnixNano(),
		Conn: r.conn.Add(1), UserAgent: req.UserAgent()}
	kept := &status{ResponseWriter: w, code: http.StatusOK}
	r.next.ServeHTTP(kept, req)
	e.Status, e.End = kept.code, time.Now().UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, e)
}

// status remembers the status of an answer.
type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}
