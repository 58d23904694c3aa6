package report

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// fakeLooks are the answers of frontiers. They hold what waits in front and back queues: of the open URLs of the first
// job as many as tasks are there, those of b.test first; those
// that are leased have a message; and those that a test says.
type fakeLooks struct {
	how    map[string]crawl.Holding // by URL
	stop   map[string]crawl.LookStep
	fails  string // why the frontier of node a, or the only one, fails
	unread int64
	asked  int
	ended  int
	found  func() // called before a second look
}

// Ask implements Looks.
func (f *fakeCluster) Ask(context.Context, crawl.JobID) (int64, error) {
	if f.looks.asked++; f.looks.asked == 2 && f.looks.found != nil {
		f.looks.found()
	}
	return int64(f.looks.asked), nil
}

func (f *fakeCluster) End(context.Context, int64) error   { f.looks.ended++; return nil }
func (f *fakeCluster) Close(context.Context, int64) error { return nil }
func (f *fakeCluster) NoteOpen(context.Context, int64, crawl.JobID) (int64, error) {
	return 1, nil
}

func (f *fakeCluster) Answers(context.Context, int64) (all []crawl.LookAnswer, err error) {
	for i, node := range []string{"a", "b"} {
		step, late := f.looks.stop[node]
		if !late {
			step = crawl.LookClosed
		}
		w := crawl.LookAnswer{Node: node, Step: step}
		if i == 0 {
			w.Unread = f.looks.unread
			if w.Fault = f.looks.fails; w.Fault != "" {
				w.Step = crawl.LookFailed
			}
		}
		if step > 0 {
			all = append(all, w)
		}
	}
	return all, nil
}

func (f *fakeCluster) Unheld(ctx context.Context, _ int64, job crawl.JobID, _ int64,
	each func(weburl.Key, weburl.URL, crawl.Holding) error) error {
	p, err := f.view.depths(ctx)
	if err != nil {
		return err
	}
	var open []weburl.URL
	for _, r := range f.rows[job] {
		if r.State == crawl.StateOpen {
			open = append(open, r.URL)
		}
	}
	rank := func(u weburl.URL) string { return strings.Replace(u.String(), "http://b.", " ", 1) }
	slices.SortFunc(open, func(a, b weburl.URL) int { return strings.Compare(rank(a), rank(b)) })
	tasks, leases := p.Frontier.Tasks(), p.in(crawl.TopicFetch)
	for _, u := range open {
		how, said := f.looks.how[u.String()]
		if !said {
			switch how = crawl.HeldNowhere; {
			case tasks > 0:
				how, tasks = crawl.HeldQueued, tasks-1
			case leases > 0:
				how, leases = crawl.HeldLeased, leases-1
			}
		}
		if how == crawl.HeldQueued {
			continue
		}
		if err := each(u.Key(), u, how); err != nil {
			return err
		}
	}
	return nil
}

const waits = "http://b.test/waits"

// An audit does not believe in figures: what no frontier has is lost, by name, however many tasks wait; and where a
// frontier does not say what it has, nothing is proven.
func TestAuditAsksTheFrontiers(t *testing.T) {
	nowhere := map[string]crawl.Holding{waits: crawl.HeldNowhere}
	queue := func(ds ...bus.Depth) func(*fakeCluster) {
		return func(f *fakeCluster) { f.queue(append(ds, bus.Depth{Queue: "back.7", Ready: 1})...) }
	}
	lost, unproven := "URLs are in no queue", "1 are not seen there, but "
	for name, tt := range map[string]struct {
		looks fakeLooks
		harm  func(f *fakeCluster)
		fault string
		doubt string
	}{
		"all is queued":                          {},
		"a copy of another task is in its place": {looks: fakeLooks{how: nowhere}, fault: lost},
		"more tasks than open URLs": {looks: fakeLooks{how: nowhere},
			harm: queue(bus.Depth{Queue: "front.3", Ready: 50}), fault: lost},
		"lost while others are fetched": {looks: fakeLooks{how: nowhere},
			harm: queue(bus.Depth{Queue: crawl.TopicFetch, Unacked: 3}), fault: lost},
		"fresh tasks are always under way": {looks: fakeLooks{how: nowhere},
			harm: queue(bus.Depth{Queue: crawl.TopicFrontierIn, Ready: 1}), doubt: unproven + "messages move"},
		"claims are always under way": {looks: fakeLooks{how: nowhere},
			harm: queue(bus.Depth{Queue: crawl.TopicDUE, Unacked: 1}), doubt: unproven + "messages move"},
		"an outcome that failed": {looks: fakeLooks{how: nowhere},
			harm: queue(bus.Depth{Queue: crawl.TopicOutcome + ".retry", Ready: 1}), doubt: unproven + "messages move"},
		"leased, and the message is there": {looks: fakeLooks{how: map[string]crawl.Holding{waits: crawl.HeldLeased}},
			harm: queue(bus.Depth{Queue: crawl.TopicFetch, Unacked: 1})},
		"leased, and no message is there": {looks: fakeLooks{
			how: map[string]crawl.Holding{waits: crawl.HeldLeased}}, doubt: "requests may be made whose messages are gone"},
		"leased, no message is there, and another job has a task": {
			looks: fakeLooks{how: map[string]crawl.Holding{waits: crawl.HeldLeased}},
			harm: func(f *fakeCluster) {
				f.put(otherJob, mustURL(t, "http://d.test/"), crawl.Entry{State: crawl.StateOpen})
			}, doubt: "requests may be made whose messages are gone"},
		"leased for too long, and no message is there": {
			looks: fakeLooks{how: map[string]crawl.Holding{waits: crawl.HeldOverdue}}, fault: lost},
		"leased for too long": {looks: fakeLooks{how: map[string]crawl.Holding{waits: crawl.HeldOverdue}},
			harm: queue(bus.Depth{Queue: crawl.TopicFetch, Unacked: 1}), doubt: unproven + "messages move"},
		"a queue that is too long": {looks: fakeLooks{how: nowhere, unread: 3}, doubt: "3 tasks were not looked at"},
		"no frontier answers": {looks: fakeLooks{stop: map[string]crawl.LookStep{"a": 0, "b": 0}},
			doubt: "the frontier of the node does not say"},
		"the frontier stops in the middle": {looks: fakeLooks{stop: map[string]crawl.LookStep{"a": 1, "b": 0}},
			doubt: "the frontier of the node does not say"},
		"the frontier fails": {looks: fakeLooks{fails: "no luck"}, doubt: "node a does not say what it holds: no luck"},
		"no frontier answers, and figures tell": {looks: fakeLooks{stop: map[string]crawl.LookStep{"a": 0, "b": 0}},
			harm: func(f *fakeCluster) { f.queue() }, fault: lost},
		"in a dead letter": {looks: fakeLooks{how: nowhere},
			harm: func(f *fakeCluster) { f.dead = []bus.Letter{letter(t, waits)} }},
		"buried between the looks": {looks: fakeLooks{how: nowhere}, harm: func(f *fakeCluster) {
			f.looks.found = func() { f.dead = []bus.Letter{letter(t, waits)} }
		}},
		"found at the second look": {looks: fakeLooks{how: nowhere},
			harm: func(f *fakeCluster) { f.looks.found = func() { f.looks.how = nil } }},
		"a letter that cannot be read": {looks: fakeLooks{how: nowhere},
			harm: func(f *fakeCluster) { f.dead = []bus.Letter{{}} }, doubt: unproven + "1 dead letters cannot be read"},
		"letters that somebody else reads": {looks: fakeLooks{how: nowhere}, harm: queue(bus.Depth{Queue: "dead", Ready: 2}),
			doubt: unproven + "2 dead letters cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			f.looks = tt.looks
			if tt.harm != nil {
				tt.harm(f)
			}
			r := audit(t, f)
			says := func(all []string, want string) bool {
				return want == "" && len(all) == 0 || want != "" && len(all) == 1 && strings.Contains(all[0], want)
			}
			doubts := slices.DeleteFunc(slices.Clone(r.Cluster.Unproven),
				func(s string) bool { return strings.Contains(s, "links of") })
			if !says(r.Faults, tt.fault) || !says(doubts, tt.doubt) {
				t.Errorf("faults %q, not proven %q; want %q and %q", r.Faults, doubts, tt.fault, tt.doubt)
			}
			var b bytes.Buffer
			if err := WriteAudit(&b, r); err != nil || tt.fault != "" && !strings.Contains(b.String(), waits) {
				t.Errorf("%v, no name:\n%s", err, b.String())
			}
			if f.looks.asked != f.looks.ended {
				t.Errorf("%d looks, %d were ended", f.looks.asked, f.looks.ended)
			}
		})
	}
}

// The frontiers of all nodes have to answer, and who does not is named; that of a node that owns nothing has not.
func TestAuditOfARingNamesTheFrontierThatIsSilent(t *testing.T) {
	for name, tt := range map[string]struct {
		state string
		doubt string
	}{"b owns hosts": {"active", "the frontier of node b does not say"}, "b is drained": {"gone", ""}} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			r, _, _ := ringed(f)
			r.Nodes[1].State = tt.state
			f.looks.stop = map[string]crawl.LookStep{"b": 0}
			got := audit(t, f).Cluster.Unproven
			if len(got) > 0 != (tt.doubt != "") || !strings.Contains(strings.Join(got, "\n"), tt.doubt) {
				t.Errorf("not proven %q, want %q", got, tt.doubt)
			}
		})
	}
}

// A broker that does not answer may hold anything: nothing is proven, whatever the ledger says.
func TestAuditOfARingWithABrokerAwayProvesNothing(t *testing.T) {
	f := soundCluster(t)
	_, _, b := ringed(f)
	f.put(fakeJob, mustURL(t, waits), crawl.Entry{State: crawl.StateDone, Verdict: crawl.VerdictDone, Status: 404})
	b.depths = nil
	if r := audit(t, f); len(r.Faults)+len(r.Doubts()) > 0 {
		t.Errorf("nothing is open, all answer: %q, %q", r.Faults, r.Doubts())
	}
	b.err = errRefused
	if r := audit(t, f); len(r.Faults) > 0 || len(r.Doubts()) != 1 || !strings.HasSuffix(r.Doubts()[0], ": b") {
		t.Errorf("nothing is open, b is away: %q, %q", r.Faults, r.Doubts())
	}
	b.err, b.deaf = nil, errRefused // its letters alone
	if r := audit(t, f); len(r.Faults) > 0 || len(r.Doubts()) != 1 || !strings.HasSuffix(r.Doubts()[0], ": b") {
		t.Errorf("nothing is open, the letters of b are away: %q, %q", r.Faults, r.Doubts())
	}
}

// What is lost is queued again, also while messages move, and nothing else then.
func TestRepairQueuesWhatNoFrontierHolds(t *testing.T) {
	for name, ds := range map[string][]bus.Depth{"still": nil, "messages move": {{Queue: crawl.TopicParse, Ready: 1}}} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			f.put(fakeJob, mustURL(t, "http://d.test/"), crawl.Entry{State: crawl.StateOpen})
			f.queue(append(ds, bus.Depth{Queue: "front.1", Ready: 9})...)
			f.looks.how = map[string]crawl.Holding{waits: crawl.HeldNowhere}
			m := &mending{f: f}
			j, err := f.open(t).Job(t.Context(), fakeJob)
			if err != nil {
				t.Fatal(err)
			}
			r, err := j.Repair(t.Context(), ClusterStores{URLs: m, Ledger: m, Content: m, Records: m, Publish: m.publish})
			m.did = slices.DeleteFunc(m.did, func(s string) bool { return strings.HasPrefix(s, "reopen") })
			if want := []string{"queue " + waits}; err != nil || !slices.Equal(m.did, want) || len(r.Left) > 0 {
				t.Errorf("did %q, left %q, error %v; want %q", m.did, r.Left, err, want)
			}
		})
	}
}
