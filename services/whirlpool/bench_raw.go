package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/net/html"
)

// benchRaw is the raw limit of a crawl in Go: net/http, the tokenizer, a map. It stores nothing, ignores robots.txt and
// delays, and cannot resume.
func benchRaw() *cobra.Command {
	var dns string
	var concurrency int
	cmd := &cobra.Command{
		Use: "raw URL...", Hidden: true, Args: cobra.MinimumNArgs(1), PreRunE: counts("concurrency"),
		RunE: failing(func(cmd *cobra.Command, args []string) error {
			n := newRawCrawl(dns, concurrency).run(cmd.Context(), args)
			fmt.Fprintln(cmd.OutOrStdout(), n)
			return nil
		}),
	}
	cmd.Flags().StringVar(&dns, "dns", "", "name server")
	cmd.Flags().IntVar(&concurrency, "concurrency", 64, "requests at once")
	return cmd
}

type rawCrawl struct {
	client  *http.Client
	mu      sync.Mutex
	wake    *sync.Cond
	seen    map[string]bool
	queue   []string
	running int
	pages   int
}

func newRawCrawl(dns string, concurrency int) *rawCrawl {
	dialer := &net.Dialer{Resolver: &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", dns)
		}}}
	c := &rawCrawl{seen: map[string]bool{},
		client: &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext,
			MaxIdleConns: 0, MaxIdleConnsPerHost: concurrency, DisableCompression: true}}}
	c.wake = sync.NewCond(&c.mu)
	c.running = concurrency
	return c
}

func (c *rawCrawl) run(ctx context.Context, seeds []string) int {
	for _, s := range seeds {
		c.seen[s] = true
	}
	c.queue = slices.Clone(seeds)
	var wg sync.WaitGroup
	for range c.running {
		wg.Go(func() { c.work(ctx) })
	}
	wg.Wait()
	return c.pages
}

func (c *rawCrawl) work(ctx context.Context) {
	var body bytes.Buffer
	for {
		c.mu.Lock()
		c.running--
		for len(c.queue) == 0 && c.running > 0 {
			c.wake.Wait()
		}
		if len(c.queue) == 0 {
			c.wake.Broadcast()
			c.mu.Unlock()
			return
		}
		next := c.queue[0]
		c.queue = c.queue[1:]
		c.running++
		c.mu.Unlock()
		links, ok := c.fetch(ctx, next, &body)
		c.mu.Lock()
		if ok {
			c.pages++
		}
		for _, l := range links {
			if !c.seen[l] {
				c.seen[l] = true
				c.queue = append(c.queue, l)
				c.wake.Signal()
			}
		}
		c.mu.Unlock()
	}
}

func (c *rawCrawl) fetch(ctx context.Context, page string, body *bytes.Buffer) (links []string, ok bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, false
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, false
	}
	body.Reset()
	_, err = io.Copy(body, resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		return nil, false
	}
	return rawLinks(req.URL, body.Bytes()), true
}

// rawLinks tokenizes a page and resolves the href of each a element.
func rawLinks(base *url.URL, page []byte) (links []string) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return links
		case html.StartTagToken:
			name, more := z.TagName()
			if len(name) != 1 || name[0] != 'a' {
				continue
			}
			for more {
				var key, val []byte
				key, val, more = z.TagAttr()
				if string(key) != "href" {
					continue
				}
				if u, err := base.Parse(string(val)); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
					u.Fragment = ""
					links = append(links, u.String())
				}
			}
		}
	}
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}
