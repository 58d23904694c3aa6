package report

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Looks asks the frontiers of all nodes which URLs of a job they hold: see crawl.QueueLook.
type Looks interface {
	// Ask begins a look, and End forgets it.
	Ask(ctx context.Context, job crawl.JobID) (id int64, err error)
	End(ctx context.Context, id int64) error
	Answers(ctx context.Context, id int64) ([]crawl.LookAnswer, error)
	// NoteOpen notes which URLs are open now, and returns their number.
	NoteOpen(ctx context.Context, id int64, job crawl.JobID) (int64, error)
	// Close asks the frontiers to end the look.
	Close(ctx context.Context, id int64) error
	// Unheld hands the URLs to each that were open when noted, are open now, and are not queued at any frontier.
	Unheld(ctx context.Context, id int64, job crawl.JobID, noted int64,
		each func(weburl.Key, weburl.URL, crawl.Holding) error) error
}

// How long a look waits for the frontiers to begin, to read their queues and to end, and for the topics to be empty for
// a moment.
const (
	askEvery    = 100 * time.Millisecond
	beginTries  = 200
	readTries   = 6000
	closeTries  = 600
	drainTries  = 50
	betweenLook = 2 * time.Second
)

// searched is what the frontiers said of the open URLs of a job.
type searched struct {
	silent  string // why it proves nothing; empty: all frontiers answered
	drained drained
	unread  int64                        // tasks that were not looked at, because their queues are too long
	unheld  map[weburl.Key]crawl.Holding // open URLs that are in no queue
	names   map[weburl.Key]weburl.URL    // of the first of them
}

// drained is which topics were seen empty since the look began, so that what they had is at a frontier, or lost. A
// topic counts only when that from which it gets its messages had been seen empty before.
type drained struct{ claims, fresh, leases, outcomes bool }

func (d *drained) note(p *Pipeline) {
	if p.Away() != "" {
		return
	}
	d.fresh = d.fresh || d.claims && p.in(crawl.TopicFrontierIn) == 0 && p.retrying(crawl.TopicOutcome) == 0
	d.claims = d.claims || p.in(crawl.TopicDUE) == 0
	d.outcomes = d.outcomes || d.leases && p.in(crawl.TopicOutcome) == 0
	d.leases = d.leases || p.in(crawl.TopicFetch) == 0
}

// retrying is how many messages of a topic wait for another try.
func (p *Pipeline) retrying(topic string) int64 {
	for i := range p.Topics {
		if p.Topics[i].Name == topic {
			return p.Topics[i].Retrying
		}
	}
	return 0
}

// search asks the frontiers for the open URLs of the job. Nothing but that tells whether one of them is queued: a
// broker counts, and a copy of one task may stand for another that is gone. What one look does not find is looked for
// once more, for it may have been in somebody's hands between the stores.
func (a *clusterAudit) search(ctx context.Context) (*searched, error) {
	first, err := a.lookOnce(ctx)
	if err == nil {
		maps.DeleteFunc(first.unheld, func(k weburl.Key, _ crawl.Holding) bool { return a.dead[k] })
	}
	if err != nil || first.silent != "" || len(first.unheld) == 0 {
		return first, err
	}
	if err := a.j.pause(ctx, betweenLook); err != nil {
		return nil, err
	}
	second, err := a.lookOnce(ctx)
	if err != nil || second.silent != "" {
		return second, err
	}
	for k := range second.unheld {
		if _, ok := first.unheld[k]; !ok {
			delete(second.unheld, k)
		}
	}
	if len(second.unheld) > 0 { // a message may have been buried meanwhile
		err = a.withoutBuried(ctx, second.unheld)
	}
	return second, err
}

// withoutBuried leaves out the URLs that are in dead letters by now.
func (a *clusterAudit) withoutBuried(ctx context.Context, unheld map[weburl.Key]crawl.Holding) error {
	letters, err := a.j.dead(ctx, maxLetters)
	if a.noteAway(err); partial(err) != nil {
		return err
	}
	for _, l := range letters {
		if l.Message.Event == nil || JobOf(l.Message.Event) != a.job {
			continue
		}
		for _, u := range urlsOf(l.Message.Event) {
			delete(unheld, u.Key())
		}
	}
	return nil
}

// lookOnce makes one look.
func (a *clusterAudit) lookOnce(ctx context.Context) (s *searched, err error) {
	looks := a.j.src.Looks
	nodes, err := a.j.frontiers(ctx)
	if err != nil {
		return nil, err
	}
	id, err := looks.Ask(ctx, a.job)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := looks.End(context.WithoutCancel(ctx), id); err == nil {
			err = e
		}
	}()
	s = &searched{unheld: map[weburl.Key]crawl.Holding{}, names: map[weburl.Key]weburl.URL{}}
	if err := a.await(ctx, id, s, nodes, crawl.LookBegun, beginTries); err != nil || s.silent != "" {
		return s, err
	}
	noted, err := looks.NoteOpen(ctx, id, a.job)
	if err != nil {
		return nil, err
	}
	if err := a.await(ctx, id, s, nodes, crawl.LookRead, readTries); err != nil || s.silent != "" {
		return s, err
	}
	if err := a.drain(ctx, id, s); err != nil {
		return nil, err
	}
	if err := looks.Close(ctx, id); err != nil {
		return nil, err
	}
	if err := a.await(ctx, id, s, nodes, crawl.LookClosed, closeTries); err != nil || s.silent != "" {
		return s, err
	}
	return s, looks.Unheld(ctx, id, a.job, noted, func(k weburl.Key, u weburl.URL, how crawl.Holding) error {
		s.unheld[k] = how
		if len(s.names) < 10*crawl.MaxExamples {
			s.names[k] = u
		}
		return nil
	})
}

// frontiers names the nodes whose frontiers have to answer; an empty name stands for the only one.
func (c *Cluster) frontiers(ctx context.Context) (names []string, err error) {
	s, err := c.survey(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range s.nodes {
		if n.State != nodeGone {
			names = append(names, n.Name)
		}
	}
	return names, nil
}

// nodeGone is the state of a node that owns nothing.
const nodeGone = "gone"

// await waits until all frontiers are so far, or says who is not.
func (a *clusterAudit) await(ctx context.Context, id int64, s *searched, nodes []string, step crawl.LookStep,
	tries int) error {
	var late []string
	for range tries {
		answers, err := a.j.src.Looks.Answers(ctx, id)
		if err != nil {
			return err
		}
		if s.silent = refusals(answers); s.silent != "" {
			return nil
		}
		s.unread = 0
		for _, w := range answers {
			s.unread += w.Unread
		}
		if late = behind(answers, nodes, step); len(late) == 0 {
			return nil
		}
		if err := a.j.pause(ctx, askEvery); err != nil {
			return err
		}
	}
	alarms, err := a.j.alarms(ctx)
	if err != nil {
		return err
	}
	if len(alarms) > 0 {
		s.silent = fmt.Sprintf("the frontier %s does not say what it holds, as there is the %s, by which it waits until the "+
			"broker takes messages: mend that, and ask again", strings.Join(late, ", "), alarms[0])
		return nil
	}
	s.silent = fmt.Sprintf("the frontier %s does not say what it holds (it is stopped, or waits for a service, or is an "+
		"earlier build): start it, and ask again", strings.Join(late, ", "))
	return nil
}

// refusals says which frontiers cannot answer, and why.
func refusals(answers []crawl.LookAnswer) string {
	var why []string
	for _, w := range answers {
		if w.Step == crawl.LookFailed {
			why = append(why, fmt.Sprintf("the frontier of node %s does not say what it holds: %s", w.Node, w.Fault))
		}
	}
	return strings.Join(why, "; ")
}

// behind names the frontiers that are not so far.
func behind(answers []crawl.LookAnswer, nodes []string, step crawl.LookStep) (late []string) {
	at := map[string]crawl.LookStep{}
	for _, w := range answers {
		at[w.Node] = w.Step
		at[""] = max(at[""], w.Step)
	}
	for _, n := range nodes {
		switch {
		case at[n] >= step:
		case n == "":
			late = append(late, "of the node")
		default:
			late = append(late, "of node "+n)
		}
	}
	return late
}

// drain looks until the topics that bring URLs to the frontiers were empty for a moment, or for some seconds.
func (a *clusterAudit) drain(ctx context.Context, id int64, s *searched) error {
	for range drainTries {
		p, err := a.j.depths(ctx)
		if err != nil {
			return err
		}
		a.noteUnreachable(p)
		if s.drained.note(p); s.drained.fresh && s.drained.outcomes {
			return nil
		}
		if _, err := a.j.src.Looks.Answers(ctx, id); err != nil { // keeps the look alive
			return err
		}
		if err := a.j.pause(ctx, askEvery); err != nil {
			return err
		}
	}
	return nil
}

// judgeSearch draws the conclusion of a search: lost URLs are named, and given to a repair. It returns how many are in
// no queue, and not lost for all that.
func (a *clusterAudit) judgeSearch(s *searched) (doubted int64) {
	count := map[urlVerdict]int64{}
	for k, how := range s.unheld {
		v := s.verdict(how)
		if count[v]++; v == urlLost || v == leaseLost {
			a.tell(nowhere, &place{key: k})
		}
	}
	for k, u := range s.names {
		switch how, ok := s.unheld[k]; {
		case !ok:
		case s.verdict(how) == urlDoubted, s.verdict(how) == leaseGone:
			a.Example("open, and seen in no queue", u.String())
		case s.verdict(how) != urlHeld:
			a.Example("open, in no queue and no message", u.String())
		}
	}
	var why []string
	because := func(n int64, format string) {
		if n > 0 {
			why = append(why, fmt.Sprintf(format, n))
		}
	}
	because(count[urlDoubted], "messages move that may hold %d of them")
	because(count[leaseGone], "%d are leased, and requests may be made whose messages are gone: their node leases them "+
		"again when no fetch takes as long")
	because(min(s.unread, s.unread*count[urlLost]), "%d tasks were not looked at, because their queues are too long")
	if a.Lost = max(count[urlLost]-s.unread, 0) + count[leaseLost]; a.unreadable > 0 {
		a.Lost = 0
		because(a.unreadable, "%d dead letters cannot be read")
	}
	all := count[urlLost] + count[leaseLost] + count[leaseGone] + count[urlDoubted]
	if a.LostOfAll = a.Lost; all > a.Lost {
		a.unproven("all of its open URLs are queued or under way; %d are not seen there, but %s", all-a.Lost,
			strings.Join(why, ", and "))
	}
	return count[leaseGone] + count[urlDoubted]
}

// verdict is what is to be thought of a URL that is in no queue.
func (s *searched) verdict(how crawl.Holding) urlVerdict {
	switch {
	case how == crawl.HeldNowhere && s.drained.fresh:
		return urlLost
	case how == crawl.HeldOverdue && s.drained.outcomes:
		return leaseLost
	case how == crawl.HeldLeased && s.drained.outcomes:
		return leaseGone
	case how == crawl.HeldLeased:
		return urlHeld
	}
	return urlDoubted
}

// urlVerdict is what a search says of an open URL.
type urlVerdict int

const (
	urlHeld    urlVerdict = iota
	urlLost               // nobody has it
	leaseGone             // it is leased, and neither its message nor that of its outcome is anywhere
	leaseLost             // and no fetch takes as long
	urlDoubted            // a message may have it
)
