package postgres

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Lengths in bytes beyond which text is cut.
const (
	maxReason = 48
	maxDetail = 8 << 10
	maxKey    = 256 // of a key of an index; PostgreSQL's own limit is about 2,700
)

// clean makes s a text that the server takes, of at most limit bytes.
func clean(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// indexed makes s a key of an index. One that is too long, or no text, ends in its hash, so that keys stay apart.
func indexed(s string) string {
	if len(s) <= maxKey && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	sum := xxh3.HashString128(s).Bytes()
	return clean(s, maxKey-3*2*len(sum)) + "#" + hex.EncodeToString(sum[:])
}

// optional is s cleaned; nil for the empty string, which takes no room as null.
func optional(s string, limit int) *string {
	if s == "" {
		return nil
	}
	s = clean(s, limit)
	return &s
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
