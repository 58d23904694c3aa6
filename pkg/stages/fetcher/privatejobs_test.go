package fetcher

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A connection that one job keeps open must not serve another that may not reach the address.
func TestPrivateAddressesByJob(t *testing.T) {
	asked := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "private")
	})
	may, mayNot := crawl.DefaultJob(), crawl.DefaultJob()
	may.ID, may.AllowPrivate, may.IgnoreRobots = "may", true, true
	mayNot.ID, mayNot.IgnoreRobots = "may-not", true
	for name, tc := range map[string]struct {
		every, byJob bool
		want         map[crawl.JobID]crawl.Verdict
	}{
		"no job": {false, false,
			map[crawl.JobID]crawl.Verdict{"may": crawl.VerdictRefused, "may-not": crawl.VerdictRefused}},
		"jobs that ask": {false, true,
			map[crawl.JobID]crawl.Verdict{"may": crawl.VerdictDone, "may-not": crawl.VerdictRefused}},
		"every job": {true, false,
			map[crawl.JobID]crawl.Verdict{"may": crawl.VerdictDone, "may-not": crawl.VerdictDone}},
		"every job, and so": {true, true,
			map[crawl.JobID]crawl.Verdict{"may": crawl.VerdictDone, "may-not": crawl.VerdictDone}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(c *Config, d *Deps, _ *crawl.Job) {
				c.AllowPrivate, c.PrivateJobs = tc.every, tc.byJob
				d.Jobs = crawl.StaticJobs{"may": &may, "may-not": &mayNot}
			})
			for _, id := range []crawl.JobID{"may", "may-not", "may"} {
				before := asked
				r := b.get(url, func(f *crawl.Fetch) { f.Task.Job = id })
				if r.Verdict != tc.want[id] || (asked > before) != (tc.want[id] == crawl.VerdictDone) {
					t.Errorf("job %s: %v (%s), %d requests; want %v", id, r.Verdict, r.Detail, asked-before, tc.want[id])
				}
			}
		})
	}
}

// What robots.txt was refused to one job is no answer for another that may have it.
func TestRobotsTxtRefusedToAnotherJobIsAskedForAgain(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	may, mayNot := crawl.DefaultJob(), crawl.DefaultJob()
	may.ID, may.AllowPrivate, mayNot.ID = "may", true, "may-not"
	b := newBench(t, func(c *Config, d *Deps, _ *crawl.Job) {
		c.AllowPrivate, c.PrivateJobs = false, true
		d.Jobs = crawl.StaticJobs{"may": &may, "may-not": &mayNot}
		d.DNS = names{"private.test": []netip.Addr{loopback}}
	})
	b.get(url+"/robots.txt", func(f *crawl.Fetch) { asRobots(f); f.Task.Job = "may-not" }).
		want(t, crawl.VerdictRefused, crawl.ReasonPrivateAddress)
	b.get(url+"/page", func(f *crawl.Fetch) { f.Task.Job = "may-not" }).want(t, crawl.VerdictRefused,
		crawl.ReasonPrivateAddress)
	b.get(url+"/page", func(f *crawl.Fetch) { f.Task.Job = "may" }).want(t, crawl.VerdictRetry, crawl.ReasonRobots)
}
