package explore

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// plain is a string as answers give it.
func plain(s string, most int) string { return plaintext.Of(s, most) }

// level is plain for a text in which places are counted in bytes.
func level(s string) string { return plaintext.Level(s) }

// asStored returns a part of a URL as URLs are stored: their letters of other scripts are percent-encoded.
func asStored(part string) string {
	var b strings.Builder
	for i := range len(part) {
		if part[i] < utf8.RuneSelf {
			b.WriteByte(part[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", part[i])
		}
	}
	return b.String()
}
