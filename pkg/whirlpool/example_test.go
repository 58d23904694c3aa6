package whirlpool_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/pkg/whirlpool"
)

// words is a parser for the pages of every host: it counts the words of a page.
type words struct{}

func (words) Match(weburl.URL) bool { return true }

func (words) Extract(p *crawl.SitePage) ([]crawl.Field, []crawl.Link, error) {
	return []crawl.Field{{Name: "words", Value: len(strings.Fields(p.Text))}}, nil, nil
}

// A crawl with a parser of its own, of a synthetic web on this machine.
func Example() {
	web, err := fakeweb.Serve(context.Background(), fakeweb.New(fakeweb.Default()), fakeweb.Options{})
	if err != nil {
		panic(err)
	}
	defer web.Close()
	dir, _ := os.MkdirTemp("", "example-")
	defer os.RemoveAll(dir)

	job := whirlpool.NewJob("example", web.Web().Seeds()[0])
	job.MaxPages, job.Politeness.Delay = 20, 0
	pages, counted := 0, 0
	c := whirlpool.Crawler{Dir: dir, Job: job, Parsers: []crawl.SiteParser{words{}}, AllowPrivate: true,
		Change: func(o *node.LocalOptions) { o.DNS.Server = web.DNSAddr() }, // the names of the synthetic web
		Record: func(r *crawl.Record) error {
			pages++
			for _, f := range r.Fields {
				if f.Name == "words" && f.Value.(float64) > 0 {
					counted++
				}
			}
			return nil
		}}
	finished, err := c.Run(context.Background())
	fmt.Println(finished, err, pages > 5, counted > 5)
	// Output: true <nil> true true
}
