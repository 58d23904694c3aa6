package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// webOfServe is the web that the data directory is made of.
func webOfServe(hosts, pages int) fakeweb.Config {
	cfg := fakeweb.Plain(hosts, pages)
	cfg.PagesZipf, cfg.PageBytes = 0.6, 12<<10
	cfg.ExactDuplicates, cfg.NearDuplicates, cfg.Errors404, cfg.Redirects = 0.05, 0.05, 0.03, 0.02
	cfg.Changing = 0.1
	return cfg
}

// The workflows of the directory. Of big the pages whose address ends in a zero are fetched, the others
// left out.
const (
	bigFlow, smallFlow, liveFlow = "big", "small", "live"
	leaveOut                     = `exclude: ['//[^/]+/.*[1-9][^0-9]*$']` + "\nkeep_bodies: true\n" +
		`rules: [{name: heading, fields: [{name: heading, css: h1}, {name: kind, css: title, regex: '^(..)'}]}]` + "\n"
	servedDefinition = "scope: any\nallow_private: true\nignore_robots: true\nsitemaps: false\nmax_depth: -1\n" +
		"pages_per_host: 1000000\npages_per_domain: 1000000\nquery_variants: 0\ncontact: bench@whirlpool.invalid\n" +
		"politeness: {delay: 0s, ip_delay: 0s, download_factor: 0, host_connections: 16}\n"
)

// data makes what is missing of the directory.
func (b *serveBench) data(ctx context.Context) error {
	return b.with(ctx, func(s *servedChild, c *client.Client) error {
		for flow, text := range map[string]string{bigFlow: "max_pages: 0\n" + leaveOut, smallFlow: "max_pages: 5\n",
			liveFlow: "max_pages: 0\n"} {
			if err := b.workflow(ctx, c, flow, text); err != nil {
				return err
			}
		}
		if err := b.runAll(ctx, c, bigFlow, 2, 1); err != nil {
			return err
		}
		if err := b.runAll(ctx, c, smallFlow, b.small, 8); err != nil {
			return err
		}
		if err := b.cancelLive(ctx, c); err != nil {
			return err
		}
		return b.describe(ctx, s)
	})
}

// workflow makes a workflow whose seeds are those of the present web.
func (b *serveBench) workflow(ctx context.Context, c *client.Client, slug, more string) error {
	seeds, err := json.Marshal(b.web.Seeds)
	if err != nil {
		return err
	}
	source := "seeds: " + string(seeds) + "\n" + servedDefinition + more
	if _, err := c.Workflow(ctx, slug); client.IsNotFound(err) {
		_, err = c.CreateWorkflow(ctx,
			api.NewWorkflow{Name: slug, Slug: slug, Source: source, Message: "made by whirlpool bench serve"})
		return err
	}
	_, err = c.AddVersion(ctx, slug, api.NewVersion{Source: source, Message: "the web has another port"})
	return err
}

// runAll runs a workflow until it has so many executions, some at once.
func (b *serveBench) runAll(ctx context.Context, c *client.Client, slug string, want, atOnce int) error {
	have, err := c.Executions(ctx, slug, want)
	if err != nil {
		return err
	}
	var waiting []crawl.JobID
	for n := len(have); n < want || len(waiting) > 0; {
		if n < want && len(waiting) < atOnce {
			e, err := c.Run(ctx, slug, workflow.Overrides{})
			if err != nil {
				return err
			}
			waiting, n = append(waiting, e.ID), n+1
			continue
		}
		if err := b.awaitEnd(ctx, c, waiting[0]); err != nil {
			return err
		}
		waiting = waiting[1:]
	}
	return nil
}

// awaitEnd waits until an execution has ended and is in its index.
func (b *serveBench) awaitEnd(ctx context.Context, c *client.Client, id crawl.JobID) error {
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		e, err := c.Execution(ctx, id)
		if err != nil {
			return err
		}
		if e.State.Ended() {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

// cancelLive ends what runs from a former measurement.
func (b *serveBench) cancelLive(ctx context.Context, c *client.Client) error {
	all, err := c.Executions(ctx, liveFlow, 0)
	for _, e := range all {
		if err == nil && !e.State.Ended() {
			if _, err = c.Wish(ctx, e.ID, "cancel", "the measurement is over"); err == nil {
				err = b.awaitEnd(ctx, c, e.ID)
			}
		}
	}
	return err
}

// describe tells what the directory has, and how large the indexes are.
func (b *serveBench) describe(ctx context.Context, s *servedChild) error {
	for _, id := range []string{"big-1", "big-2"} {
		index, err := s.indexed(ctx, id)
		if err != nil {
			return err
		}
		e, err := s.client.Execution(ctx, crawl.JobID(id))
		if err != nil {
			return err
		}
		size, err := sizeOfAll(filepath.Join(b.dir, "search", id+".db*"))
		if err != nil || e.Stats == nil {
			return fmt.Errorf("%s has no figures: %w", id, err)
		}
		fmt.Fprintf(b.out,
			"%s: %s, %d URLs and %d records indexed, %d hosts; index %d MB, crawl.log %d MB, pages.jsonl %d MB\n", id, e.State,
			index.URLs, index.Records, e.Stats.Hosts, size>>20, b.megabytes(id, "crawl.log"), b.megabytes(id, "pages.jsonl"))
	}
	return nil
}

func (b *serveBench) megabytes(id, name string) int64 {
	n, _ := sizeOfAll(filepath.Join(b.dir, "executions", id, name)) // for people to read
	return n >> 20
}

func sizeOfAll(pattern string) (n int64, err error) {
	names, err := filepath.Glob(pattern)
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && !strings.HasSuffix(name, "-shm") {
			n += info.Size()
		}
	}
	return n, err
}
