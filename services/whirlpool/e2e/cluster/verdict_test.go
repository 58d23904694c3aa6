package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/textsearch"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/fakeweb"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/harness"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
	"github.com/whirlpool-crawler/whirlpool/services/whirlpool/e2e/crawltest"
)

// faults lists everything that is wrong with a crawl that has ended, but for its politeness.
func (c *cluster) faults(w *world) []string {
	c.t.Helper()
	got := c.Results(c.job.ID)
	return slices.Concat(got.Untrue(w.Srv.Web()), got.Unsound(), got.Differs(w.Calm, w.Srv.Web()), c.leftovers())
}

// leftovers lists what a crawl that has ended must not leave behind.
func (c *cluster) leftovers() (faults []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	held, err := crawltest.Held(ctx, c.bus)
	check(c.t, err)
	faults = slices.Concat(held, c.Unsettled(c.job.ID))
	for _, p := range c.programs {
		if p.Dead() {
			faults = append(faults, fmt.Sprintf("%s ended by itself: %s", p.Name, p.LastWords()))
		}
	}
	return faults
}

// impolite lists the violations in the server's log, but for a number that no crawler could have avoided.
func (c *cluster) impolite(w *world) (faults []string, unknowable int) {
	found, unknowable := c.Impolite(w, w.Delay/2, c.deaths)
	for _, v := range found {
		faults = append(faults, fmt.Sprintf("%v [%s]", v, c.Around(v)))
	}
	return faults, unknowable
}

// deaths are those of the programs that make requests.
func (c *cluster) deaths(fakeweb.Entry) (all []time.Time) {
	for _, p := range c.programs {
		if p.Name == "fetcher" || !slices.Contains(harness.Names, p.Name) { // all stages in one program
			all = append(all, p.Deaths...)
		}
	}
	return all
}

// judge fails the test for everything that is wrong with a crawl that has ended.
func (c *cluster) judge(w *world) {
	c.t.Helper()
	within(patience, c.settled) // else leftovers says what is not
	report(c.t, "final state", c.faults(w))
	if c.job.Search {
		report(c.t, "words", c.unsearchable())
	}
	c.whirlpool("audit", "--cluster", "--job", string(c.job.ID)) // fails where something is wrong
	faults, unknowable := c.impolite(w)
	report(c.t, "impolite", faults)
	c.t.Log(c.Summary(w, len(faults), unknowable))
	c.LogAlarms(c.programs)
}

// unsearchable lists the records whose words are not found, and the copies whose words are, host by host: a search
// looks at the newest pages alone.
func (c *cluster) unsearchable() (faults []string) {
	c.t.Helper()
	query, err := textsearch.Parse("url:http")
	check(c.t, err)
	hosts := map[string]map[weburl.Key]*crawl.Record{}
	check(c.t, c.Mongo.Job(c.job.ID).Each(c.t.Context(), func(r *crawl.Record) error {
		host := r.URL.HostKey()
		if hosts[host] == nil {
			hosts[host] = map[weburl.Key]*crawl.Record{}
		}
		hosts[host][r.URL.Key()] = r
		return nil
	}))
	for host, records := range hosts {
		hits, err := c.Postgres.Texts().Search(c.t.Context(), c.job.ID,
			postgres.TextSearch{Query: query, Host: host, Limit: len(records) + 1})
		check(c.t, err)
		found := map[weburl.Key]bool{}
		for _, h := range hits {
			if found[h.Key] = true; records[h.Key] == nil {
				faults = append(faults, fmt.Sprintf("words of a page of %s that has no record", host))
			}
		}
		for k, r := range records {
			if copied := !r.DuplicateOf.IsZero(); found[k] == copied {
				faults = append(faults, fmt.Sprintf("%s: its words are found: %v, it is a copy: %v", r.URL, found[k], copied))
			}
		}
	}
	return faults
}
