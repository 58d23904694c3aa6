package charsets_test

import (
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/charsets"
)

// A query is in the encoding of its document, but for UTF-16, and what is before and behind it is not.
func TestEncodeQuery(t *testing.T) {
	for _, c := range [][3]string{
		{"text/html; charset=iso-8859-1", "/é?q=é#é", "/é?q=%E9#é"},
		{"text/html; charset=iso-8859-1", "?q=Ж&x='1'", "?q=%26%231046%3B&x='1'"},
		{"text/html; charset=koi8-r", "?Ж", "?%F6"},
		{"text/html; charset=utf-8", "?é", "?é"},
		{"text/html; charset=utf-16le", "?é", "?é"},
		{"text/html; charset=iso-8859-1", "/é", "/é"},
	} {
		_, _, enc := charsets.Decode([]byte("x"), c[0])
		if got := charsets.EncodeQuery(c[1], enc); got != c[2] {
			t.Errorf("%s in %s: %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
