package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// node is a frontier, its broker and its stores.
type node struct {
	t       *testing.T
	open    []crawl.Task
	queued  []string
	said    []string
	idle    bool
	quiet   bool
	overdue bool
	pages   *storetest.Followed
	letters map[crawl.JobID]map[weburl.Key]bool
	err     error
}

func (n *node) Queue(_ context.Context, tasks ...crawl.Task) error {
	for _, t := range tasks {
		n.queued = append(n.queued, t.URL.String())
	}
	return n.err
}
func (n *node) KeepPlaces(_ context.Context, tasks ...crawl.Task) error {
	n.said = append(n.said, fmt.Sprintf("keep %d places", len(tasks)))
	return nil
}
func (n *node) StopWaiting()  { n.said = append(n.said, "stop waiting") }
func (n *node) Idle() bool    { return n.idle }
func (n *node) Overdue() bool { return n.overdue }
func (n *node) Recount(context.Context, ...crawl.JobID) error {
	n.said = append(n.said, "count anew")
	return nil
}
func (n *node) EndOverdue(context.Context) (int, error) {
	n.said = append(n.said, "end leases")
	n.overdue = false
	return 1, nil
}

func (n *node) VisitAnew(_ context.Context, job crawl.JobID, pages ...weburl.URL) (int, error) {
	for _, u := range pages {
		n.said = append(n.said, fmt.Sprintf("visit %s of %s anew", u, job))
	}
	return len(pages), n.err
}

func (n *node) Open(_ context.Context, _ []weburl.KeyRange, owned func(weburl.URL) bool,
	each func(crawl.Task) error) error {
	n.said = append(n.said, "look")
	for _, t := range n.open {
		if owned(t.URL) {
			if err := each(t); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *node) Reopen(_ context.Context, job crawl.JobID, keys ...weburl.Key) error {
	n.said = append(n.said, fmt.Sprintf("reopen %d of %s", len(keys), job))
	return nil
}

func (n *node) watch(mine func(weburl.URL) bool) *Watch {
	return &Watch{Frontier: n, Quiet: func(context.Context, ...string) bool { return n.quiet },
		Buried:   func(context.Context) (map[crawl.JobID]map[weburl.Key]bool, error) { return n.letters, nil },
		Recovery: Recovery{Ledger: n, Following: n.pages, Mine: mine, Log: slog.New(slog.DiscardHandler)}}
}

func tasks(t *testing.T, job crawl.JobID, raw ...string) (out []crawl.Task) {
	t.Helper()
	for _, r := range raw {
		u, err := weburl.Parse(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, crawl.Task{Job: job, URL: u})
	}
	return out
}

func TestOpenURLsComeBackWhereNothingGoesOn(t *testing.T) {
	both := map[crawl.JobID]int64{"a": 2, "b": 1}
	for name, c := range map[string]struct {
		idle, quiet bool
		open        map[crawl.JobID]int64
		mine        func(weburl.URL) bool
		want        []string
	}{
		"all": {true, true, both, nil,
			[]string{"http://h.test/1", "http://g.test/2", "http://h.test/3"}},
		"something is queued":       {false, true, both, nil, nil},
		"messages move":             {true, false, both, nil, nil},
		"nothing is open":           {true, true, map[crawl.JobID]int64{}, nil, nil},
		"a job that does not go on": {true, true, map[crawl.JobID]int64{"b": 1}, nil, []string{"http://h.test/3"}},
		"other nodes' hosts": {true, true, both, func(u weburl.URL) bool { return u.Hostname() == "g.test" },
			[]string{"http://g.test/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := &node{t: t, idle: c.idle, quiet: c.quiet,
				open: append(tasks(t, "a", "http://h.test/1", "http://g.test/2"), tasks(t, "b", "http://h.test/3")...)}
			got, err := n.watch(c.mine).Tasks(t.Context(), c.open)
			if err != nil || got != len(c.want) || !slices.Equal(n.queued, c.want) {
				t.Errorf("queued %d: %q, error %v; want %q", got, n.queued, err, c.want)
			}
		})
	}
}

// The ledger is read rarely where what is open is other nodes' affair, and soon again once this node had something to
// do.
func TestTheLedgerIsReadRarelyForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, idle: true, quiet: true}
		w := n.watch(nil)
		look := func(d time.Duration) int {
			n.said = nil
			for range d / (2 * time.Second) {
				if _, err := w.Tasks(t.Context(), map[crawl.JobID]int64{"a": 1}); err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second)
			}
			return len(n.said)
		}
		if got := look(time.Hour); got < 10 || got > 25 {
			t.Errorf("the ledger was read %d times in an hour", got)
		}
		n.idle = false
		look(2 * time.Second)
		n.idle = true
		if got := look(2 * time.Second); got != 1 {
			t.Errorf("after work, the ledger was read %d times", got)
		}
	})
}

func TestLeasesEndWhereTheirMessagesAreGone(t *testing.T) {
	for _, c := range []struct{ overdue, quiet, ends bool }{{true, true, true}, {true, false, false},
		{false, true, false}} {
		n := &node{t: t, overdue: c.overdue, quiet: c.quiet}
		if err := n.watch(nil).Leases(t.Context()); err != nil || slices.Contains(n.said, "end leases") != c.ends {
			t.Errorf("%+v: did %q, error %v", c, n.said, err)
		}
	}
}

func TestPagesThatWereLostAreFetchedAgain(t *testing.T) {
	ctx := t.Context()
	n := &node{t: t, pages: storetest.NewFollowing()}
	all := tasks(t, "a", "http://h.test/lost", "http://h.test/claimed", "http://h.test/buried", "http://other.test/")
	if err := n.pages.Expect(ctx, append(all, tasks(t, "b", "http://h.test/another job")...)...); err != nil {
		t.Fatal(err)
	}
	if err := n.pages.Claimed(ctx, "a", all[1].URL, crawl.Share{Of: 1}); err != nil {
		t.Fatal(err)
	}
	n.letters = map[crawl.JobID]map[weburl.Key]bool{"a": {all[2].URL.Key(): true}}
	w := n.watch(func(u weburl.URL) bool { return u.Hostname() == "h.test" })
	if lost, _, err := w.Pages(ctx, "a", time.Now().Add(-time.Hour)); lost != 0 || err != nil {
		t.Errorf("of pages from before an hour %d were lost, error %v", lost, err)
	}
	lost, buried, err := w.Pages(ctx, "a", time.Now().Add(time.Second))
	if lost != 1 || buried != 1 || err != nil || !slices.Equal(n.queued, []string{"http://h.test/lost"}) {
		t.Errorf("%d lost, %d buried, queued %q, error %v", lost, buried, n.queued, err)
	}
	if want := []string{"keep 1 places", "reopen 1 of a", "count anew", "stop waiting"}; !slices.Equal(n.said, want) {
		t.Errorf("did %q, want %q", n.said, want)
	}
	if lost, buried, _ := w.Pages(ctx, "a", time.Now().Add(time.Second)); lost != 0 || buried != 1 {
		t.Errorf("looked at again: %d lost, %d buried", lost, buried)
	}
}

// A page stays expected until its task is queued: a crash in between repeats it.
func TestAPageIsForgottenOnceItIsQueued(t *testing.T) {
	n := &node{t: t, pages: storetest.NewFollowing(), err: errors.New("the broker is away")}
	page := tasks(t, "a", "http://h.test/lost")
	if err := n.pages.Expect(t.Context(), page...); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.watch(nil).Pages(t.Context(), "a", time.Now().Add(time.Second)); !errors.Is(err, n.err) {
		t.Errorf("error %v, want the broker's", err)
	}
	if waiting, _ := n.pages.Waiting(t.Context(), "a"); waiting != 1 {
		t.Errorf("%d pages are expected, want the one", waiting)
	}
}
