package browser

import (
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/network"
)

// common are the fields of a request that a browser sets, or the fetcher does: not the page's.
var common = map[string]bool{"user-agent": true, "referer": true, "origin": true, "host": true,
	"connection": true, "accept-encoding": true, "accept-language": true, "cache-control": true, "pragma": true,
	"range": true, "purpose": true, "upgrade-insecure-requests": true, "upgrade": true, "te": true, "dnt": true,
	"priority": true, "content-length": true, "access-control-request-method": true,
	"access-control-request-headers": true, "expect": true, "from": true, "date": true,
	"if-none-match": true, "if-modified-since": true, "transfer-encoding": true, "trailer": true, "via": true,
	"keep-alive": true}

// Bounds on the fields that a script may set.
const (
	mostFields  = 16
	longestText = 2048 // of a value, in octets
)

// own are the fields that the page's script has set; nil: none.
func own(h network.Headers) (out map[string]string) {
	for name, v := range h {
		key, value := strings.ToLower(name), fmt.Sprint(v)
		switch {
		case common[key], strings.HasPrefix(key, "sec-"), strings.HasPrefix(key, "proxy-"), strings.HasPrefix(key, ":"),
			len(value) > longestText:
			continue
		case key == "accept" && (value == "*/*" || strings.HasPrefix(value, "text/html") ||
			strings.HasPrefix(value, "text/css") || strings.HasPrefix(value, "image/")):
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	if len(out) > mostFields {
		return nil
	}
	return out
}
