package fetcher

import (
	"context"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// noFilesFor is a spool that can open no file.
type noFilesFor struct{ Bodies }

func (noFilesFor) Put(context.Context, io.Reader) (crawl.BodyRef, error) {
	return "", &net.OpError{Op: "open", Err: syscall.EMFILE}
}

// A crawler that can open no more files says so, and blames no host: nothing of it is final, the rules of a robots.txt
// least of all.
func TestNoFilesIsNoHostsFault(t *testing.T) {
	page := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>hello")
	}
	for name, tc := range map[string]struct {
		kind crawl.Kind
		harm func(b *bench)
	}{
		"no connection for a page":     {crawl.KindPage, noSockets},
		"no connection for robots.txt": {crawl.KindRobots, noSockets},
		"no file for a body":           {crawl.KindPage, func(b *bench) { b.h.deps.Bodies = noFilesFor{b.h.deps.Bodies} }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(*crawl.Job) {}, page, func(b *bench, url string) {
				tc.harm(b)
				r := b.get(url+"/robots.txt", func(f *crawl.Fetch) { f.Task.Kind, f.Task.Attempt = tc.kind, 99 })
				r.want(t, crawl.VerdictRetry, crawl.ReasonOpenFiles)
				if r.Robots != nil {
					t.Errorf("rules come of it: %+v", r.Robots)
				}
			})
		})
	}
}

func noSockets(b *bench) {
	b.transports().dial = func(transportKey) dialFunc {
		return func(context.Context, string, string) (net.Conn, error) {
			return nil, &dialError{err: &net.OpError{Op: "dial", Err: syscall.EMFILE}}
		}
	}
	b.transports().dropAll()
}
