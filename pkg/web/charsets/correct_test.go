package charsets

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func TestDeclarationsThatTheBodyRefutes(t *testing.T) {
	const ru, ja, fr = "<p>Старая гавань этого города", "<p>古い港は昔から小さな町の", "<p>déjà vu à l'été, où ça"
	bytes := func(s string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	in1251 := bytes(charmap.Windows1251.NewEncoder().String(ru))
	for _, c := range []struct{ name, body, contentType, charset, want string }{
		{"Cyrillic called UTF-8", in1251, "text/html; charset=utf-8", "windows-1251", ru},
		{"French called UTF-8", bytes(charmap.Windows1252.NewEncoder().String(fr)), "; charset=utf-8", "windows-1252",
			fr},
		{"Japanese called UTF-8", "<meta charset=utf-8>" + bytes(japanese.ShiftJIS.NewEncoder().String(ja+ja)), "",
			"shift_jis",
			"<meta charset=utf-8>" + ja + ja},
		{"UTF-8 called Latin-1", fr, "text/html; charset=iso-8859-1", "utf-8", fr},
		{"UTF-8 called GBK", ja, "text/html; charset=gbk", "utf-8", ja},
		{"UTF-8 with faults", ru + "\xff\xfe\xe9 \xe9", "; charset=utf-8", "utf-8", ru + "\uFFFD\uFFFD\uFFFD \uFFFD"},
		{"a slip", "a\xffb", "; charset=utf-8", "utf-8", "a\uFFFDb"},
		{"a quote that does not close", "\xc4\xe3\xba\xc3", `text/html; charset="gbk`, "gbk", "你好"},
		{"two letters of Latin-1", "\xc3\xa9", "; charset=iso-8859-1", "windows-1252", "Ã©"},
		{"GB18030 called GB2312", bytes(simplifiedchinese.GB18030.NewEncoder().String("老港口㐀")), "; charset=gb2312", "gbk",
			"老港口㐀"},
		{"UTF-16 without a mark", bytes(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(ru)), "",
			"utf-16le", ru},
		{"JIS without a declaration", bytes(japanese.ISO2022JP.NewEncoder().String(ja)), "", "iso-2022-jp", ja},
		{"JIS called UTF-8 stays", "\x1b$B", "; charset=utf-8", "utf-8", "\x1b$B"},
	} {
		text, name, _ := Decode([]byte(c.body), c.contentType)
		if name != c.charset || strings.TrimRight(string(text), "\n") != c.want {
			t.Errorf("%s: %s %q, want %s %q", c.name, name, text, c.charset, c.want)
		}
	}
}
