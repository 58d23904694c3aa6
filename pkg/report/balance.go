package report

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// look is the cluster in figures at a moment: enough to see that nothing moves.
type look struct {
	tallies  map[crawl.JobID]moving
	pipeline *Pipeline
}

// moving are the figures of a job that change whenever something happens to it.
type moving struct{ claimed, open, excluded int64 }

func (a *clusterAudit) look(ctx context.Context) (l look, err error) {
	l.tallies = map[crawl.JobID]moving{}
	jobs, err := a.j.src.Jobs.List(ctx)
	if err != nil {
		return l, err
	}
	for _, j := range jobs { // unknown jobs too: their tasks may be in the queues
		t, err := a.j.src.Ledger.Tally(ctx, j.ID)
		if err != nil {
			return l, err
		}
		l.tallies[j.ID] = moving{t.Claimed, openOf(t), sum(t.Excluded)}
	}
	mine := l.tallies[a.job]
	mine.open += a.uncounted
	l.tallies[a.job] = mine
	if l.pipeline, err = a.j.depths(ctx); err == nil {
		a.noteUnreachable(l.pipeline)
	}
	return l, err
}

// noteUnreachable notes which nodes' brokers did not answer.
func (a *clusterAudit) noteUnreachable(p *Pipeline) {
	if names := p.Away(); names != "" {
		a.away = names
	}
}

// noteAway notes which nodes' brokers did not answer, of an error that says so.
func (a *clusterAudit) noteAway(err error) {
	if names := Away(err); names != "" {
		a.away = names
	}
}

// open is how many URLs of all jobs are open.
func (l look) open() (n int64) {
	for _, m := range l.tallies {
		n += m.open
	}
	return n
}

// same reports whether nothing was under way at either look, and nothing happened in between.
func (l look) same(m look) bool {
	return l.pipeline.UnderWay() == 0 && m.pipeline.UnderWay() == 0 && maps.Equal(l.tallies, m.tallies) &&
		l.pipeline.Frontier.Tasks() == m.pipeline.Frontier.Tasks()
}

// The balance is struck over several looks: the broker counts its queues one after another, so that a task may move
// past one.
const (
	looks     = 5
	lookEvery = 200 * time.Millisecond
)

// balance compares the open URLs of all jobs with the tasks that wait and the messages under way, and asks the
// frontiers for those of this job. A broker does not count by jobs, and its figures prove a loss at most: a copy of one
// task may stand for another that is gone.
func (a *clusterAudit) balance(ctx context.Context) error {
	last, err := a.look(ctx)
	if err != nil {
		return err
	}
	still, least := true, last.shortage()
	for range looks - 1 {
		if err := a.j.pause(ctx, lookEvery); err != nil {
			return err
		}
		next, err := a.look(ctx)
		if err != nil {
			return err
		}
		still, least = still && last.same(next), min(least, next.shortage())
		last = next
	}
	p := last.pipeline
	a.OpenOfAll, a.Queued, a.InFlight = last.open(), p.Frontier.Tasks(),
		p.in(crawl.TopicFetch, crawl.TopicOutcome, crawl.TopicFrontierIn)
	var found *searched
	if last.tallies[a.job].open > 0 && a.away == "" && !last.moves() {
		if found, err = a.search(ctx); err != nil {
			return err
		}
	}
	a.settle(last, still, least-a.buriedOfAll, found)
	return nil
}

// moves reports whether the owner of some URLs is not certain.
func (l look) moves() bool { return l.pipeline.Ring != nil && l.pipeline.Ring.Moving > 0 }

// shortage is by how much the open URLs exceed what could hold them; never more than 0 while fresh tasks are on their
// way, whose messages hold many.
func (l look) shortage() int64 {
	p := l.pipeline
	if p.in(crawl.TopicFrontierIn) > 0 {
		return 0
	}
	return l.open() - p.Frontier.Tasks() - p.in(crawl.TopicFetch, crawl.TopicOutcome)
}

// settle draws the conclusion: found is what the frontiers said; by the figures, short URLs of all jobs are in no queue
// and no message.
func (a *clusterAudit) settle(l look, still bool, short int64, found *searched) {
	mine := l.tallies[a.job].open
	switch {
	case a.away != "":
		a.unproven("its %d open URLs are queued or under way, and no links are lost; the brokers of some nodes do not "+
			"answer, and what waits there is not known: %s", mine, a.away)
	case mine == 0: // whatever is in the queues, this job lacks nothing
	case l.moves():
		a.unproven("its %d open URLs are queued or under way; %d virtual nodes are on their way, whose open URLs are being "+
			"read from the ledger", mine,
			l.pipeline.Ring.Moving)
	case found.silent == "":
		doubted := a.judgeSearch(found)
		if still && a.unreadable == 0 && mine < l.open() { // the figures lack the doubted ones, too
			a.LostOfAll = max(a.LostOfAll, short-doubted)
		}
	case short <= 0 || !still:
		a.unproven("its %d open URLs are queued or under way: %s", mine, found.silent)
	case a.unreadable > 0:
		a.unproven("all of its %d open URLs are queued or under way; %d of all jobs' are not seen there, but %d dead "+
			"letters cannot be read", mine, short, a.unreadable)
	case mine == l.open():
		a.Lost, a.LostOfAll = short, short
		a.byCount = true
	default: // at least those for which there would be no room if all tasks were of this job
		a.Lost, a.LostOfAll = max(0, short-(l.open()-mine)), short
		a.byCount = true
	}
}

func (a *clusterAudit) unproven(format string, args ...any) {
	a.ClusterAudit.Unproven = append(a.ClusterAudit.Unproven, fmt.Sprintf(format, args...))
}

// recount compares the counters with the rows, both of one moment.
func (a *clusterAudit) recount(ctx context.Context) error {
	counted, stood, err := a.j.src.Ledger.Recount(ctx, a.job)
	if err != nil {
		return err
	}
	a.uncounted = openOf(counted) - openOf(stood)
	compareCounts(a, "", map[string]int64{"claimed": counted.Claimed, "pages": counted.Pages},
		map[string]int64{"claimed": stood.Claimed, "pages": stood.Pages})
	compareCounts(a, "verdict ", counted.Verdicts, stood.Verdicts)
	compareCounts(a, "status ", counted.Statuses, stood.Statuses)
	compareCounts(a, "left out ", counted.Excluded, stood.Excluded)
	return nil
}

func compareCounts[K comparable](a *clusterAudit, kind string, counted, stood map[K]int64) {
	names := maps.Clone(counted)
	if names == nil {
		names = map[K]int64{}
	}
	maps.Copy(names, stood)
	for name := range names {
		if counted[name] != stood[name] {
			a.TallyOff++
			a.Example("counter", fmt.Sprintf("%s%v: %d, counted %d", kind, name, stood[name], counted[name]))
		}
	}
}

// judge turns what must not be into sentences, and what could not be told into others.
func (a *clusterAudit) judge() {
	if a.Still { // nothing is on its way
		a.Missing, a.OnTheWay = a.Missing+a.OnTheWay, 0
		for _, u := range a.Examples["record on its way"] {
			a.Example("missing record", u)
		}
		delete(a.Examples, "record on its way")
	}
	if a.OnTheWay > 0 {
		a.unproven("the records of %d fingerprints are stored; they may be on their way", a.OnTheWay)
	}
	a.doubtPages()
	if a.LostOfAll > a.Lost || a.byCount {
		for _, u := range a.Examples["open"] {
			a.Example("open, the lost among them", u)
		}
	}
	delete(a.Examples, "open")
	fault := func(n int64, format string) {
		if n > 0 {
			a.Faults = append(a.Faults, fmt.Sprintf(format, n))
		}
	}
	fault(a.Lost, "%d open URLs are in no queue, no message and no dead letter: they are lost")
	if a.Lost == 0 {
		fault(a.LostOfAll,
			"%d open URLs of this or another job are in no queue, no message and no dead letter: they are lost")
	}
	fault(a.Vanished, "%d pages were fetched, and have neither a record nor a reason why not: they are lost")
	fault(a.Waiting, "%d pages were fetched, and their content or links have not come to their end, though nothing "+
		"moves: links are lost; a node that runs fetches them again by itself")
	fault(a.Damaged, "%d stored records are not what was stored: their checksums are wrong")
	fault(a.BadStates, "%d URLs are in none of the states open, done and left out")
	fault(a.Missing, "%d pages have a fingerprint, but their records are not stored")
	fault(a.Unprinted, "%d stored records have no fingerprint")
	fault(a.StrayPages, "%d pages have a record or a fingerprint, but nobody claimed their URLs")
	fault(a.Misfiled, "%d records stand under the key of another URL")
	fault(a.Orphans, "%d copies name an original that has no fingerprint")
	fault(a.TallyOff, "%d counters are wrong")
	fault(a.Forgotten, "%d pages are neither due nor queued nor under way: they would never be visited again; a node "+
		"that runs has them visited by itself")
}

// doubtPages makes doubts of pages that may be on their way, or in a dead letter that cannot be read.
func (a *clusterAudit) doubtPages() {
	why := ""
	switch {
	case !a.Still:
		why = "they may be on their way"
	case a.unreadable > 0:
		why = fmt.Sprintf("%d dead letters cannot be read", a.unreadable)
	}
	if a.Vanished > 0 && why != "" && (a.Still || a.fresh == a.Vanished) {
		a.unproven("%d pages that were fetched have a record, or a reason why not; %s", a.Vanished, why)
		a.Vanished = 0
	}
	if a.Waiting > 0 && why != "" {
		a.unproven("the content and the links of %d pages have come to their end; %s", a.Waiting, why)
		a.Waiting = 0
	}
}

// readPolicies notes what lets brokers drop messages at any moment: what was found holds for as long as nothing is lost
// that way. A job that needs no message any more lacks nothing by it.
func (a *clusterAudit) readPolicies(ctx context.Context, now look) error {
	if now.tallies[a.job].open == 0 && a.Waiting == 0 {
		return nil
	}
	policies, err := a.j.policies(ctx)
	if partial(err) != nil {
		return err
	}
	for _, p := range policies {
		a.unproven("what is queued stays there: there is the %s; %s", p, policyHelp)
	}
	return nil
}
