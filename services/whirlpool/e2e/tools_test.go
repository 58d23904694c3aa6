package e2e_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
)

// inFile writes a file for a tool.
func inFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The exit status is the answer: 0 may be fetched, 1 may not, 2 the question makes no sense. Sections are those of RFC
// 9309.
func TestToolRobotsFollowsRFC9309(t *testing.T) {
	long(t)
	const groups = "User-agent: *\nDisallow: /all\nUser-agent: a\nUser-Agent: B\nDisallow: /own\nUser-agent: a\n" +
		"Disallow: /more\n"
	const paths = "\xEF\xBB\xBFuser-agent:x # c\r\ndisallow: /p\rAllow: /p/ok\nDisallow: *.gif$\nDisallow: /e$\n" +
		"Allow: /\nDisallow: /%7Et/\nDisallow: /f/*/g\nDisallow: /\xC3\xA9\n"
	for _, c := range []struct {
		name, file, agent, url string
		exit                   int
	}{
		{"2.2.1 own group", groups, "a", "http://h.test/own", 1},
		{"2.2.1 not that of all", groups, "a", "http://h.test/all", 0}, {"2.2.1 case", groups, "b", "/own/x", 1},
		{"2.2.1 groups join", groups, "A", "/more", 1}, {"2.2.1 not listed", groups, "c", "/all", 1},
		{"2.2.1 not listed, free", groups, "c", "/own", 0}, {"2.2.2 longest", paths, "x", "/p/ok/1", 0},
		{"2.2.2 shorter", paths, "x", "/p/no", 1}, {"2.2.2 prefix", paths, "x", "/px", 1},
		{"2.2.2 percent", paths, "x", "/~t/", 1}, {"2.2.2 octets", paths, "x", "/%c3%A9", 1},
		{"2.2.2 case of paths", paths, "x", "/P", 0}, {"2.2.3 end", paths, "x", "/a/b.gif", 1},
		{"2.2.3 not the end", paths, "x", "/a/b.gif?c", 0}, {"2.2.3 $", paths, "x", "/e", 1},
		{"2.2.3 $ only", paths, "x", "/ef", 0}, {"2.2.3 *", paths, "x", "/f/1/2/g", 1},
		{"2.2.2 tie allows", "user-agent: *\nallow: /x\ndisallow: /x", "x", "/x", 0},
		{"2.2.2 robots.txt itself", "User-agent: *\nDisallow: /", "x", "/robots.txt", 0}, {"2.3.1 empty", "", "x", "/x", 0},
		{"rules without group", "Disallow: /\n", "x", "/x", 0},
		{"whole header", groups, "Mozilla/5.0 (compatible; a/1.0; +http://a.test)", "/own", 1},
		{"binary", strings.Repeat("\x00\xff", 1000), "x", "/x", 0},
		{"usage: no URL", groups, "a", "no url", 2}, {"usage: another scheme", groups, "a", "file:///etc/passwd", 2},
	} {
		if got := run(t, "tool", "robots", inFile(t, "robots.txt", c.file), c.agent, c.url); got.exit != c.exit {
			t.Errorf("%s: exit status %d, want %d: %s%s", c.name, got.exit, c.exit, got.stdout, got.stderr)
		}
	}
}

func TestToolURLAgreesWithTheStandard(t *testing.T) {
	long(t)
	var in, want strings.Builder
	for _, c := range [][2]string{
		{`"input":"../b?x#y","base":"http://EXAMPLE.com/a/c"`, `{"href":"http://example.com/b?x#y"}`},
		{`"input":"x","base":null`, `{"failure":true}`}, {`"input":"x"`, `{"failure":true}`},
		{`"input":"","base":"http://h/p?q#f"`, `{"href":"http://h/p?q"}`},
		{`"input":"http://h:80/","base":null`, `{"href":"http://h/"}`},
		{`"input":"http://0x7f.1/"`, `{"href":"http://127.0.0.1/"}`},
		{`"input":"http://2130706433"`, `{"href":"http://127.0.0.1/"}`},
		{`"input":"http://[::ffff:127.0.0.1]/"`, `{"href":"http://[::ffff:7f00:1]/"}`},
		{`"input":"http://1.2.3.4.5/"`, `{"failure":true}`}, {`"input":"http://a b/"`, `{"failure":true}`},
		{`"input":"http://h:65536/"`, `{"failure":true}`}, {`"input":"http://"`, `{"failure":true}`},
		{`"input":"http://xn--a.\u00df/"`, `{"failure":true}`},
		{`"input":"http://b\u00fccher.de/\u00fc?\u00fc"`, `{"href":"http://xn--bcher-kva.de/%C3%BC?%C3%BC"}`},
		{`"input":"http://h/\ud800?\udfff#\ud800x"`, `{"href":"http://h/%EF%BF%BD?%EF%BF%BD#%EF%BF%BDx"}`},
		{`"input":"http://\ud800/"`, `{"failure":true}`},
		{`"input":"http://h/\ud83d\ude00"`, `{"href":"http://h/%F0%9F%98%80"}`},
		{`"input":"file:c:\\x\\..\\y"`, `{"href":"file:///c:/y"}`},
		{`"input":"javascript:alert(1)"`, `{"href":"javascript:alert(1)"}`},
		{`"input":" \u0000http:\\\\h\\a\tb\n "`, `{"href":"http://h/ab"}`},
		{`"input":"http://u:p@h/%2e/%2E%2e/a"`, `{"href":"http://u:p@h/a"}`},
	} {
		in.WriteString("{" + c[0] + "}\n")
		want.WriteString(c[1] + "\n")
	}
	got := runWith(t, in.String(), "tool", "url")
	if got.exit != 0 || got.stdout != want.String() {
		t.Errorf("exit status %d %s\n got %s\nwant %s", got.exit, got.stderr, got.stdout, want.String())
	}
	if got := runWith(t, "{\"input\":\"http://h/\"}\nno JSON\n", "tool", "url"); got.exit != 1 ||
		got.stdout != "{\"href\":\"http://h/\"}\n" || !strings.Contains(got.stderr, "line 2") {
		t.Errorf("a broken line: %+v, want the answers before it and its number", got)
	}
}

func TestToolCanonLosesNoLine(t *testing.T) {
	long(t)
	const in = "HTTP://Example.com:80/a/./b?utm_source=x&q=1#top\n\nfile:///etc/passwd\nhttp://2130706433\n"
	got := runWith(t, in, "tool", "canon")
	lines := strings.Split(got.stdout, "\n")
	if got.exit != 0 || len(lines) != 5 || lines[0] != "http://example.com/a/b?q=1" || lines[3] != "http://127.0.0.1/" ||
		!strings.HasPrefix(lines[1], "! ") || !strings.HasPrefix(lines[2], "! ") {
		t.Errorf("exit status %d: %q", got.exit, lines)
	}
}

// malformedUnit opens everything and closes nothing; each has one link.
const malformedUnit = "<a href=/l>x<div <p class=\"a'\" " +
	"href=<<b><table><tr><td><select><option><math><b><i></p></x></b>&#x110000;&#0;&lt<!-- > -->\n"

// Whatever the file is, the tools end soon, without an error, in memory in proportion to it, and lose no link.
func TestToolsBearHugeAndMalformedHTML(t *testing.T) {
	long(t)
	bytes, depth := 10<<20, 100_000
	if os.Getenv("WHIRLPOOL_E2E_LARGE") != "" {
		bytes, depth = 100<<20, 1_000_000
	}
	units := bytes / len(malformedUnit)
	slowness := harness.Slowness(t)
	for _, c := range []struct {
		name  string
		file  string
		links int
	}{
		{"malformed", "<!doctype html>" + strings.Repeat(malformedUnit, units), units},
		{"nested", strings.Repeat("<div>", depth) + "<a href=/l>x</a>" + strings.Repeat("</div>", depth), 1},
		{"nested inline", strings.Repeat("<b>", depth) + "<a href=/l>x</a>", 1},
		{"nested tables", strings.Repeat("<table><tr><td>", depth/4) + "<a href=/l>x</a>", 1},
	} {
		file := inFile(t, "page.html", c.file)
		// A second a MB and ten times the file beside the program itself: what is measured is a tenth and a half of that.
		patience := harness.Times(slowness, 10*time.Second+time.Duration(len(c.file)>>20)*time.Second)
		memory := int64(100<<20 + 10*len(c.file))
		for _, args := range [][]string{{"links", "--base", "http://h.test/"}, {"text"}, {"simhash"}} {
			lines := &lineCounter{}
			got := runTo(t, lines, io.Discard, "", append(append([]string{"tool"}, args...), file)...)
			t.Logf("%s, %d MB, %s: %v, %d MB", c.name, len(c.file)>>20, args[0], got.took.Round(time.Millisecond), got.peak>>20)
			want := 1
			if args[0] == "links" {
				want = c.links
			}
			if got.exit != 0 || lines.n != want || got.took > patience {
				t.Errorf("%s, %s: exit status %d, %d lines, %v; want 0, %d and at most %v", c.name, args[0], got.exit, lines.n,
					got.took, want, patience)
			}
			within(t, c.name+", "+args[0], got.peak, memory)
		}
	}
}

// lineCounter counts the lines that are written to it.
type lineCounter struct{ n int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.n += strings.Count(string(p), "\n")
	return len(p), nil
}

func TestToolSimhashTellsTextsApart(t *testing.T) {
	long(t)
	words := "the quick brown fox jumps over the lazy dog and runs away into the dark wood where nobody ever found it " +
		"again "
	a := inFile(t, "a.html", "<p>"+strings.Repeat(words, 3))
	b := inFile(t, "b.html", "<html><body><p class=x>"+strings.Repeat(words, 3))
	c := inFile(t, "c.html", "<p>something else entirely is written on this page about ships and the sea and what the "+
		"sailors saw there")
	got := run(t, "tool", "simhash", a, b, c)
	var hashes []string
	for lines := bufio.NewScanner(strings.NewReader(got.stdout)); lines.Scan(); {
		var line struct{ Simhash string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, line.Simhash)
	}
	if got.exit != 0 || len(hashes) != 3 || hashes[0] != hashes[1] || hashes[0] == hashes[2] {
		t.Errorf("exit status %d, fingerprints %q: want two alike and one other", got.exit, hashes)
	}
}

func TestToolWARCKnowsABrokenFile(t *testing.T) {
	long(t)
	dir := filepath.Join(t.TempDir(), "out")
	srv := htmlServer(t, map[string]string{"/": "<a href=/a>a</a>", "/a": "<p>a"})
	if got := run(t, "crawl", srv+"/", "--allow-private", "--delay", "0s", "--quiet", "--warc", "-o", dir); got.exit != 0 {
		t.Fatalf("exit status %d: %s", got.exit, got.stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("WARC files %q, %v", files, err)
	}
	if got := run(t, "tool", "warc", files[0]); got.exit != 0 || !strings.Contains(got.stdout, `"faults":0`) {
		t.Errorf("a sound file: exit status %d, %s%s", got.exit, got.stdout, got.stderr)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	flipped := []byte(string(whole))
	flipped[len(flipped)/2] ^= 0x55
	for name, content := range map[string]string{"cut": string(whole[:len(whole)-20]), "flipped": string(flipped),
		"no WARC": "<html>"} {
		got := run(t, "tool", "warc", inFile(t, "x.warc.gz", content))
		if got.exit != 1 || got.stdout == "" {
			t.Errorf("%s: exit status %d, %q: want 1 and the fault", name, got.exit, got.stdout)
		}
	}
}
