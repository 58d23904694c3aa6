package wacz

import (
	"regexp"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

var wwwPrefix = regexp.MustCompile(`^(https?://)www\d*\.`)

// surt is the key of a URL in the index: its host in reverse order, then path and query, in lower case and with the
// parts of the query sorted. It is reckoned as the readers of such files do, who look for it.
func surt(href string) string {
	u, err := weburl.Parse(strings.ToLower(wwwPrefix.ReplaceAllString(href, "$1")))
	if err != nil {
		return strings.ReplaceAll(strings.ToLower(href), " ", "%20")
	}
	parts := strings.Split(u.Hostname(), ".")
	slices.Reverse(parts)
	key := strings.Join(parts, ",")
	if u.Port() != "" {
		key += ":" + u.Port()
	}
	key += ")" + u.Path()
	if u.Query() != "" {
		query := strings.Split(u.Query(), "&")
		slices.Sort(query)
		key += "?" + strings.Join(query, "&")
	}
	return key
}
