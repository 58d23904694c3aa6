package export

import (
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/jsonl"
)

func digest(d crawl.Digest) string {
	if d.IsZero() {
		return ""
	}
	return d.String()
}

func hex64(v uint64) string { return fmt.Sprintf("%016x", v) }

func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// linkText is the URL of a link, or what was in the page in its place.
func linkText(l *crawl.Link) string {
	if l.URL.IsZero() {
		return l.Raw
	}
	return l.URL.String()
}

// fieldText is a field's value as one text; null is empty.
func fieldText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return string(jsonl.AppendValue(nil, v))
}

const listSeparator = "; "

// cellText is a field's value for a CSV cell: as fieldText, but a list is joined. guard: it is text of a stranger.
func cellText(v any) (s string, guard bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []any:
		if hasObject(v) {
			return fieldText(v), true
		}
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = fieldText(v[i])
		}
		return strings.Join(parts, listSeparator), true
	case float64, bool:
		return fieldText(v), false
	}
	return fieldText(v), true
}
