package htmlscan

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// ours and theirs print a document's tokens, a line each, by this package and by golang.org/x/net/html.
func ours(doc []byte) (lines []string) {
	var s Scanner
	s.Reset(doc)
	for {
		switch s.Next() {
		case End:
			return lines
		case Text:
			raw, escaped := s.Text()
			if escaped {
				raw = appendDecoded(nil, raw, false)
			}
			lines = addText(lines, raw)
		case EndTag:
			lines = append(lines, "end "+s.Tag().String())
		case StartTag:
			lines = append(lines, "start "+s.Tag().String()+attrs(&s))
		}
	}
}

func attrs(s *Scanner) string {
	var b strings.Builder
	seen := map[string]bool{}
	for i := range s.Attrs() {
		name, val := s.Attr(i)
		if key := nulls(name); !seen[key] {
			fmt.Fprintf(&b, " %q=%q", key, Value(val))
			seen[key] = true
		}
	}
	return b.String()
}

func theirs(doc []byte) (lines []string) {
	z := html.NewTokenizer(bytes.NewReader(doc))
	for {
		switch k := z.Next(); k {
		case html.ErrorToken:
			return lines
		case html.TextToken:
			lines = addText(lines, z.Text())
		case html.EndTagToken:
			name, _ := z.TagName()
			lines = append(lines, "end "+lookup(name).String())
		case html.StartTagToken, html.SelfClosingTagToken:
			lines = append(lines, "start "+startTag(z))
		}
	}
}

func startTag(z *html.Tokenizer) string {
	name, more := z.TagName()
	if string(name) == "noscript" {
		z.NextIsNotRawText() // scripts do not run
	}
	var b strings.Builder
	b.WriteString(lookup(name).String())
	for more {
		var key, val []byte
		key, val, more = z.TagAttr()
		fmt.Fprintf(&b, " %q=%q", nulls(key), val)
	}
	return b.String()
}

// addText joins neighbouring pieces of text, as where to cut them is free, and hides that the one keeps carriage
// returns and NUL bytes where the other does not always.
func addText(lines []string, b []byte) []string {
	s := strings.NewReplacer("\r", "", "\n", "", "\x00", "", "\uFFFD", "").Replace(string(b))
	if n := len(lines); n > 0 && strings.HasPrefix(lines[n-1], "text ") {
		lines[n-1] += s
		return lines
	}
	return append(lines, "text "+s)
}

func nulls(b []byte) string { return strings.ReplaceAll(string(b), "\x00", "\uFFFD") }

var documents = []string{
	`<!DOCTYPE html><p class="a b" id=x>one <b>two</b><br/>three &amp; four</p>`,
	`<A HREF='x?a=1&copy=2&amp;b=3' rel=nofollow>t</A>`,
	`<a href=x/>y</a><a href=/><a / b><a/b=c/d><a =x=y><a a a=1>`,
	`a < b <3 <> </> </ x> <!x> <?php echo "<a>" ?> </3>`,
	`<!----><!---><!-->-->x<!-- a -- b --!>y<!-- a --- > --->z<!-- open <a href=x>`,
	`<script>if (a</b) "</scr" + "ipt>"</script>1<script><!-- <script> </script> --></script>2`,
	`<script><!--></script>1<script><!---></script>2<script><!-- <script>-->x</script>3`,
	`<script><!-- <script></script><a></script>4<SCRIPT></SCRIPT >5<script></scripty></script/>6`,
	`<style><a></style><title>a<b>&amp;</title><textarea></textarea><xmp>&amp;</xmp><iframe><a></iframe>x`,
	`<noscript><a href=x></noscript><noframes><a></noframes><title>never closed <a href=x>`,
	`<plaintext></plaintext><a>`, `<title`, `<a href="x`, `<a href="x" `, `x</`, `x<`, `<!`, `<!-`, `<a b='`, `</a x="`,
	`<p a="&lt;&ltx&lt=&lt1;&lt" b=&notit; c=&not d=&#x41;&#65b&#;&# e="&NotEqualTilde;&semi;&fjlig;">&notit; &ltx &amp`,
	"<a\x00b c\x00d=e\x00f\r\ng h='\r\n'>x\x00y</a\x00b>",
	"<a b=\"&#13;\r\n&#xd=\r\x00\">",
	`<![CDATA[ x <a> ]]> y`, `<svg><title><a></title></svg>`, `<a"b'c=d"e'f><a b="c"d="e"><a b='c'/d>`, "<a\fb\n=\r'c'\t>",
}

func TestTokensEqualTheReference(t *testing.T) {
	for _, doc := range documents {
		if got, want := ours([]byte(doc)), theirs([]byte(doc)); !slices.Equal(got, want) {
			t.Errorf("%q\n got %s\nwant %s", doc, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

func FuzzTokensEqualTheReference(f *testing.F) {
	for _, doc := range documents {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if escapedScript.Match(doc) {
			t.Skip("the reference leaves the escaped state at <!-- << in a script")
		}
		if longNumber.Match(doc) {
			t.Skip("the reference's numbers overflow")
		}
		if got, want := ours(doc), theirs(doc); !slices.Equal(got, want) {
			t.Errorf("%q\n got %s\nwant %s", doc, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	})
}

var longNumber = regexp.MustCompile(`&#[xX]?[0-9a-fA-F]{8}`)

// Numbers that are no characters become U+FFFD, however long they are, and take all of their digits.
func TestNumbersOfReferences(t *testing.T) {
	for ref, want := range map[string]string{
		"&#65;": "A", "&#x41;": "A", "&#X4a;": "J", "&#65b": "Ab", "&#x1F600;": "\U0001F600",
		"&#000000000000000000000000000000000000000000065;": "A", "&#0;": "\uFFFD", "&#xD800;": "\uFFFD",
		"&#x110000;": "\uFFFD", "&#4294967361;": "\uFFFD", "&#xFFFFFFFF41;": "\uFFFD",
		"&#888888888888888888888888884448888888444": "\uFFFD", "&#" + strings.Repeat("9", 1<<20) + ";x": "\uFFFDx",
		"&#128;": "\u20AC", "&#x9f;": "\u0178", "&#129;": "\u0081", "&#;": "&#;", "&#x;": "&#x;", "&#xg": "&#xg", "&#": "&#",
		"&#13;": "\r",
	} {
		for _, inAttr := range []bool{false, true} {
			if got := string(appendDecoded(nil, []byte(ref), inAttr)); got != want {
				t.Errorf("%.50s in an attribute %v: %q, want %q", ref, inAttr, got, want)
			}
		}
	}
}

var escapedScript = regexp.MustCompile(`(?is)<script.*<!--`)

// The states of 13.2.5.20 to 13.2.5.31, beyond what the reference gets right.
func TestScriptEndsWhereTheStandardSays(t *testing.T) {
	for text, ends := range map[string]bool{
		`<!-- <<script> </script>`: false, `<!-- << </script>`: true, `<!-- <script> --> </script>`: true,
		`<!-- <script> </script> </script>`: true, `<!-- <script> </script> <script> </script>`: false,
		`<!-- <scripty> </script>`: true, `<!--> <script> </script>`: true, `<!- <script> </script>`: true,
	} {
		got := ours([]byte("<script>" + text))
		if last := got[len(got)-1]; (last == "end script") != ends {
			t.Errorf("%s: tokens %q, want the script ended: %v", text, got, ends)
		}
	}
}

func TestCDATAIsTextWhereAllowed(t *testing.T) {
	var s Scanner
	for doc, want := range map[string]string{`<![CDATA[a<b>&amp;]]>c`: "a<b>&amp;", `<![CDATA[a]]`: "a]]",
		`<![CDATA[]]>c`: "c"} {
		s.Reset([]byte(doc))
		s.AllowCDATA(true)
		if k := s.Next(); k != Text {
			t.Fatalf("%s: token %d, want text", doc, k)
		}
		if got, _ := s.Text(); string(got) != want {
			t.Errorf("%s: text %q, want %q", doc, got, want)
		}
	}
}

func TestEveryNameIsFound(t *testing.T) {
	for tag := Other + 1; tag < Tags; tag++ {
		if got := lookup([]byte(tag.String())); got != tag {
			t.Errorf("lookup(%q) = %q", tag, got)
		}
	}
	if got := lookup([]byte("blink")); got != Other {
		t.Errorf("lookup(blink) = %q", got)
	}
}

// A hostile document must not cost more than its size explains: none of these may be quadratic. 1 MB takes some ms
// each when linear, and half a minute or more when not.
func TestHostileDocumentsTakeLinearTime(t *testing.T) {
	const size = 1 << 20
	for _, unit := range []string{"<", "<!--", "<!-- -- ", "</", "<script>", "<script><!--<", "<script><!--<script", "<a ",
		"<a b=\"", "<a a a a a ", "<title></titl", "&", "&#", "&ltltltlt", "<![CDATA[", "<!-->--!", "\x00", "<a b='c'd=\"e\"",
		"</script"} {
		t.Run(unit, func(t *testing.T) {
			doc, start := bytes.Repeat([]byte(unit), size/len(unit)), time.Now()
			var s Scanner
			s.Reset(doc)
			for k := s.Next(); k != End; k = s.Next() {
				if raw, escaped := s.Text(); k == Text && escaped {
					appendDecoded(nil, raw, false)
				}
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("%v for %d MB", d, size>>20)
			}
			if s.Offset() != len(doc) {
				t.Errorf("read %d of %d bytes", s.Offset(), len(doc))
			}
		})
	}
}

func TestTokensDoNotAllocate(t *testing.T) {
	doc := []byte(strings.Repeat(`<div class="x y"><A href="/a?b=c">text</A> more</div>`, 100))
	var s Scanner
	s.Reset(doc)
	drain(&s)
	least := math.Inf(1) // the runtime counts what its own goroutines allocate meanwhile, too
	for range 20 {
		least = min(least, testing.AllocsPerRun(10, func() { s.Reset(doc); drain(&s) }))
	}
	if least != 0 {
		t.Errorf("%v allocations a document, want 0", least)
	}
}

func drain(s *Scanner) {
	for s.Next() != End {
		continue
	}
}
