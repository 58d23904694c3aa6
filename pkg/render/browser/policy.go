package browser

import (
	"net/http"
	"net/url"
	"path"

	"github.com/whirlpool-crawler/whirlpool/pkg/render"
)

// The reasons why a request fails, as the protocol's Network.ErrorReason names them.
const (
	blocked = "BlockedByClient"
	aborted = "Aborted"
)

// pixel is the smallest picture, a transparent one (GIF).
var pixel = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;")

// action is what becomes of a page's request.
type action struct {
	kind actionKind
	fail string // why it is refused
}

type actionKind int

const (
	askServe  actionKind = iota
	leave                // the browser answers by itself: nothing of it is in a network
	refuse               // fails at once
	empty                // 200 without an octet
	blank                // a picture of one pixel, so that who waits for it goes on
	preflight            // the question before a request to another origin: yes
)

// notWanted are the types of what adds neither links nor text.
var notWanted = map[string]bool{
	"Image": true, "Font": true, "Media": true, "TextTrack": true, "Ping": true, "Manifest": true, "Prefetch": true,
	"EventSource": true, "CSPViolationReport": true, "FedCM": true, "WebSocket": true, "SignedExchange": true,
}

// seen are the types of what a picture shows.
var seen = map[string]bool{"Image": true, "Font": true}

// policy says which requests are put to serve. A page may read, and only from where we read for it.
func policy(sub render.Sub, screenshot bool) action {
	u, err := url.Parse(sub.URL)
	if err != nil {
		return action{refuse, blocked}
	}
	switch u.Scheme {
	case "data", "blob", "about":
		return action{kind: leave}
	case "http", "https":
	default:
		return action{refuse, blocked}
	}
	switch {
	case sub.Method == http.MethodOptions && sub.Type == "Preflight":
		return action{kind: preflight}
	case sub.Method == http.MethodHead: // answered by what a GET gets, without the body
		return action{}
	case sub.Method != http.MethodGet:
		return action{refuse, blocked}
	case sub.Type == "Image" && !screenshot && path.Base(u.Path) != "favicon.ico":
		return action{kind: blank}
	case notWanted[sub.Type] && (!screenshot || !seen[sub.Type]), path.Base(u.Path) == "favicon.ico":
		return action{refuse, blocked}
	case sub.Type == "Stylesheet" && !screenshot:
		return action{kind: empty}
	}
	return action{}
}
