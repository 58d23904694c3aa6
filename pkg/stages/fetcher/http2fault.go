package fetcher

import (
	"strings"
	"sync"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The errors of net/http about HTTP/2 have types that are not exported, so their texts are read. Their numbers of
// streams would make each of them look different.

// fromPeer ends the text of an error about a stream that the server broke off.
const fromPeer = "; received from peer"

// diagnoseHTTP2 knows what goes wrong in HTTP/2 (RFC 9113, section 7).
func diagnoseHTTP2(err error) (Fault, bool) {
	text := err.Error()
	broken := func(detail string) (Fault, bool) {
		return Fault{crawl.VerdictRetry, crawl.ReasonBroken, detail}, true
	}
	_, stream, isStream := strings.Cut(text, "stream error: stream ID ")
	_, conn, isConn := strings.Cut(text, "connection error: ")
	switch {
	case strings.Contains(text, "ENHANCE_YOUR_CALM"):
		return broken("the server asks for fewer requests (HTTP/2: ENHANCE_YOUR_CALM)")
	case strings.Contains(text, "HTTP_1_1_REQUIRED"):
		return broken("the server wants HTTP/1.1 for this, and is asked in that way from now on (HTTP/2: HTTP_1_1_REQUIRED)")
	case strings.Contains(text, "frame header looked like an HTTP/1.1 header"):
		return broken("the server agreed on HTTP/2 and answers in HTTP/1.1, in which it is asked from now on")
	case strings.Contains(text, "client connection lost"):
		return broken("the server fell silent: it answers no ping of HTTP/2")
	case strings.Contains(text, "server sent GOAWAY"):
		_, code, _ := strings.Cut(text, "ErrCode=")
		code, _, _ = strings.Cut(code, ",")
		return broken("the server closed the connection before the answer was complete (HTTP/2: " + cut(code) + ")")
	case isStream && strings.HasSuffix(stream, fromPeer):
		_, code, _ := strings.Cut(strings.TrimSuffix(stream, fromPeer), "; ")
		return broken("the server broke the answer off (HTTP/2: " + cut(code) + ")")
	case isStream:
		_, why, _ := strings.Cut(stream, "; ")
		return broken("the answer is no valid HTTP/2: " + cut(why))
	case isConn:
		return broken("the answer is no valid HTTP/2, or its headers are much too large: " + cut(conn))
	}
	return Fault{}, false
}

// brokenOff reports whether the server ended a stream, or the connection, before the end of an answer, and not because
// it is asked too often.
func brokenOff(err error) bool {
	text := err.Error()
	return !isCalm(err) && (strings.Contains(text, "stream error: ") && strings.HasSuffix(text, fromPeer) ||
		strings.Contains(text, "server sent GOAWAY") || strings.Contains(text, "client connection lost"))
}

// isCalm reports whether an error asks for fewer requests, as status 429 does.
func isCalm(err error) bool { return strings.Contains(err.Error(), "ENHANCE_YOUR_CALM") }

// needsHTTP1 reports whether a host may answer in HTTP/1.1 what it cannot, or does not want to, in HTTP/2.
func needsHTTP1(err error) bool {
	text := err.Error()
	return strings.Contains(text, "HTTP_1_1_REQUIRED") ||
		strings.Contains(text, "frame header looked like an HTTP/1.1 header") ||
		strings.Contains(text, "connection error: ") ||
		strings.Contains(text, "stream error: ") && strings.Contains(text, "PROTOCOL_ERROR") &&
			!strings.HasSuffix(text, fromPeer)
}

// maxOldHosts bounds the memory of oldHosts.
const maxOldHosts = 10_000

// oldHosts are those that are asked in HTTP/1.1, or in another way of their own, by host and port. Whoever is forgotten
// is found anew.
type oldHosts struct {
	mu    sync.Mutex
	hosts map[string]bool
}

func (o *oldHosts) has(host string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.hosts[host]
}

// learn notes a host by what its answer failed with.
func (o *oldHosts) learn(host string, err error) {
	if err != nil && needsHTTP1(err) {
		o.note(host)
	}
}

func (o *oldHosts) note(host string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hosts == nil || len(o.hosts) >= maxOldHosts {
		o.hosts = map[string]bool{}
	}
	o.hosts[host] = true
}
