// Package robotstool is the logic behind `whirlpool tool robots FILE USER-AGENT URL`: one question to one robots.txt,
// answered as a line of JSON. It reads and writes what it is given and sets no exit status.
package robotstool

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/robots"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// answer is the line that is printed.
type answer struct {
	URL        string   `json:"url"`
	Agent      string   `json:"agent"` // the name that groups were looked for by
	Allowed    bool     `json:"allowed"`
	Rule       string   `json:"rule"`        // "" where no rule matches
	Line       int      `json:"line"`        // from 1; 0 where no rule matches
	CrawlDelay *float64 `json:"crawl_delay"` // seconds; null where the site asks for none
	Sitemaps   []string `json:"sitemaps"`
}

// RunTool reads a robots.txt from r and writes to w whether agent may fetch url. The agent is a product token or a
// whole User-Agent header, see robots.Product. The url is absolute, or a path that starts with "/", or empty: the root.
// name is what errors call the file.
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
	product := robots.Product(agent)
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

// requestPath is the path and query of an absolute URL, or those that are given.
func requestPath(url string) (string, error) {
	if url == "" || url[0] == '/' || url[0] == '?' {
		return url, nil
	}
	u, err := weburl.Parse(url)
	if err != nil {
		return "", fmt.Errorf("%q is neither a path nor a crawlable URL: %w", url, err)
	}
	return u.RequestURI(), nil
}
