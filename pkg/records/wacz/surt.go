package wacz

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var wwwPrefix = regexp.MustCompile(`^(https?://)www\d*\.`)

// surt is the key of a URL in the index: its host in reverse order, then path and query, in lower case and with the
// parts of the query sorted. It is reckoned as the readers of such files do, who look for it.
func surt(href string) string {
	u, err := url.Parse(strings.ToLower(wwwPrefix.ReplaceAllString(href, "$1")))
	if err != nil || u.Host == "" {
		return strings.ToLower(href)
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	key := strings.Join(parts, ",")
	if u.Port() != "" {
		key += ":" + u.Port()
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	key += ")" + path
	if u.RawQuery != "" {
		query := strings.Split(u.RawQuery, "&")
		slices.Sort(query)
		key += "?" + strings.Join(query, "&")
	}
	return key
}
