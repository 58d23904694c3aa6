package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/weburl"
)

// settled is the age of a fingerprint beyond which its record is stored or lost: retries of a message take minutes.
const settled = 30 * time.Minute

// clusterAudit is an audit on its way.
//
// It walks through the ledger, the fingerprints and the stored records of the job side by side, in the order of their keys, and
// counts; it compares the counters with the rows; and it compares the number of open URLs with what waits in the frontier's queues, whose
// messages it cannot read without taking them. The stores are not read at one moment, so that whatever seems wrong is looked
// up again, and what may still be on its way is no fault.
type clusterAudit struct {
	crawl.AuditReport
	*crawl.ClusterAudit
	j           *ClusterJob
	job         crawl.JobID
	dead        map[weburl.Key]bool // URLs of the job in dead letters
	buriedOfAll int64               // open URLs of all jobs in dead letters
	unreadable  int64               // dead letters that may hold more
	away        string              // nodes whose brokers did not answer, at any look
	uncounted   int64               // open URLs of the job that its counters do not know of
}

// Audit implements View. It reads the whole job: some seconds for a million URLs.
func (j *ClusterJob) Audit(ctx context.Context) (*crawl.AuditReport, error) {
	a := &clusterAudit{j: j, job: j.Info.ID, ClusterAudit: &crawl.ClusterAudit{Job: j.Info.ID}, dead: map[weburl.Key]bool{}}
	a.Cluster = a.ClusterAudit
	err := a.recount(ctx)
	var before, after look
	if err == nil {
		before, err = a.look(ctx)
	}
	for _, step := range []func(context.Context) error{a.readLetters, a.join, a.balance, a.countWaiting} {
		if err == nil {
			err = step(ctx)
		}
	}
	if err == nil {
		after, err = a.look(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("audit job %s: %w", a.job, err)
	}
	a.Still = before.same(after) && a.away == ""
	a.judge()
	return &a.AuditReport, nil
}

// readLetters counts the dead letters and notes the job's URLs in them.
func (a *clusterAudit) readLetters(ctx context.Context) error {
	letters, err := a.j.dead(ctx, maxLetters)
	if partial(err) != nil {
		return err
	}
	a.DeadLetters = int64(len(letters))
	urls := map[crawl.JobID]map[weburl.Key]bool{a.job: a.dead}
	for _, l := range letters {
		if l.Message.Event == nil {
			a.unreadable++
			a.Example("dead letter that nobody can read", l.Message.ID.String())
			continue
		}
		job := JobOf(l.Message.Event)
		if urls[job] == nil {
			urls[job] = map[weburl.Key]bool{}
		}
		for _, u := range urlsOf(l.Message.Event) {
			urls[job][u.Key()] = true
		}
	}
	for job, keys := range urls {
		n, err := a.countOpen(ctx, job, slices.Collect(maps.Keys(keys)))
		if err != nil {
			return err
		}
		if a.buriedOfAll += n; job == a.job {
			a.Buried = n
		}
	}
	return nil
}

// countWaiting counts the pages whose links are on their way.
func (a *clusterAudit) countWaiting(ctx context.Context) (err error) {
	if f := a.j.src.Following; f != nil {
		a.Waiting, err = f.Waiting(ctx, a.job)
	}
	return err
}

// countOpen counts those of the URLs that have no outcome.
func (a *clusterAudit) countOpen(ctx context.Context, job crawl.JobID, keys []weburl.Key) (n int64, err error) {
	for some := range slices.Chunk(keys, 1000) {
		entries, err := a.j.src.Ledger.Lookup(ctx, job, some...)
		if err != nil {
			return n, err
		}
		for i := range entries {
			if entries[i].State == crawl.StateOpen {
				n++
			}
		}
	}
	return n, nil
}

// urlsOf are the URLs whose story an event goes on with.
func urlsOf(e crawl.Event) []weburl.URL {
	switch e := e.(type) {
	case *crawl.Page:
		return []weburl.URL{e.Task.URL}
	case *crawl.Document:
		return []weburl.URL{e.Page.Task.URL}
	}
	var out []weburl.URL
	for _, t := range crawl.TasksOf(e) {
		out = append(out, t.URL)
	}
	return out
}

// join walks through the three stores side by side.
func (a *clusterAudit) join(ctx context.Context) error {
	ledger, err := startWalk("entries of the ledger", func(yield func(weburl.Key, postgres.Row) error) error {
		return a.j.src.Ledger.Entries(ctx, a.job, func(r postgres.Row) error { return yield(r.Key, r) })
	})
	defer ledger.close()
	if err != nil {
		return err
	}
	prints, err := startWalk("fingerprints", func(yield func(weburl.Key, postgres.Fingerprint) error) error {
		return a.j.src.Fingerprints.Each(ctx, a.job, yield)
	})
	defer prints.close()
	if err != nil {
		return err
	}
	records, err := startWalk("records", func(yield func(weburl.Key, weburl.URL) error) error {
		return a.j.records.Heads(ctx, yield)
	})
	defer records.close()
	if err != nil {
		return err
	}
	for {
		k, ok := least(ledger.at(), prints.at(), records.at())
		if !ok {
			return nil
		}
		at := place{key: k}
		if at.entry, err = ledger.take(k); err == nil {
			at.print, err = prints.take(k)
		}
		if err == nil {
			at.record, err = records.take(k)
		}
		if err == nil {
			err = a.visit(ctx, &at)
		}
		if err != nil {
			return err
		}
	}
}

// place is what the stores have under one key.
type place struct {
	key    weburl.Key
	entry  *postgres.Row
	print  *postgres.Fingerprint
	record *weburl.URL
}

// name is the URL, where a store knows it.
func (p *place) name() string {
	switch {
	case p.entry != nil && !p.entry.URL.IsZero():
		return p.entry.URL.String()
	case p.print != nil:
		return p.print.URL.String()
	case p.record != nil:
		return p.record.String()
	}
	return p.key.String()
}

// visit counts what is under a key, and what is wrong there.
func (a *clusterAudit) visit(ctx context.Context, p *place) error {
	if p.entry != nil {
		a.countEntry(p)
	}
	if p.print != nil {
		a.countPrint(p)
	}
	if p.record != nil {
		a.Pages++
		if p.record.Key() != p.key {
			a.Misfiled++
			a.Example("misfiled record", fmt.Sprintf("%s under the key of %s", p.record, p.name()))
		}
	}
	if err := a.checkKnown(ctx, p); err != nil {
		return err
	}
	switch {
	case p.print != nil && p.record == nil:
		return a.checkMissing(ctx, p)
	case p.print == nil && p.record != nil:
		return a.checkUnprinted(ctx, p)
	}
	return nil
}

func (a *clusterAudit) countEntry(p *place) {
	e := p.entry
	switch {
	case e.State == crawl.StateOpen:
		a.Open, a.Claimed = a.Open+1, a.Claimed+1
		a.Example("open", p.name())
	case e.State == crawl.StateDone && e.Verdict.Final():
		a.Done, a.Claimed = a.Done+1, a.Claimed+1
	case e.State == crawl.StateExcluded:
		a.Excluded++
	default:
		a.BadStates++
		a.Example("bad state", p.name())
	}
	if e.State == crawl.StateDone && e.Kind == crawl.KindPage && e.Verdict == crawl.VerdictDone && e.Status/100 == 2 {
		a.Fetched++
		if p.print == nil && p.record == nil {
			a.Unstored++
		}
	}
}

func (a *clusterAudit) countPrint(p *place) {
	if p.print.Sameness == crawl.Original {
		a.Originals++
		return
	}
	a.Copies++
	if p.print.Of.IsZero() {
		a.Orphans++
		a.Example("copy without original", p.name())
	}
}

// checkKnown finds content of URLs that nobody claimed. A claim comes before everything else, so one that is not there now was
// never made.
func (a *clusterAudit) checkKnown(ctx context.Context, p *place) error {
	if p.print == nil && p.record == nil || p.entry != nil && p.entry.State != crawl.StateExcluded {
		return nil
	}
	entries, err := a.j.src.Ledger.Lookup(ctx, a.job, p.key)
	if err != nil {
		return err
	}
	if s := entries[0].State; s == crawl.StateUnknown || s == crawl.StateExcluded {
		a.StrayPages++
		a.Example("content that nobody claimed", p.name())
	}
	return nil
}

// checkMissing finds records that are not stored although their fingerprints are: the fingerprint comes first, so the record
// may be on its way, or in a dead letter.
func (a *clusterAudit) checkMissing(ctx context.Context, p *place) error {
	_, found, err := a.j.records.PageLine(ctx, p.key)
	switch {
	case err != nil || found || a.dead[p.key]:
		return err
	case a.j.now().Sub(p.print.At) < settled:
		a.OnTheWay++
		a.Example("record on its way", p.name())
	default:
		a.Missing++
		a.Example("missing record", p.name())
	}
	return nil
}

// checkUnprinted finds records without fingerprint. The fingerprint comes first, so that one that is not there now was lost.
func (a *clusterAudit) checkUnprinted(ctx context.Context, p *place) error {
	_, found, err := a.j.src.Fingerprints.Fingerprint(ctx, a.job, p.key)
	if err != nil || found {
		return err
	}
	a.Unprinted++
	a.Example("record without fingerprint", p.name())
	return nil
}
