package robots

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestEveryParseableLineIsUsed(t *testing.T) {
	tests := []struct {
		name, file string
		denied     bool // of /x, for agent a
	}{
		{"line feeds", "User-agent: a\nDisallow: /x\n", true},
		{"carriage returns", "User-agent: a\rDisallow: /x\r", true},
		{"both", "User-agent: a\r\nDisallow: /x\r\n", true},
		{"no line end", "User-agent: a\nDisallow: /x", true},
		{"byte order mark", "\xef\xbb\xbfUser-agent: a\nDisallow: /x", true},
		{"two byte order marks are foreign bytes", "\xef\xbb\xbf\xef\xbb\xbfUser-agent: a\nDisallow: /x", false},
		{"spaces and tabs", " \tUSER-AGENT\t :\t a \t\n \tdisAllow \t:/x\t \n", true},
		{"no spaces", "user-agent:a\ndisallow:/x", true},
		{"comments", "User-agent: a#b\nDisallow: /x#y # z", true},
		{"commented out", "User-agent: a\n#Disallow: /x", false},
		{"comment before the colon", "User-agent: a\nDisallow #: /x", false},
		{"garbage around", "<html>\nUser-agent: a\n:::\nfoo\n\x00\xff\nDisallow: /x\n</html>", true},
		{"a line of NULs", "User-agent: a\n\x00\x00\nDisallow: /x", true},
		{"no colon", "User-agent: a\nDisallow /x", true},
		{"no colon in the agent line", "User-agent a\nDisallow: /x", true},
		{"misspelt agent", "Useragent: a\nDisallow: /x", true},
		{"split agent", "User agent: a\nDisallow: /x", true},
		{"longer key", "User-agent: a\nDisallowed: /x", true},
		{"white space of copied text", "User-agent: a\nDisallow:\u00a0/x\u00a0", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := !Parse([]byte(tt.file)).Agent("a").Allowed("/x"); got != tt.denied {
				t.Errorf("denied = %v, want %v", got, tt.denied)
			}
		})
	}
}

func TestMatchNamesRuleAndLine(t *testing.T) {
	rules := Parse([]byte("# one\r\nUser-agent: *\r\rdisallow:   /a%62  # why\n\nAllow: /*.html$\n")).Agent("x")
	for _, tt := range []struct {
		path    string
		allowed bool
		rule    string
		line    int
	}{
		{"/abc", false, "Disallow: /a%62", 4},
		{"/abc.html", true, "Allow: /*.html$", 6},
		{"/c", true, "", 0},
		{"/robots.txt", true, "", 0},
	} {
		if ok, rule, line := rules.Match(tt.path); ok != tt.allowed || rule != tt.rule || line != tt.line {
			t.Errorf("%s: %v %q %d, want %v %q %d", tt.path, ok, rule, line, tt.allowed, tt.rule, tt.line)
		}
	}
}

func TestAllAndNothing(t *testing.T) {
	if !AllowAll().Allowed("/x") {
		t.Error("AllowAll denies")
	}
	none := DisallowAll()
	if none.Allowed("/x") || none.Allowed("") || !none.Allowed("/robots.txt") {
		t.Error("DisallowAll must deny everything but /robots.txt")
	}
	if _, ok := none.CrawlDelay(); ok {
		t.Error("DisallowAll has a crawl delay")
	}
}

func TestCrawlDelay(t *testing.T) {
	const none = -1
	for _, tt := range []struct {
		file string
		want time.Duration // for agent a
	}{
		{"User-agent: a\nCrawl-delay: 10\n", 10 * time.Second},
		{"User-agent: a\nCRAWL-DELAY:2.5", 2500 * time.Millisecond},
		{"User-agent: a\nCrawl-delay: .25", 250 * time.Millisecond},
		{"User-agent: a\nCrawl-delay: 1.00159", 1001 * time.Millisecond},
		{"User-agent: a\nCrawl-delay: 0", 0},
		{"User-agent: a\nCrawl-delay: 7 seconds", 7 * time.Second},
		{"User-agent: a\nCrawl-delay: 7s", 7 * time.Second},
		{"User-agent: a\nCrawl-delay: 500ms", 500 * time.Millisecond},
		{"User-agent: a\nCrawl-delay: 1500.7 milliseconds", 1500 * time.Millisecond},
		{"User-agent: a\nCrawl-delay: 1.5 Min.", 90 * time.Second},
		{"User-agent: a\nCrawl-delay: 2 minutes # please", 2 * time.Minute},
		{"User-agent: a\nCrawl-delay: 1 hour", time.Hour},
		{"User-agent: a\nCrawl-delay: 9999999999h", MaxCrawlDelay},
		{"User-agent: a\nCrawl-delay: 0.999999999999999999999999h", 59*time.Minute + 59999*time.Millisecond},
		{"User-agent: a\nCrawl-delay: 3 monkeys", 3 * time.Second},
		{"User-agent: a\nCrawl-delay: minutes", none},
		{"User-agent: a\nCrawl-delay: 99999999999999999999999999", MaxCrawlDelay},
		{"User-agent: a\nCrawl-delay: 86400.9", MaxCrawlDelay},
		{"User-agent: a\nCrawl-delay: -1", none},
		{"User-agent: a\nCrawl-delay: NaN", none},
		{"User-agent: a\nCrawl-delay: .", none},
		{"User-agent: a\nCrawl-delay:", none},
		{"Crawl-delay: 3\nUser-agent: a", none},
		{"User-agent: a\nDisallow: /\nCrawl-delay: 3", 3 * time.Second},
		{"User-agent: a\nCrawl-delay: x\nCrawl-delay: 3\nCrawl-delay: 5", 3 * time.Second},
		{"User-agent: a\nCrawl-delay: 3\nDisallow: /x\nUser-agent: a\nCrawl-delay: 4", 4 * time.Second},
		{"User-agent: b\nUser-agent: a\nCrawl-delay: 3\nDisallow: /", 3 * time.Second},
		{"User-agent: b\nCrawl-delay: 3\nUser-agent: a\nDisallow: /", none},
		{"User-agent: a\nCrawl-delay: 3\nUser-agent: b\nCrawl-delay: 9\nDisallow: /", 3 * time.Second},
		{"User-agent: *\nCrawl-delay: 3", 3 * time.Second},
		{"User-agent: a\nRequest-rate: 1/10", 10 * time.Second},
		{"User-agent: a\nrequest-rate: 6 / 1m 0800-1800", 10 * time.Second},
		{"User-agent: a\nRequest-rate: 1/2h", 2 * time.Hour},
		{"User-agent: a\nRequest-rate: 1/1000000d", MaxCrawlDelay},
		{"User-agent: a\nRequest-rate: 10/1s\nCrawl-delay: 3", 3 * time.Second},
		{"User-agent: a\nCrawl-delay: 3\nRequest-rate: 1/5s\nRequest-rate: 1/9s", 5 * time.Second},
		{"User-agent: a\nRequest-rate: 0/1", none},
		{"User-agent: a\nRequest-rate: 5", none},
		{"User-agent: a\nRequest-rate: x/5", none},
		{"User-agent: *\nCrawl-delay: 3\nDisallow: /x\nUser-agent: a\nDisallow: /y", none},
	} {
		got, ok := Parse([]byte(tt.file)).Agent("a").CrawlDelay()
		if ok != (tt.want != none) || ok && got != tt.want {
			t.Errorf("%q: %v %v, want %v", tt.file, got, ok, tt.want)
		}
	}
}

func TestSitemapsOfAnyGroup(t *testing.T) {
	f := Parse([]byte("Sitemap: https://h/1.xml\nUser-agent: b\nDisallow: /\nSITEMAP : /2.xml # two\nSitemap:\n" +
		"sitemap:x y"))
	if want := []string{"https://h/1.xml", "/2.xml", "x y"}; !slices.Equal(f.Sitemaps(), want) {
		t.Errorf("got %q, want %q", f.Sitemaps(), want)
	}
	many := Parse([]byte(strings.Repeat("Sitemap: /s\n", MaxSitemaps+1)))
	if n := len(many.Sitemaps()); n != MaxSitemaps {
		t.Errorf("%d sitemaps kept", n)
	}
}

// A cut line would be a shorter pattern than the author wrote, and so match too much.
func TestLineCutBySizeIsDropped(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /first\n")
	body = append(body, bytes.Repeat([]byte("#"), MaxSize-len(body)-len("\nDisallow: /l"))...)
	body = append(body, "\nDisallow: /last\nDisallow: /beyond\n"...)
	verdicts(t, string(body), "a", []string{"/l", "/last", "/beyond"}, []string{"/first"})
	verdicts(t, "User-agent: *\nDisallow: /"+strings.Repeat("x", MaxSize), "a", []string{"/x"}, nil)
}

func TestAtLeast500KiBAreRead(t *testing.T) {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for i := 0; file.Len() < 500<<10; i++ {
		fmt.Fprintf(&file, "Disallow: /dir%06d/\n", i)
	}
	file.WriteString("Disallow: /last\n")
	verdicts(t, file.String(), "a", []string{"/dir"}, []string{"/dir000000/a", "/dir012345/", "/last"})
}
