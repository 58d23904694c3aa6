package fetcher

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Client makes requests for the fetcher. The one over HTTP is the default; a browser that renders can be another.
//
// A client makes requests and does nothing else: robots.txt, verdicts, redirects, decoding, limits of size, the spool
// and the archive are the handler's job. It is safe for concurrent use.
type Client interface {
	// Do makes one request and returns when the head of the answer is in. It follows no redirect and repeats nothing by
	// itself. It keeps the limits of the job that concern time and headers. The exchange is never nil; after an error it
	// has no answer, and knows only whether and when the host was contacted. An error that is a [Fault] says itself what
	// it means for the URL.
	Do(ctx context.Context, r Request) (Exchange, error)
	// Close closes the connections that no request uses.
	Close()
}

// Request is what a client is asked for: the URL of a task, under its job's rules.
type Request struct {
	Job  *crawl.Job
	Task *crawl.Task
	// Addr is the address that the frontier reckoned with; invalid: none. It is contacted first.
	Addr netip.Addr
	// FirstWait is as in crawl.Fetch.
	FirstWait time.Duration
	// Bandwidth is as in crawl.Fetch.
	Bandwidth int64
	// Private permits addresses that are not public.
	Private bool
	// Header has fields to send besides, or in the place of, those that all requests have; nil: none. The values may be
	// secrets: a client writes them nowhere.
	Header http.Header
	// Form is what a form posts, encoded; nil: the request is a GET. It may hold secrets.
	Form []byte
}

// Exchange is a request that was made and its answer. One goroutine uses it.
type Exchange interface {
	// Answer is the head of the answer; its zero value where there is none.
	Answer() Answer
	// Sent is the header of the request with its Host, for the archive. The caller may change it.
	Sent() http.Header
	// Reader reads the body, before any Content-Encoding is undone. An error other than io.EOF says why the rest of the
	// body cannot be had; it is diagnosed like an error of Client.Do.
	io.Reader
	// Close ends the exchange. When it returns, the host is not busy with it any more. It is called once.
	Close() Contact
}

// Answer is the head of an answer.
type Answer struct {
	Code   int    // 200
	Status string // "200 OK"
	Proto  string // "HTTP/1.1"
	Header http.Header
	Length int64     // of the body as it comes; -1: unknown
	At     time.Time // when the head was in
	// Insecure is what is wrong with the certificate of the server, where the job fetches all the same; empty: nothing.
	Insecure string
}

// Contact is when and where a host was contacted. Started is zero where it was not.
type Contact struct {
	Started, Ended time.Time
	FirstByte      time.Duration // from Started to the head of the answer; 0: no answer
	Addr           netip.Addr    // of the host; invalid where only a proxy knows it
}
