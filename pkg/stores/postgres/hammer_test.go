package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/postgres"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/storetest"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// retries counts what the store tries again: victims of deadlocks.
type retries struct {
	slog.Handler
	n atomic.Int64
}

func (r *retries) Enabled(context.Context, slog.Level) bool { return true }

func (r *retries) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message == "try again" {
		r.n.Add(1)
	}
	return nil
}

// Batches overlap, in every order. Statements must wait for each other and never in a circle.
func TestOverlappingBatchesNeverDeadlock(t *testing.T) {
	url := sharedDatabase(t)
	open(t)
	count := &retries{Handler: slog.DiscardHandler}
	cfg := config(url)
	cfg.Log, cfg.MaxConns = slog.New(count), 16
	s, err := postgres.Open(context.Background(), cfg)
	check(t, err)
	defer s.Close()
	all := manyURLs(t, 0, 300, 11)
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(1, uint64(w)))
			for i := range 60 {
				if err := hammer(s, rnd, all, id(fmt.Sprint(w, " ", i))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := count.n.Load(); n > 0 {
		t.Errorf("%d statements were victims of a deadlock", n)
	}
	wantCounted(t, s)
}

// hammer makes one call with a random part of the URLs in random order.
func hammer(s *postgres.Store, rnd *rand.Rand, all []weburl.URL, by crawl.MessageID) error {
	ctx, n := context.Background(), 50+rnd.IntN(100)
	var some []weburl.URL
	var excl []crawl.Exclusion
	var done []crawl.Entry
	var keys []weburl.Key
	for _, at := range rnd.Perm(len(all))[:n] {
		some, keys = append(some, all[at]), append(keys, all[at].Key())
		excl = append(excl, crawl.Exclusion{URL: all[at], Reason: fmt.Sprint("reason-", rnd.IntN(3))})
		done = append(done, crawl.Entry{Key: all[at].Key(), Verdict: crawl.VerdictDone, Status: 200 + rnd.IntN(3),
			At: time.Now()})
	}
	var err error
	switch rnd.IntN(5) {
	case 0, 1:
		_, err = s.URLs().Claim(ctx, "job", by, storetest.Tasks("job", some...))
	case 2:
		_, err = s.URLs().Exclude(ctx, "job", by, excl)
	case 3:
		err = s.URLs().Finish(ctx, "job", done...)
	case 4:
		err = s.URLs().Reopen(ctx, "job", keys[:10]...)
	}
	return err
}

// wantCounted checks that the counters are what the rows add up to.
func wantCounted(t *testing.T, s *postgres.Store) {
	t.Helper()
	counted, stood, err := s.URLs().Recount(context.Background(), "job")
	check(t, err)
	if !reflect.DeepEqual(counted, stood) {
		t.Errorf("the rows add up to %+v, the counters say %+v", counted, stood)
	}
	if counted.Claimed == 0 {
		t.Error("nothing was counted")
	}
}

// The server closes every connection again and again, as a restart does. Every answer given must hold, failed calls are
// repeated, and no URL may be lost or have two owners.
func TestLostConnectionsLoseNothing(t *testing.T) {
	url := sharedDatabase(t)
	open(t)
	ctx, count := context.Background(), &retries{Handler: slog.DiscardHandler}
	cfg := config(url)
	cfg.Log = slog.New(count)
	s, err := postgres.Open(ctx, cfg)
	check(t, err)
	defer s.Close()
	var kills, workers sync.WaitGroup
	progress := make(chan struct{})
	kills.Go(func() { terminate(t, url, progress) })
	all := manyURLs(t, 0, 2000, 40)
	var mu sync.Mutex
	owners := map[weburl.URL][]string{}
	var failures atomic.Int64
	for w := range 8 {
		workers.Go(func() {
			for i := range 60 {
				from := (w*120 + i*31) % (len(all) - 100)
				part, by := all[from:from+100], fmt.Sprint(w, " ", i)
				got := insist(t, &failures, func() ([]crawl.Claimed, error) {
					return s.URLs().Claim(ctx, "job", id(by), storetest.Tasks("job", part...))
				})
				mu.Lock()
				for j, c := range got {
					if c != crawl.Known {
						owners[part[j]] = append(owners[part[j]], by)
					}
				}
				mu.Unlock()
				progress <- struct{}{}
				insist(t, &failures, func() (struct{}, error) {
					return struct{}{}, s.AttemptLog().Append(ctx,
						crawl.LogLine{Job: "job", At: time.Now(), URL: part[0], Verdict: crawl.VerdictDone})
				})
			}
		})
	}
	workers.Wait()
	close(progress)
	kills.Wait()
	if cut := failures.Load() + count.n.Load(); cut == 0 {
		t.Error("no call failed: the connections were not cut")
	}
	for u, by := range owners {
		if len(by) != 1 {
			t.Errorf("%s belongs to the messages %q", u, by)
		}
	}
	tally := insist(t, &failures, func() (crawl.Tally, error) { return s.URLs().Tally(ctx, "job") })
	if int(tally.Claimed) != len(owners) {
		t.Errorf("%d URLs are claimed, %d belong to a message", tally.Claimed, len(owners))
	}
	if lines := ask[int](t, url, "SELECT count(*) FROM attempts"); lines < 8*60 {
		t.Errorf("%d log lines, want %d or more", lines, 8*60)
	}
	wantCounted(t, s)
}

// terminate ends the connections of the store after every 30 steps of its users.
func terminate(t *testing.T, url string, progress <-chan struct{}) {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
	}
	steps := 0
	for range progress {
		if steps++; err != nil || steps%30 != 0 {
			continue
		}
		const sql = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'whirlpool'`
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Error(err)
		}
	}
	if err == nil {
		_ = conn.Close(context.Background())
	}
}

// insist makes a call until it succeeds, as a stage does.
func insist[T any](t *testing.T, failures *atomic.Int64, call func() (T, error)) T {
	for range 1000 {
		v, err := call()
		if err == nil {
			return v
		}
		failures.Add(1)
		if crawl.IsPermanent(err) {
			t.Errorf("a lost connection is permanent: %v", err)
		}
	}
	t.Error("a call never succeeded")
	return *new(T)
}

// A message is delivered twice at once. Each URL must be New or Repeat to both; otherwise it is lost if one of the two
// dies.
func TestAMessageDeliveredTwiceAtOnceGetsNewOrRepeat(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	for round := range 20 {
		u := manyURLs(t, 1000*round, 200, 7)
		var answers [4][]crawl.Claimed
		var start, done sync.WaitGroup
		start.Add(1)
		for i := range answers {
			done.Go(func() {
				start.Wait()
				var err error
				if answers[i], err = s.URLs().Claim(ctx, "job", id(fmt.Sprint(round)), storetest.Tasks("job", u...)); err != nil {
					t.Error(err)
				}
			})
		}
		start.Done()
		done.Wait()
		for at := range u {
			fresh := 0
			for _, a := range answers {
				if a[at] == crawl.Known {
					t.Fatalf("%s is known to the message that claimed it", u[at])
				}
				if a[at] == crawl.New {
					fresh++
				}
			}
			if fresh != 1 {
				t.Fatalf("%s was new %d times", u[at], fresh)
			}
		}
	}
}
