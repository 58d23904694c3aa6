package frontier

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Assets are fetched when the page budget of their job is spent: their pages were. So the pages that wait then are set
// aside, else they would be before the assets in the queues of their hosts, and the job has ended when nothing but
// those is left. Where a bound of the job is met (crawl.Bounds) assets wait as well.

// assetsLeft reports whether something of a job that has spent its page budget may be an asset to fetch. mu is held.
func (f *Frontier) assetsLeft(js *jobState) bool {
	if !js.besides() {
		return false
	}
	for _, l := range f.leases.byID {
		if l.js == js {
			return true
		}
	}
	if js.bound != "" {
		return false // nothing more is leased
	}
	if len(f.jobs.byID) == 1 {
		return f.stock.queued > f.stock.concluded()
	}
	return f.stock.fronts.holds(js.job.ID) || f.stock.retries() || f.hosts.holds(js.job.ID)
}

// besides reports whether the job fetches anything that its page budget does not bound.
func (js *jobState) besides() bool { return js.job.Assets.Wanted() || js.job.Render.Wanted() }

// holds reports whether a job has tasks in front queues.
func (fs *fronts) holds(job crawl.JobID) bool {
	if fs.owner == job {
		job = ""
	}
	for _, n := range fs.of(job).lengths {
		if n > 0 {
			return true
		}
	}
	return false
}

// retries reports whether any task waits for another attempt soon.
func (s *stock) retries() bool {
	for number, q := range s.later {
		if !isShut(number) && q.count > 0 {
			return true
		}
	}
	return false
}

// holds reports whether a job has tasks at a host.
func (hs *hosts) holds(job crawl.JobID) (found bool) {
	hs.each(func(h *host) {
		h.eachLane(func(l *lane) { found = found || l.job == job && l.work() })
	})
	return found
}

// judgePage decides about an asset that turned out to be a page: it is fetched again as one, unless the job does not
// want that page. Then it is left out as a page, for the rule that says so, and a revision that wants it lets it in.
func (f *Frontier) judgePage(r *result) error {
	t := r.Task
	t.Kind = crawl.KindPage
	reason, rule := crawl.ReasonScope, ""
	if f.deps.Judge != nil {
		var err error
		if reason, rule, err = f.deps.Judge(r.job, &t); err != nil {
			return fmt.Errorf("frontier: judge %s, which was asked for as an asset: %w", t.URL, err)
		}
	}
	if reason != "" {
		r.Task.Epoch = epochOf(r.job)
		r.Verdict, r.Reason, r.Detail = crawl.VerdictExcluded, reason, rule
	}
	return nil
}

// kindOf is the kind by which the ledger knows a URL from its outcome on. An asset that was fetched and left out is a
// page that the job does not want: see judgePage.
func kindOf(out *crawl.Outcome) crawl.Kind {
	if out.Task.Kind == crawl.KindAsset && out.Verdict == crawl.VerdictExcluded && out.Contacted() {
		return crawl.KindPage
	}
	return out.Task.Kind
}
