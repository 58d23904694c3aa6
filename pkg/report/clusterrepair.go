package report

import (
	"context"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ClusterStores are what a repair of a cluster's job changes.
type ClusterStores struct {
	URLs crawl.URLSet
	// Ledger takes outcomes back, hands out what is open, and counts again.
	Ledger interface {
		Reopen(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error
		Open(ctx context.Context, in []weburl.KeyRange, owned func(weburl.URL) bool, each func(crawl.Task) error) error
		// CountAgain makes the counters of a job those of its rows.
		CountAgain(ctx context.Context, job crawl.JobID) error
	}
	// Content forgets what is kept of pages.
	Content interface {
		Forget(ctx context.Context, job crawl.JobID, keys ...weburl.Key) error
	}
	Records interface {
		// SetAside moves what is stored under a key out of the way, and returns where it lies now.
		SetAside(ctx context.Context, key weburl.Key) (where string, err error)
	}
	Publish func(ctx context.Context, msgs ...bus.Message) error
}

// Repair puts right what an audit of the job finds: pages that were lost are fetched again, URLs that were lost are
// queued again, records that are damaged are set aside, counters are counted again. It may be interrupted and run
// again. While messages move it does no more than queue lost URLs: what else seems lost may be on its way.
func (j *ClusterJob) Repair(ctx context.Context, to ClusterStores) (out crawl.RepairReport, err error) {
	var found []finding
	var places []*place
	a := j.newAudit()
	a.found = func(kind finding, p *place) { found, places = append(found, kind), append(places, p) }
	r, err := a.run(ctx)
	if err != nil {
		return out, err
	}
	if len(r.Faults) == 0 {
		out.Unproven = r.Doubts()
		return out, nil
	}
	out.Left = leftOver(r)
	m := mender{ClusterStores: to, job: j.Info.ID, out: &out, again: map[weburl.Key]bool{},
		lost: map[weburl.Key]bool{}}
	if len(out.Left) > 0 { // what the frontiers do not hold is lost, whatever moves: it is queued again all the same
		for i, p := range places {
			if found[i] == nowhere {
				m.lost[p.key] = true
			}
		}
		if onlyLost(r, a) {
			out.Left = nil
		}
		return out, m.requeue(ctx, false)
	}
	for i, p := range places {
		if err := m.mend(ctx, found[i], p); err != nil {
			return out, fmt.Errorf("repair %s: %w", p.name(), err)
		}
	}
	if err := m.requeue(ctx, a.byCount || r.Cluster.LostOfAll > r.Lost); err != nil {
		return out, fmt.Errorf("repair job %s: %w", m.job, err)
	}
	if r.TallyOff > 0 {
		if err := to.Ledger.CountAgain(ctx, m.job); err != nil {
			return out, fmt.Errorf("repair job %s: %w", m.job, err)
		}
		out.Counters = r.TallyOff
	}
	return out, nil
}

// onlyLost reports whether nothing is wrong but that URLs are lost which are known.
func onlyLost(r *crawl.AuditReport, a *clusterAudit) bool {
	return len(r.Faults) == 1 && r.Lost > 0 && !a.byCount && r.Lost == r.Cluster.LostOfAll
}

// leftOver says what a repair cannot put right, or not now.
func leftOver(r *crawl.AuditReport) (left []string) {
	if !r.Cluster.Still {
		left = append(left, "messages move, so that what seems lost may be on its way: `whirlpool pause --cluster` the "+
			"job, and repair it when nothing is under way")
	}
	if n := r.Cluster.BadStates; n > 0 {
		left = append(left, fmt.Sprintf("%d URLs are in none of the states open, done and left out: a build that does not "+
			"know their state wrote them, or the database is damaged; restore a copy of it", n))
	}
	return left
}

// mender is a repair on its way.
type mender struct {
	ClusterStores
	job   crawl.JobID
	out   *crawl.RepairReport
	again map[weburl.Key]bool // pages to be fetched again
	lost  map[weburl.Key]bool // open URLs to be queued again
}

// mend does about one page what its finding asks for, but for queueing it.
func (m *mender) mend(ctx context.Context, kind finding, p *place) error {
	if kind == nowhere {
		m.lost[p.key] = true
		return nil
	}
	m.again[p.key] = true
	switch kind {
	case badRecord:
		return m.setAside(ctx, p)
	case orphan: // its original is in no store
		if err := m.setAside(ctx, p); err != nil {
			return err
		}
		return m.Content.Forget(ctx, m.job, p.key)
	case stray:
		return m.claim(ctx, p)
	case unfinished, vanished:
	}
	return nil
}

func (m *mender) setAside(ctx context.Context, p *place) error {
	where, err := m.Records.SetAside(ctx, p.key)
	if err == nil && where != "" {
		m.out.SetAside, m.out.AsideFile = m.out.SetAside+1, where
	}
	return err
}

// claim claims the URL of unclaimed content. If its URL is unknown too, the content is set aside.
func (m *mender) claim(ctx context.Context, p *place) error {
	u := weburl.URL{}
	switch {
	case p.print != nil:
		u = p.print.URL
	case p.record != nil:
		u = p.record.URL
	}
	if u.IsZero() || u.Key() != p.key {
		return m.setAside(ctx, p)
	}
	by := crawl.VisitID(m.job, crawl.KindPage, p.key, 0).Child("repair", 0)
	_, err := m.URLs.Claim(ctx, m.job, by, []crawl.Task{{Job: m.job, URL: u}})
	if err == nil {
		m.out.Claimed++
	}
	return err
}

// perMessage is how many tasks travel in one message.
const perMessage = 200

// requeue opens the pages that are to be fetched again, and queues them and what is lost; all that is open where nobody
// knows what is lost: what is queued already is dropped when its turn comes.
func (m *mender) requeue(ctx context.Context, all bool) error {
	keys := make([]weburl.Key, 0, len(m.again))
	for k := range m.again {
		keys = append(keys, k)
	}
	for some := range slices.Chunk(keys, 1000) {
		if err := m.Ledger.Reopen(ctx, m.job, some...); err != nil {
			return err
		}
	}
	if len(keys)+len(m.lost) == 0 && !all {
		return nil
	}
	var tasks []crawl.Task
	flush := func() error {
		if len(tasks) == 0 {
			return nil
		}
		id := tasks[0].ID().Child("repair", len(tasks))
		err := m.Publish(ctx, bus.Message{ID: id, Event: &crawl.Fresh{Tasks: tasks}})
		m.out.Queued, tasks = m.out.Queued+int64(len(tasks)), nil
		return err
	}
	err := m.Ledger.Open(ctx, weburl.AllKeys(), func(weburl.URL) bool { return true }, func(t crawl.Task) error {
		if k := t.URL.Key(); t.Job != m.job || !all && !m.again[k] && !m.lost[k] {
			return nil
		}
		if tasks = append(tasks, t); len(tasks) < perMessage {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return err
}
