package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// nodeBroker is the broker of one node.
type nodeBroker struct {
	depths   []bus.Depth
	dead     []bus.Letter
	programs []bus.Program
	alarms   []bus.Alarm
	policies []bus.QueuePolicy
	err      error
	deaf     error // of its letters
}

func answer[T any](b *nodeBroker, all []T) ([]T, error) {
	if b.err != nil {
		return nil, b.err
	}
	return all, nil
}

func (b *nodeBroker) Depths(context.Context) ([]bus.Depth, error) { return answer(b, b.depths) }
func (b *nodeBroker) Dead(context.Context, int) ([]bus.Letter, error) {
	if b.deaf != nil {
		return nil, b.deaf
	}
	return answer(b, b.dead)
}
func (b *nodeBroker) Programs(context.Context) ([]bus.Program, error) {
	return answer(b, b.programs)
}

func (b *nodeBroker) Alarms(context.Context) ([]bus.Alarm, error) { return answer(b, b.alarms) }
func (b *nodeBroker) Policies(context.Context) ([]bus.QueuePolicy, error) {
	return answer(b, b.policies)
}

var errRefused = errors.New("connection refused")

// ringed makes a fake cluster one of three nodes, the third of which is dead. The open URL waits at the second.
func ringed(f *fakeCluster) (r *Ring, a, b *nodeBroker) {
	a = &nodeBroker{depths: []bus.Depth{{Queue: "back.1"}, {Queue: "frontier.owner"}},
		programs: []bus.Program{{Name: "frontier", Host: "10.0.0.1"}, {Name: bus.PeerProgram + "b", Host: "10.0.0.2"}}}
	b = &nodeBroker{depths: []bus.Depth{{Queue: "back.1", Ready: 1}},
		programs: []bus.Program{{Name: "due", Host: "10.0.0.2"}}}
	r = &Ring{Name: "main", Epoch: 7, Vnodes: 300, Nodes: []RingNode{
		{"a", "10.0.0.1:5672", "active", true, 150, a},
		{"b", "10.0.0.2:5672", "active", true, 150, b},
		{"c", "10.0.0.3:5672", "gone", false, 0, nil},
	}}
	f.ring = func(context.Context) (*Ring, error) { return r, nil }
	return r, a, b
}

func TestStatusOfARingForPeople(t *testing.T) {
	for name, away := range map[string]error{"ring.txt": nil, "ring-away.txt": errRefused} {
		f := soundCluster(t)
		r, a, b := ringed(f)
		a.depths = append(a.depths, bus.Depth{Queue: crawl.TopicFetch, Ready: 3, Unacked: 2, Consumers: 1},
			bus.Depth{Queue: "dead", Ready: 1}, bus.Depth{Queue: crawl.TopicHostSplitter + ".retry", Ready: 5, Unacked: 2})
		b.depths = append(b.depths, bus.Depth{Queue: crawl.TopicFetch, Ready: 10, Unacked: 1, Consumers: 2},
			bus.Depth{Queue: "dead", Ready: 2})
		b.err, r.Moving = away, 12
		s, err := f.open(t).Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := s.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name, out.String())
		ready, letters := int64(13), int64(3)
		if away != nil {
			ready, letters = 3, 1
		}
		if p := s.Pipeline; p.Topics[0].Ready != ready || p.DeadLetters != letters ||
			p.Away() != map[bool]string{true: "b"}[away != nil] {
			t.Errorf("%s: fetch %+v, %d dead letters, out of reach %q", name, p.Topics[0], p.DeadLetters, p.Away())
		}
	}
}

func TestARingOfWhichNobodyAnswersIsAnError(t *testing.T) {
	f := soundCluster(t)
	_, a, b := ringed(f)
	a.err, b.err = errRefused, errRefused
	if s, err := f.open(t).Status(t.Context()); !errors.Is(err, errRefused) || errors.Is(err, ErrUnreachable) {
		t.Errorf("status %+v, %v", s, err)
	}
	f.ring = func(context.Context) (*Ring, error) { return nil, errRefused }
	if s, err := f.open(t).Status(t.Context()); !errors.Is(err, errRefused) {
		t.Errorf("without the table: status %+v, %v", s, err)
	}
}

// unfinished makes pages that have not come to their end.
func (f *fakeCluster) unfinished(t *testing.T, n int) {
	for i := range n {
		f.missing = append(f.missing, crawl.Task{Job: fakeJob, URL: mustURL(t, fmt.Sprint("http://a.test/", i))},
			crawl.Task{Job: otherJob})
	}
}

func TestAuditOfARing(t *testing.T) {
	lose := func(f *fakeCluster) {
		f.put(fakeJob, mustURL(t, "http://d.test/"), crawl.Entry{State: crawl.StateOpen})
	}
	for name, tt := range map[string]struct {
		harm   func(f *fakeCluster, r *Ring, a, b *nodeBroker)
		says   []string // what is not proven, each
		faults int
	}{
		"all nodes answer": {func(*fakeCluster, *Ring, *nodeBroker, *nodeBroker) {}, nil, 0},
		"a URL is lost":    {func(f *fakeCluster, _ *Ring, _, _ *nodeBroker) { lose(f) }, nil, 1},
		"a node does not answer": {func(f *fakeCluster, _ *Ring, _, b *nodeBroker) { lose(f); b.err = errRefused },
			[]string{"do not answer, and what waits there is not known: b"}, 0},
		"a node that has nothing does not answer": {func(f *fakeCluster, _ *Ring, a, _ *nodeBroker) { a.err = errRefused },
			[]string{"not known: a"}, 0},
		"virtual nodes move": {func(f *fakeCluster, r *Ring, _, _ *nodeBroker) { lose(f); r.Moving = 3 },
			[]string{"3 virtual nodes are on their way"}, 0},
		"copies hide what is lost": {func(f *fakeCluster, _ *Ring, a, _ *nodeBroker) {
			a.depths = []bus.Depth{{Queue: "front.1", Ready: 2}}
			f.looks.how = map[string]crawl.Holding{waits: crawl.HeldNowhere}
		}, nil, 1},
		"links wait, and nothing moves": {func(f *fakeCluster, _ *Ring, _, _ *nodeBroker) { f.unfinished(t, 4) }, nil, 1},
		"links wait, and messages move": {func(f *fakeCluster, _ *Ring, a, _ *nodeBroker) {
			f.unfinished(t, 4)
			a.depths = append(a.depths, bus.Depth{Queue: crawl.TopicDUE, Ready: 1})
		}, []string{"links of 4 pages have come to their end; they may be on their way"}, 0},
		"a letter at another node": {func(f *fakeCluster, _ *Ring, _, b *nodeBroker) {
			lose(f)
			b.dead = append(b.dead, letter(t, "http://d.test/"))
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := soundCluster(t)
			r, a, b := ringed(f)
			tt.harm(f, r, a, b)
			got := audit(t, f)
			if len(got.Faults) != tt.faults || len(got.Cluster.Unproven) != len(tt.says) {
				t.Errorf("faults %q, not proven %q; want %d and %q", got.Faults, got.Cluster.Unproven, tt.faults, tt.says)
			}
			for _, want := range tt.says {
				if !slices.ContainsFunc(got.Cluster.Unproven, func(s string) bool { return strings.Contains(s, want) }) {
					t.Errorf("%q does not say %q", got.Cluster.Unproven, want)
				}
			}
			if got.Cluster.Still && (a.err != nil || b.err != nil) {
				t.Error("it says that nothing moved, and did not see a node")
			}
		})
	}
}

func TestLettersOfARingNameTheirNodes(t *testing.T) {
	f := soundCluster(t)
	_, a, b := ringed(f)
	a.dead, b.dead = []bus.Letter{letter(t, "http://a.test/")}, []bus.Letter{letter(t, "http://b.test/")}
	nodes := func() (names []string, err error) {
		all, err := f.open(t).Letters(t.Context())
		for _, l := range all {
			names = append(names, l.Node)
		}
		slices.Sort(names)
		return names, err
	}
	if names, err := nodes(); err != nil || !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("letters of %q, %v", names, err)
	}
	a.err = errRefused
	if names, err := nodes(); !errors.Is(err, ErrUnreachable) ||
		!strings.Contains(err.Error(), "node a (10.0.0.1:5672)") || !slices.Equal(names, []string{"b"}) {
		t.Errorf("one is away: letters of %q, %v", names, err)
	}
}
