package report

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// mending writes down what a repair does to a cluster.
type mending struct {
	f    *fakeCluster
	did  []string
	open []crawl.Task
}

func (m *mending) note(format string, args ...any) {
	m.did = append(m.did, fmt.Sprintf(format, args...))
}

func (m *mending) name(k weburl.Key) string {
	for _, rows := range m.f.rows {
		if r, ok := rows[k]; ok {
			return r.URL.String()
		}
	}
	return m.f.records[k].String()
}

func (m *mending) Claim(_ context.Context, _ crawl.JobID, _ crawl.MessageID,
	tasks []crawl.Task) ([]crawl.Claimed, error) {
	m.note("claim %s", tasks[0].URL)
	m.open = append(m.open, tasks...)
	return make([]crawl.Claimed, len(tasks)), nil
}

func (m *mending) Exclude(context.Context, crawl.JobID, crawl.MessageID, []crawl.Exclusion) ([]crawl.Claimed, error) {
	panic("nothing is left out by a repair")
}

func (m *mending) Reopen(_ context.Context, job crawl.JobID, keys ...weburl.Key) error {
	for _, k := range keys {
		if r, ok := m.f.rows[job][k]; ok {
			m.note("reopen %s", r.URL)
			m.open = append(m.open, crawl.Task{Job: job, URL: r.URL})
		}
	}
	return nil
}

func (m *mending) Open(_ context.Context, _ []weburl.KeyRange, _ func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	for _, r := range m.f.rows[fakeJob] {
		if r.State == crawl.StateOpen {
			m.open = append(m.open, crawl.Task{Job: fakeJob, URL: r.URL})
		}
	}
	for _, t := range append(m.open, crawl.Task{Job: otherJob}) {
		if err := each(t); err != nil {
			return err
		}
	}
	return nil
}

func (m *mending) CountAgain(_ context.Context, job crawl.JobID) error {
	m.note("count %s", job)
	return nil
}

func (m *mending) Forget(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	m.note("forget %s", m.name(keys[0]))
	return nil
}

func (m *mending) SetAside(_ context.Context, k weburl.Key) (string, error) {
	m.note("set aside %s", m.name(k))
	return "there", nil
}

func (m *mending) publish(_ context.Context, msgs ...bus.Message) error {
	for _, msg := range msgs {
		for _, t := range msg.Event.(*crawl.Fresh).Tasks {
			m.note("queue %s", t.URL)
		}
	}
	return nil
}

func TestRepairDoesWhatEachFindingAsksFor(t *testing.T) {
	const twin = "http://a.test/copy"
	key := mustURL(t, twin).Key()
	for name, c := range map[string]struct {
		harm func(f *fakeCluster)
		did  []string
		left string
	}{
		"nothing is wrong": {func(*fakeCluster) {}, nil, ""},
		"nothing is wrong, and messages move": {func(f *fakeCluster) {
			f.queue(bus.Depth{Queue: crawl.TopicParse, Ready: 1}, bus.Depth{Queue: "back.7", Ready: 1})
		}, nil, ""},
		"a page without record and reason": {func(f *fakeCluster) { f.vanish(mustURL(t, "http://d.test/"), 0) },
			[]string{"queue http://d.test/", "reopen http://d.test/"}, ""},
		"a page whose links are missing": {func(f *fakeCluster) {
			f.missing = []crawl.Task{{Job: fakeJob, URL: mustURL(t, twin)}}
		}, []string{"queue " + twin, "reopen " + twin}, ""},
		"a missing record": {func(f *fakeCluster) { delete(f.records, key) }, []string{"queue " + twin, "reopen " + twin},
			""},
		"a damaged record": {func(f *fakeCluster) { f.damaged = map[weburl.Key]bool{key: true} },
			[]string{"queue " + twin, "reopen " + twin, "set aside " + twin}, ""},
		"a copy of nothing": {func(f *fakeCluster) {
			p := f.prints[key]
			p.Of = weburl.URL{}
			f.prints[key] = p
		}, []string{"forget " + twin, "queue " + twin, "reopen " + twin, "set aside " + twin}, ""},
		"content that nobody claimed": {func(f *fakeCluster) { delete(f.rows[fakeJob], key) },
			[]string{"claim " + twin, "queue " + twin}, ""},
		"an open URL that is nowhere": {func(f *fakeCluster) { f.queue() }, []string{"queue http://b.test/waits"}, ""},
		"a counter":                   {func(f *fakeCluster) { f.off[fakeJob] = 1 }, []string{"count one"}, ""},
		"messages move": {func(f *fakeCluster) {
			f.damaged = map[weburl.Key]bool{key: true}
			f.queue(bus.Depth{Queue: crawl.TopicParse, Ready: 1}, bus.Depth{Queue: "back.7", Ready: 1})
		}, nil, "whirlpool pause --cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			c.harm(f)
			m := &mending{f: f}
			j, err := f.open(t).Job(t.Context(), fakeJob)
			if err != nil {
				t.Fatal(err)
			}
			r, err := j.Repair(t.Context(), ClusterStores{URLs: m, Ledger: m, Content: m, Records: m, Publish: m.publish})
			if slices.Sort(m.did); err != nil || !slices.Equal(m.did, c.did) {
				t.Errorf("did %q, error %v; want %q", m.did, err, c.did)
			}
			if (len(r.Left) > 0) != (c.left != "") || !strings.Contains(strings.Join(r.Left, "\n"), c.left) {
				t.Errorf("left %q, want %q", r.Left, c.left)
			}
			if audit, err := j.Audit(t.Context()); len(c.did) == 0 && c.left == "" && (err != nil ||
				!slices.Equal(r.Unproven, audit.Doubts())) {
				t.Errorf("not proven %q, error %v; an audit says %q", r.Unproven, err, audit.Doubts())
			}
		})
	}
}
