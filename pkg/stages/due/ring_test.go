package due_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/due"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// nodes own hosts by their first letter; this node is a.
type nodes struct {
	asked func()
	err   error
}

func (n *nodes) View() (crawl.OwnersView, error) {
	if n.asked != nil {
		n.asked()
	}
	return n, n.err
}

func (*nodes) Epoch() uint64 { return 7 }

func (*nodes) Owner(_ context.Context, u weburl.URL) (string, error) {
	if node := u.HostKey()[:1]; node != "a" {
		return node, nil
	}
	return "", nil
}

func (m *memory) dueOf(owners crawl.Owners, following crawl.Following) *due.Handler {
	job := aJob()
	return due.New(due.Deps{URLs: m, Ledger: m, Budgets: m, Attempts: m, Jobs: crawl.StaticJobs{job.ID: job},
		Owners: owners, Following: following})
}

func delivered(name string) context.Context {
	return pipeline.WithDelivery(context.Background(), pipeline.Delivery{ID: crawl.MessageID{}.Child(name, 0)})
}

func TestFreshTasksGoToTheirOwners(t *testing.T) {
	m := newMemory()
	claimed := 0
	owners := &nodes{asked: func() { claimed = len(m.claims) }}
	h := m.dueOf(owners, nil)
	c := claim(t, "http://b.test/1", "http://a.test/1", "http://c.test/", "http://b.test/2", "http://a.test/2")
	events, err := h.Handle(delivered("one"), c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		f := e.(*crawl.Fresh)
		for _, task := range f.Tasks {
			got = append(got, f.Node+" "+task.URL.String())
		}
	}
	want(t, got, "b http://b.test/1", "b http://b.test/2", " http://a.test/1", " http://a.test/2", "c http://c.test/")
	if claimed != len(c.Tasks) {
		t.Errorf("the owners were asked when %d of %d URLs were claimed: who became owner in between would not hear of the "+
			"others", claimed, len(c.Tasks))
	}
	// A table that is not there fails the message; what it claimed is fresh for it again.
	owners.err = errors.New("no ring")
	c = claim(t, "http://a.test/3")
	if _, err := h.Handle(delivered("two"), c); !errors.Is(err, owners.err) {
		t.Fatalf("error %v, want the ring's", err)
	}
	owners.err = nil
	want(t, handle(t, h, "two", true, c), "http://a.test/3+")
}

// oneMessage is a bus that delivers one message once.
type oneMessage struct {
	event  crawl.Event
	refuse error
}

func (b *oneMessage) Publish(context.Context, ...bus.Message) error { return b.refuse }

func (b *oneMessage) Consume(ctx context.Context, _ string, _ bus.Workers, h bus.Handler) error {
	_ = h(ctx, bus.Message{ID: crawl.MessageID{}.Child("one", 0), Event: b.event})
	return nil
}

func TestAShareIsClaimedOnceItsTasksArePublished(t *testing.T) {
	page := claim(t, "http://p.test/").Tasks[0]
	for name, tt := range map[string]struct {
		share *crawl.Share
		urls  []string
		fails bool
		waits int64
	}{
		"the only share":           {share: &crawl.Share{Of: 1}, urls: []string{"http://a.test/"}},
		"a share without links":    {share: &crawl.Share{Of: 1}},
		"one of two":               {share: &crawl.Share{Of: 2}, urls: []string{"http://a.test/"}, waits: 1},
		"no share":                 {urls: []string{"http://a.test/"}, waits: 1},
		"control: not published":   {share: &crawl.Share{Of: 1}, urls: []string{"http://a.test/"}, fails: true, waits: 1},
		"another page was claimed": {share: &crawl.Share{Index: 1, Of: 3}, waits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := storetest.NewFollowing()
			if err := f.Expect(t.Context(), page); err != nil {
				t.Fatal(err)
			}
			c := claim(t, tt.urls...)
			c.Page, c.Share = page.URL, tt.share
			b := &oneMessage{event: c}
			if tt.fails {
				b.refuse = errors.New("the owner's broker is away")
			}
			cfg := pipeline.Config{Name: "due", Topic: crawl.TopicDUE, Workers: bus.Workers{Min: 1, Max: 1},
				Log: slog.New(slog.DiscardHandler)}
			if err := pipeline.Run[*crawl.Claim](t.Context(), b, cfg, newMemory().dueOf(nil, f)); err != nil {
				t.Fatal(err)
			}
			if n, err := f.Waiting(t.Context(), page.Job); n != tt.waits || err != nil {
				t.Errorf("%d pages wait, error %v; want %d", n, err, tt.waits)
			}
		})
	}
}

// The error of who follows pages brings the message back.
func TestAShareThatCannotBeNotedComesBack(t *testing.T) {
	c := claim(t)
	c.Page, c.Share = claim(t, "http://p.test/").Tasks[0].URL, &crawl.Share{Index: 3, Of: 1}
	if err := newMemory().dueOf(nil, storetest.NewFollowing()).Published(t.Context(), c); err == nil {
		t.Error("no error")
	}
	if err := newMemory().dueOf(nil, nil).Published(t.Context(), c); err != nil {
		t.Errorf("nobody follows pages: error %v", err)
	}
}

// A page's links were claimed by a node that died, or went on to another that did. Fetched again, they are split by
// another table, and another node's eliminator, which knows them as claimed, is asked.
func TestLinksOfATrackedPageThatWereLostAreFreshForItAgain(t *testing.T) {
	m := newMemory()
	split := func(again bool, epoch uint64, raw ...string) *crawl.Claim {
		c := claim(t, raw...)
		c.Page, c.Again, c.Share = claim(t, "http://p.test/").Tasks[0].URL, again, &crawl.Share{Epoch: epoch, Of: 1}
		return c
	}
	here, there := m.dueOf(nil, nil), m.dueOf(nil, nil)
	want(t, handle(t, here, "one", false, split(false, 1, "http://a.test/", "http://b.test/")), "http://a.test/",
		"http://b.test/")
	want(t, handle(t, there, "another page", false, claim(t, "http://b.test/")))
	want(t, handle(t, there, "two", false, split(true, 2, "http://b.test/", "http://a.test/")), "http://b.test/+",
		"http://a.test/+")
	want(t, handle(t, there, "a third page", true, claim(t, "http://b.test/")))
	t.Run("control: in the name of the message, or from the cache, they are lost", func(t *testing.T) {
		untracked := split(true, 2, "http://b.test/", "http://a.test/")
		untracked.Share = nil
		want(t, handle(t, there, "three", true, untracked))
		want(t, handle(t, there, "four", false, split(false, 2, "http://b.test/")))
	})
}
