package traps

import (
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// VariantKey returns the key under which URLs are variants of one page: same host, same path, same names of query
// keys in any order and number, whatever their values. A caller who counts fresh URLs by this key can give each page
// a budget of variants (faceted lists, sort orders, session ids). ok is false where there is no query key.
func VariantKey(u weburl.URL) (key string, ok bool) {
	query := u.Query()
	if query == "" {
		return "", false
	}
	var room [16]string
	names := room[:0]
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if name, _, _ := strings.Cut(pair, "="); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", false
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var b strings.Builder
	b.Grow(len(u.String()))
	b.WriteString(u.HostKey())
	b.WriteString(u.Path())
	for i, name := range names {
		b.WriteByte("?&"[min(i, 1)])
		b.WriteString(name)
	}
	return b.String(), true
}
