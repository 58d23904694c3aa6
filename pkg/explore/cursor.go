package explore

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/zeebo/xxh3"
)

// The bounds of a page.
const (
	defaultLimit = 50
	maxLimit     = 200
)

func limitOf(p Page) int {
	if p.Limit <= 0 {
		return defaultLimit
	}
	return min(p.Limit, maxLimit)
}

// cursor is the place where a list continues. Of names the list that it belongs to.
type cursor struct {
	Of    string  `json:"o"`
	ID    int64   `json:"i,omitempty"`
	Text  string  `json:"t,omitempty"`
	Num   float64 `json:"n,omitempty"`
	Phase int     `json:"p,omitempty"`
	Key   string  `json:"k,omitempty"`
}

// listOf names a list by its filter.
func listOf(parts ...any) string {
	b, _ := json.Marshal(parts) // strings, numbers and maps of them
	return strconv.FormatUint(xxh3.Hash(b), 36)
}

func (c cursor) encode() string {
	b, _ := json.Marshal(c) // as above
	return base64.RawURLEncoding.EncodeToString(b)
}

// maxCursor bounds a cursor: one of a queue has the name of a host.
const maxCursor = 2_000

// cursorFrom reads a cursor; of names the list. The zero cursor is the start.
func cursorFrom(p Page, of string) (c cursor, err error) {
	if p.Cursor == "" {
		return cursor{Of: of}, nil
	}
	if len(p.Cursor) > maxCursor {
		return c, ErrCursor
	}
	b, err := base64.RawURLEncoding.DecodeString(p.Cursor)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Of != of {
		return c, fmt.Errorf("%w (%s)", ErrCursor, plain(p.Cursor, 40))
	}
	return c, nil
}
