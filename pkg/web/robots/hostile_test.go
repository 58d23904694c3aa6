package robots

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostileFiles are files of the largest size made to be slow.
func hostileFiles() map[string][]byte {
	fill := func(line func(i int) string) []byte {
		b := []byte("User-agent: *\n")
		for i := 0; len(b) < MaxSize; i++ {
			b = append(b, line(i)...)
		}
		return b
	}
	return map[string][]byte{
		"wildcards":     fill(func(i int) string { return fmt.Sprintf("Disallow: /*a*a*a*a*a*a*b%d\n", i) }),
		"short":         fill(func(i int) string { return fmt.Sprintf("Disallow: /*%x\n", i) }),
		"one long line": append([]byte("User-agent: *\nDisallow: /"), bytes.Repeat([]byte("*a"), MaxSize/2-100)...),
		"near misses":   fill(func(i int) string { return "Disallow: /*" + strings.Repeat("a", i%200) + "b\n" }),
		"nested":        fill(func(i int) string { return "Disallow: /" + strings.Repeat("a", i%1000) + "\n" }),
		"agents":        fill(func(i int) string { return "User-agent: a\nCrawl-delay: 1\n" }),
		"many groups":   fill(func(i int) string { return "User-agent: *\nAllow: /\n" }),
		"many agents":   fill(func(i int) string { return fmt.Sprintf("User-agent: a%s\n", strings.Repeat("b", i%500)) }),
		"folding":       fill(func(i int) string { return fmt.Sprintf("Disallow: /*a%%2F*a%%2f*b%d\n", i) }),
		"carriage":      bytes.Repeat([]byte("\r"), MaxSize),
		"colons":        bytes.Repeat([]byte(":"), MaxSize),
	}
}

var hostilePaths = []string{
	"/" + strings.Repeat("a", 4000),
	"/?" + strings.Repeat("a", 4000),
	"/?" + strings.Repeat("a%2F", 1000),
	strings.Repeat("/", 4000),
}

// The bound is far above what a loaded machine needs (milliseconds) and far below an exponential search.
func TestHostileFilesCostBoundedTime(t *testing.T) {
	const bound = 30 * time.Second
	for name, body := range hostileFiles() {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			rules := Parse(body).Agent("a")
			if spent := time.Since(start); spent > bound {
				t.Errorf("parsing took %v", spent)
			}
			for _, path := range hostilePaths {
				start := time.Now()
				rules.Allowed(path)
				if spent := time.Since(start); spent > bound {
					t.Errorf("matching %.20s took %v", path, spent)
				}
			}
		})
	}
}

func TestBeyondTheBudgetTheAnswerIsNo(t *testing.T) {
	rules := Parse(hostileFiles()["short"]).Agent("a")
	if ok, rule, line := rules.Match("/" + strings.Repeat("z", 4000)); ok || rule != OverBudget || line != 0 {
		t.Errorf("got %v %q %d", ok, rule, line)
	}
	if !rules.Allowed("/zzz") {
		t.Error("a short path does not exhaust the budget")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*a$\nCrawl-delay: 1.5\nSitemap: /s\n"), "/a?b")
	f.Add([]byte("\xef\xbb\xbf\x00:\r\n%:\xff#\ruser-agent:*\rallow:/%2*%ff$$"), "%2f#")
	f.Add([]byte("user-agent:a\ndisallow:*?%2F*%3f"), "?%2f%3F")
	f.Add([]byte("\xff\xfeu\x00s\x00"), "/x")
	f.Add([]byte("<b>user agent:a<br/>#<br>dissalow /x:y</b><br>allow:/index.htm"), "/")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		file := Parse(body)
		rules := file.Agent("a")
		allowed, rule, line := rules.Match(path)
		if allowed != rules.Allowed(path) {
			t.Error("Match and Allowed differ")
		}
		if rule == "" && !allowed || rule != "" && !strings.Contains(textOf(body), strings.SplitN(rule, ": ", 2)[1]) {
			t.Errorf("decided by %q, line %d", rule, line)
		}
		if delay, ok := rules.CrawlDelay(); delay < 0 || delay > MaxCrawlDelay || !ok && delay != 0 {
			t.Errorf("crawl delay %v %v", delay, ok)
		}
		if !rules.Allowed("/robots.txt") {
			t.Error("/robots.txt is denied")
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for _, rules := range []int{20, 1000, 10_000} {
		body := typicalFile(rules)
		b.Run(fmt.Sprintf("rules=%d", rules), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				Parse(body).Agent("whirlpool")
			}
		})
	}
}

// typicalFile has nine plain rules to each with a wildcard.
func typicalFile(rules int) []byte {
	b := []byte("User-agent: *\n")
	for i := range rules {
		if i%10 == 9 {
			b = fmt.Appendf(b, "Disallow: /dir%d/*.php$\n", i)
		} else {
			b = fmt.Appendf(b, "Disallow: /dir%d/private/\n", i)
		}
	}
	return b
}

func BenchmarkMatch(b *testing.B) {
	wild := []byte("User-agent: *\n")
	for i := range 1000 {
		wild = fmt.Appendf(wild, "Disallow: /*a*a*a*a*a*b%d\n", i)
	}
	const usual = "/dir512/articles/2024/some-title.html?page=2"
	for _, bench := range []struct {
		name, path string
		body       []byte
	}{
		{"rules=20", usual, typicalFile(20)},
		{"rules=1000", usual, typicalFile(1000)},
		{"encoded path", "/dir512/%E3%83%84/%7Ex?q=a%20b", typicalFile(1000)},
		{"hostile rules, usual path", usual, wild},
		{"hostile rules, long path", hostilePaths[0], wild},
		{"hostile file, long path", hostilePaths[0], hostileFiles()["short"]},
	} {
		rules := Parse(bench.body).Agent("whirlpool")
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				rules.Allowed(bench.path)
			}
		})
	}
}
