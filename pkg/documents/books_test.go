package documents

import (
	"slices"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

const container = `<container><rootfiles><rootfile full-path="OEBPS/a.opf"/></rootfiles></container>`

// bookOf is an EPUB book of two chapters, in another order than its files.
func bookOf(t *testing.T, more ...string) []byte {
	return archive(t, texts(append([]string{"mimetype", "application/epub+zip", "META-INF/container.xml", container,
		"OEBPS/a.opf", `<package><metadata><dc:title>Tides</dc:title><dc:title>A second title</dc:title><dc:creator>Ann` +
			`</dc:creator><dc:creator>Bea</dc:creator><dc:language>EN</dc:language><dc:date>2020-01-02</dc:date>` +
			`<meta property="dcterms:modified">2021-02-03T04:05:06Z</meta></metadata><manifest>` +
			`<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>` +
			`<item id="1" href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>` +
			`<item id="2" href="two.xhtml#x" media-type="application/xhtml+xml"/></manifest>` +
			`<spine><itemref idref="n"/><itemref idref="2"/><itemref idref="1"/></spine></package>`,
		"OEBPS/nav.xhtml", "<html><body><p>contents</p></body></html>",
		"OEBPS/text/one a.xhtml", `<html><head><title>no</title></head><body><h1>One</h1><p>a&nbsp;<ruby>東<rt>no</rt></ruby>b<br/>c` +
			`</p><table><tr><td>1</td><td>2</td></tr></table><script>no</script></body></html>`,
		"OEBPS/two.xhtml", `<html><body><div>Two <a href="http://a.test/">there</a> <a href="one.xhtml">here</a></div></body></html>`,
	}, more...)...))
}

func TestBooksAreReadInTheirOrder(t *testing.T) {
	got := openOffice(request("", bookOf(t)), kindEPUB)
	if want := "Two there here\nOne\na 東b c\n1 2"; got.Text != want || got.Reason != "" {
		t.Errorf("%q %s, want %q", got.Text, got.Detail, want)
	}
	if got.Title != "Tides" || got.Author != "Ann, Bea" || got.Lang != "en" || got.Pages != 2 ||
		got.Created.Year() != 2020 || got.Modified.Year() != 2021 || !slices.Equal(got.Links, []string{"http://a.test/"}) {
		t.Errorf("%+v", got)
	}
}

func TestBooksThatCannotBeRead(t *testing.T) {
	cipher := func(file string) []string {
		return []string{"META-INF/encryption.xml", `<e><CipherReference URI="` + file + `"/></e>`}
	}
	locked := openOffice(request("", bookOf(t, cipher("OEBPS/two.xhtml")...)), kindEPUB)
	if got := locked; got.Reason != crawl.ReasonDocumentEncrypted {
		t.Errorf("an encrypted chapter: %+v", got)
	}
	if got := openOffice(request("", bookOf(t, cipher("OEBPS/font.otf")...)), kindEPUB); got.Reason != "" {
		t.Errorf("an encrypted font: %+v", got)
	}
	if got := openOffice(request("", archive(t, texts("a", "b"))), kindEPUB); got.Reason != crawl.ReasonDocumentBroken {
		t.Errorf("no book: %+v", got)
	}
}

func TestRichText(t *testing.T) {
	for in, want := range map[string]string{
		`{\rtf1\ansi{\fonttbl{\f0 Arial;}}{\colortbl;\red0;}\pard one\par two\line three{\b four}\tab five}`: "one\ntwo\nthreefour five",
		`{\rtf1\ansi\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2}`:                                                  "Привет",
		`{\rtf1\ansi{\fonttbl{\f1\fcharset128 MS;}}{\f1 \'93\'8c\'8b\'9e}\'e9}`:                              "東京é",
		`{\rtf1\ansi\ansicpg932 \'83\'5c\'83A}`:                                                              "ソア",
		`{\rtf1 \uc1\u8217\'92s \u26481?\u-10179?\u-8704?{\uc0\u233}x}`:                                      "’s 東😀éx",
		`{\rtf1 a\~b\_c\-d\\\{\}\emdash e}`:                                                                  "a b-cd\\{}—e",
		`{\rtf1{\header no}{\*\unknown no {no}}{\pict 00ff}{\v no}a{\deleted no}\bin3 }}}b{\footnote c}}`:    "ab c",
		"{\\rtf1 one\r\ntwo\\\nthree}":                                                                       "onetwo\nthree",
		`{\rtf1\trowd a\cell b\cell\row c}`:                                                                  "a b\nc",
	} {
		if got := openRTF(request("", []byte(in))); got.Text != want || got.Reason != "" {
			t.Errorf("%s: %q %s, want %q", in, got.Text, got.Detail, want)
		}
	}
	got := openRTF(request("", []byte(`{\rtf1{\info{\title T\'e9}{\author Ann}{\creatim\yr2020\mo1\dy2\hr3\min4}{\operator no}}`+
		`{\field{\*\fldinst{HYPERLINK "http://a.test/x"}}{\fldrslt{\ul there}}}{\field{\*\fldinst PAGE}{\fldrslt 1}}`)))
	if got.Title != "Té" || got.Author != "Ann" || got.Text != "there1" ||
		!slices.Equal(got.Links, []string{"http://a.test/x"}) ||
		!got.Created.Equal(time.Date(2020, 1, 2, 3, 4, 0, 0, time.UTC)) || !slices.Contains(got.Cut, cutText) {
		t.Errorf("%+v", got)
	}
	for _, in := range []string{"", "text", `{\rtf`, `{\rtf1\'`, `{\rtf1\u`, `{\rtf1 \bin99999999999999999999 `} {
		if got := openRTF(request("", []byte(in))); got.Reason == "" && got.Text != "" {
			t.Errorf("%q: %+v", in, got)
		}
	}
}
