// Package robotstool is the logic behind `whirlpool tool robots FILE USER-AGENT URL`: one question to one robots.txt,
// answered as a line of JSON. It reads and writes what it is given and sets no exit status.
package robotstool

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/robots"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// answer is the line that is printed.
type answer struct {
	URL        string   `json:"url"`
	Agent      string   `json:"agent"` // the product token the groups were searched for
	Allowed    bool     `json:"allowed"`
	Rule       string   `json:"rule"`        // "" where no rule matches
	Line       int      `json:"line"`        // from 1; 0 where no rule matches
	CrawlDelay *float64 `json:"crawl_delay"` // seconds; null where the site asks for none
	Sitemaps   []string `json:"sitemaps"`
}

// RunTool reads a robots.txt from r and writes to w whether agent may fetch url. The agent is a product token or a
// whole User-Agent header, see Product. The url is absolute or a path that starts with "/". name is what errors call
// the file.
func RunTool(name string, r io.Reader, agent, url string, w io.Writer) (allowed bool, err error) {
	path, err := requestPath(url)
	if err != nil {
		return false, err
	}
	body, err := io.ReadAll(io.LimitReader(r, robots.MaxSize+1))
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", name, err)
	}
	file := robots.Parse(body)
	product := Product(agent)
	rules := file.Agent(product)
	out := answer{URL: url, Agent: product, Sitemaps: file.Sitemaps()}
	out.Allowed, out.Rule, out.Line = rules.Match(path)
	if delay, ok := rules.CrawlDelay(); ok {
		seconds := delay.Seconds()
		out.CrawlDelay = &seconds
	}
	if out.Sitemaps == nil {
		out.Sitemaps = []string{}
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(out); err != nil {
		return false, fmt.Errorf("writing the answer for %s: %w", url, err)
	}
	return out.Allowed, nil
}

// requestPath is the path and query of an absolute URL, or the path that is given.
func requestPath(url string) (string, error) {
	if strings.HasPrefix(url, "/") {
		return url, nil
	}
	u, err := weburl.Parse(url)
	if err != nil {
		return "", fmt.Errorf("%q is neither a path nor a crawlable URL: %w", url, err)
	}
	return u.RequestURI(), nil
}

// Product is the product token in a User-Agent header:
//
//   - the text itself if it is a token: "whirlpool", "*";
//   - the token after "compatible;", where crawlers that start like a browser name themselves:
//     "Mozilla/5.0 (compatible; Whirlpool/1.0; +https://…)" is Whirlpool;
//   - else the first one: "Whirlpool/1.0 (+https://…)" is Whirlpool.
func Product(agent string) string {
	text := strings.TrimSpace(agent)
	const marker = "compatible;"
	if i := indexFold(text, marker); i >= 0 {
		if token := leadingToken(strings.TrimLeft(text[i+len(marker):], " \t")); token != "" {
			return token
		}
	}
	if text == "*" {
		return text
	}
	return leadingToken(text)
}

// indexFold is strings.Index without regard to the case of ASCII letters; substr is in lower case.
func indexFold(s, substr string) int {
	for i := 0; i+len(substr) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(substr)], substr) {
			return i
		}
	}
	return -1
}

// leadingToken is the product token at the start of s, "" if none (RFC 9309, section 2.2.1).
func leadingToken(s string) string {
	end := strings.IndexFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_'
	})
	if end < 0 {
		return s
	}
	return s[:end]
}
