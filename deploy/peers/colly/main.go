// Command colly is the plainest whole-site crawler in Colly: it follows links on the given hosts, obeys robots.txt, and
// writes a JSON line a page with URL, title and text. `whirlpool bench peers` compares it with others.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gocolly/colly/v2"
)

func main() {
	out := flag.String("o", "", "file of the pages")
	hosts := flag.String("hosts", "", "host names that may be crawled, with commas between")
	perHost := flag.Int("per-host", 1, "requests to a host at once")
	flag.Parse()
	f, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(f)
	var mu sync.Mutex
	allowed := strings.Split(*hosts, ",")
	c := colly.NewCollector(colly.Async(true), colly.AllowedDomains(allowed...))
	c.IgnoreRobotsTxt = false
	c.SetRequestTimeout(30 * time.Second)
	for _, h := range allowed {
		if err := c.Limit(&colly.LimitRule{DomainGlob: h + "*", Parallelism: *perHost}); err != nil {
			log.Fatal(err)
		}
	}
	c.OnHTML("html", func(e *colly.HTMLElement) {
		line, err := json.Marshal(map[string]string{"url": e.Request.URL.String(), "title": e.DOM.Find("title").Text(),
			"text": e.DOM.Find("body").Text()})
		if err != nil {
			return
		}
		mu.Lock()
		_, _ = w.Write(append(line, '\n'))
		mu.Unlock()
	})
	c.OnHTML("a[href]", func(e *colly.HTMLElement) { _ = e.Request.Visit(e.Attr("href")) })
	for _, seed := range flag.Args() {
		_ = c.Visit(seed)
	}
	c.Wait()
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}
