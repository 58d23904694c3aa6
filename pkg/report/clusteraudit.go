package report

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// settled is the age of a fingerprint beyond which its record is stored or lost: retries of a message take minutes.
const settled = 30 * time.Minute

// finding is what is wrong with a page, for a repair.
type finding int

const (
	unfinished finding = iota // its content or its links have not come to their end
	vanished                  // it has no record, or a record without fingerprint
	badRecord                 // its record is damaged, or another URL's
	orphan                    // it is a copy of an original that is in no store
	stray                     // its URL is not claimed
	nowhere                   // it is open, and in no queue and no message
)

func (a *clusterAudit) tell(kind finding, p *place) {
	if a.found != nil {
		a.found(kind, p)
	}
}

// clusterAudit is an audit on its way.
//
// It walks through the ledger, the fingerprints and the stored records of the job side by side, in the order of their
// keys, and counts; it compares the counters with the rows; and it asks the frontiers for each open URL (search.go).
// The stores are not read at one moment, so that whatever seems wrong is looked up again, and what may still be on its
// way is no fault.
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
	fresh       int64               // of Vanished, those that were fetched a moment ago
	byCount     bool                // Lost follows from figures: nobody knows which
	// found is called with every URL that a repair has to handle; nil: no repair.
	found func(kind finding, p *place)
}

// Audit implements View. It reads the whole job: some seconds for a million URLs, and the records besides.
func (j *ClusterJob) Audit(ctx context.Context) (*crawl.AuditReport, error) {
	return j.newAudit().run(ctx)
}

func (a *clusterAudit) run(ctx context.Context) (*crawl.AuditReport, error) {
	err := a.recount(ctx)
	var before, after look
	if err == nil {
		before, err = a.look(ctx)
	}
	if err == nil {
		err = a.readLetters(ctx, before.pipeline.DeadLetters)
	}
	for _, step := range []func(context.Context) error{a.join, a.balance, a.countWaiting, a.countAgain} {
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
	if err := a.readPolicies(ctx, after); err != nil {
		return nil, fmt.Errorf("audit job %s: %w", a.job, err)
	}
	a.Still = before.same(after) && a.away == ""
	a.judgeAgain(after)
	a.judge()
	return &a.AuditReport, nil
}

// readLetters counts the dead letters and notes the job's URLs in them. Of as many as there were some may not be seen:
// there are too many, or somebody else reads them at the moment.
func (a *clusterAudit) readLetters(ctx context.Context, there int64) error {
	letters, err := a.j.dead(ctx, maxLetters)
	if a.noteAway(err); partial(err) != nil {
		return err
	}
	a.DeadLetters = max(int64(len(letters)), there)
	a.unreadable = a.DeadLetters - int64(len(letters))
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

// countWaiting counts the pages whose content or links have not come to their end, but for those in dead letters.
func (a *clusterAudit) countWaiting(ctx context.Context) error {
	return a.j.src.Following.Missing(ctx, a.job, a.j.now(), func(t crawl.Task) error {
		if a.dead[t.URL.Key()] {
			a.BuriedPages++
			return nil
		}
		a.Waiting++
		a.Example("page that has not come to its end", t.URL.String())
		a.tell(unfinished, &place{key: t.URL.Key(), task: &t})
		return nil
	})
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
	var out []weburl.URL
	if _, page, ok := crawl.PageOf(e); ok {
		out = append(out, page)
	}
	for _, t := range crawl.TasksOf(e) {
		out = append(out, t.URL)
	}
	return out
}

// join walks through the three stores side by side.
func (a *clusterAudit) join(ctx context.Context) error {
	ledger, err := startWalk("entries of the ledger", func(yield func(weburl.Key, crawl.LedgerRow) error) error {
		return a.j.src.Ledger.Entries(ctx, a.job, func(r crawl.LedgerRow) error { return yield(r.Key, r) })
	})
	defer ledger.close()
	if err != nil {
		return err
	}
	prints, err := startWalk("fingerprints", func(yield func(weburl.Key, crawl.StoredFingerprint) error) error {
		return a.j.src.Fingerprints.Each(ctx, a.job, yield)
	})
	defer prints.close()
	if err != nil {
		return err
	}
	records, err := startWalk("records", func(yield func(weburl.Key, crawl.RecordHead) error) error {
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
	entry  *crawl.LedgerRow
	print  *crawl.StoredFingerprint
	record *crawl.RecordHead
	task   *crawl.Task // of a page that has not come to its end
}

// name is the URL, where a store knows it.
func (p *place) name() string {
	switch {
	case p.entry != nil && !p.entry.URL.IsZero():
		return p.entry.URL.String()
	case p.print != nil:
		return p.print.URL.String()
	case p.record != nil && !p.record.URL.IsZero():
		return p.record.URL.String()
	}
	return p.key.String()
}

// visit counts what is under a key, and what is wrong there.
func (a *clusterAudit) visit(ctx context.Context, p *place) error {
	if p.entry != nil {
		if err := a.countEntry(ctx, p); err != nil {
			return err
		}
	}
	if p.print != nil {
		a.countPrint(p)
	}
	if p.record != nil {
		a.countRecord(p)
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

// countRecord counts a record, and those that are not what was stored.
func (a *clusterAudit) countRecord(p *place) {
	a.Pages++
	switch r := p.record; {
	case !r.URL.IsZero() && r.URL.Key() != p.key:
		a.Misfiled++
		a.Example("misfiled record", fmt.Sprintf("%s under the key of %s", r.URL, p.name()))
		a.tell(badRecord, p)
	case r.Damaged:
		a.Damaged++
		a.Example("damaged record", p.name())
		a.tell(badRecord, p)
	case r.Unsummed:
		a.Unsummed++
	}
}

func (a *clusterAudit) countEntry(ctx context.Context, p *place) error {
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
	if e.State != crawl.StateDone || e.Kind != crawl.KindPage || e.Status/100 != 2 ||
		!crawl.HasLinks(e.Kind, e.Verdict, e.Status) {
		return nil
	}
	a.Fetched++
	switch {
	case p.print != nil || p.record != nil:
		return nil
	case e.Unkept != "":
		a.Unstored++
		if a.Reasons == nil {
			a.Reasons = map[string]int64{}
		}
		a.Reasons[e.Unkept]++
		return nil
	}
	return a.checkVanished(ctx, p)
}

// checkVanished finds pages that were fetched and have neither a record nor a reason why not. They may be on their way,
// or in a dead letter.
func (a *clusterAudit) checkVanished(ctx context.Context, p *place) error {
	if a.dead[p.key] {
		return nil
	}
	_, found, err := a.j.src.Fingerprints.Fingerprint(ctx, a.job, p.key)
	if err != nil || found {
		return err
	}
	reasons, err := a.j.src.Unkept.Reasons(ctx, a.job, p.key)
	if err != nil || reasons[0] != "" {
		return err
	}
	entries, err := a.j.src.Ledger.Lookup(ctx, a.job, p.key)
	if err != nil || entries[0].State != crawl.StateDone {
		return err
	}
	a.Vanished++
	if a.j.now().Sub(p.entry.At) < settled {
		a.fresh++
	}
	a.Example("page without record and reason", p.name())
	a.tell(vanished, p)
	return nil
}

func (a *clusterAudit) countPrint(p *place) {
	if p.print.Sameness == crawl.Original {
		a.Originals++
		return
	}
	a.Copies++
	if p.print.Of.IsZero() {
		a.Orphans++
		a.tell(orphan, p)
		a.Example("copy without original", p.name())
	}
}

// checkKnown finds content of unclaimed URLs. A claim is stored before everything else, so a missing one was never
// made.
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
		a.tell(stray, p)
		a.Example("content that nobody claimed", p.name())
	}
	return nil
}

// checkMissing finds records that are not stored although their fingerprints are: the fingerprint comes first, so the
// record may be on its way, or in a dead letter.
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
	a.tell(vanished, p)
	return nil
}

// checkUnprinted finds records without fingerprint. The fingerprint comes first, so that one that is not there now was
// lost.
func (a *clusterAudit) checkUnprinted(ctx context.Context, p *place) error {
	_, found, err := a.j.src.Fingerprints.Fingerprint(ctx, a.job, p.key)
	if err != nil || found {
		return err
	}
	a.Unprinted++
	a.tell(vanished, p)
	a.Example("record without fingerprint", p.name())
	return nil
}
