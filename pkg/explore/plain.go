package explore

import "github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"

// plain is a string as answers give it.
func plain(s string, most int) string { return plaintext.Of(s, most) }

// level is plain for a text in which places are counted in bytes.
func level(s string) string { return plaintext.Level(s) }
