package controlpg_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/controlpg"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// TestMain is also the process that a test kills: it leads, and says so.
func TestMain(m *testing.M) {
	if u := os.Getenv("CONTROLPG_LEADER"); u != "" {
		s, err := controlpg.Open(context.Background(), controlpg.Config{URL: u, Schema: os.Getenv("CONTROLPG_SCHEMA")})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		_ = s.Lead(context.Background(), func(ctx context.Context) error {
			err := s.SetValue(ctx, "test", "leader", []byte("child"))
			<-ctx.Done()
			return err
		})
	}
	os.Exit(m.Run())
}

// until waits for something, and fails after a time that is for what would never end.
func until(t *testing.T, what string, done func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !done() {
		if time.Sleep(20 * time.Millisecond); time.Since(began) > 2*time.Minute {
			t.Fatalf("waited in vain until %s", what)
		}
	}
	return time.Since(began)
}

// The holder of the lock is killed: another goes on within ten seconds. As long as it lives, nobody else does.
func TestWhenTheLeaderIsKilledAnotherGoesOn(t *testing.T) {
	cfg := config(t)
	s := open(t, cfg)
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), "CONTROLPG_LEADER="+cfg.URL, "CONTROLPG_SCHEMA="+cfg.Schema)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the child leads", func() bool {
		v, err := s.Value(t.Context(), "test", "leader")
		return err == nil && string(v) == "child"
	})
	ctx, cancel := context.WithCancel(t.Context())
	var leads, others atomic.Int32
	ended := make(chan error, 2)
	for _, s := range []*controlpg.Store{s, open(t, cfg)} {
		go func() {
			ended <- s.Lead(ctx, func(ctx context.Context) error {
				others.Add(1)
				leads.Add(1)
				defer leads.Add(-1)
				<-ctx.Done()
				return nil
			})
		}()
	}
	time.Sleep(5 * time.Second) // longer than they take to try again: while the child lives they get nothing
	if others.Load() != 0 {
		t.Fatal("two lead at once")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	took := until(t, "another leads", func() bool { return leads.Load() == 1 })
	_ = child.Wait()
	if took > 10*time.Second {
		t.Errorf("another led after %v", took)
	}
	t.Logf("another led after %v", took)
	cutOff(t, cfg)
	until(t, "somebody leads again", func() bool { return leads.Load() == 1 && others.Load() >= 2 })
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if leads.Load() != 0 {
		t.Error("somebody leads although all have ended")
	}
}

// cutOff ends the connections that hold the lock.
func cutOff(t *testing.T, cfg controlpg.Config) {
	conn, err := pgx.Connect(t.Context(), cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	_, err = conn.Exec(t.Context(),
		`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 1464877892
		AND objid = (hashtext($1)::bigint & 4294967295)::oid`, cfg.Schema)
	if err != nil {
		t.Fatal(err)
	}
}

// What one program stores, another hears of, and numbers of events grow in the order of commits.
func TestEventsOfOthers(t *testing.T) {
	cfg := config(t)
	a, b := open(t, cfg), open(t, cfg)
	news := b.Subscribe(t.Context())
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				if err := a.AddEvent(t.Context(), workflow.Event{At: time.Now(), Type: "a", Actor: "a"}); err != nil {
					t.Error(err)
				}
				if err := b.AddEvent(t.Context(), workflow.Event{At: time.Now(), Type: "b", Actor: "b"}); err != nil {
					t.Error(err)
				}
			}
		}
	}()
	last, seen := int64(0), 0
	for seen < 100 {
		<-news
		events, err := b.Events(t.Context(), workflow.EventFilter{}, last, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			last = e.ID
			seen++
		}
	}
	close(stop)
	<-done
	all, err := a.Events(t.Context(), workflow.EventFilter{}, 0, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	before := 0
	for _, e := range all {
		if e.ID <= last {
			before++
		}
	}
	if before != seen {
		t.Errorf("%d events up to %d were seen, and %d are stored: some came behind the reader's back", seen, last, before)
	}
}

func TestAddressesWithoutPasswords(t *testing.T) {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("me", "s3cr3t"), Host: "127.0.0.1:1", Path: "/x"}
	for _, address := range []string{u.String(), "postgres://me:s3cr3t@127.0.0.1:port/x", ""} {
		if _, err := controlpg.Open(t.Context(), controlpg.Config{URL: address}); err == nil {
			t.Errorf("%q was opened", address)
		} else if text := err.Error(); strings.Contains(text, "s3cr3t") {
			t.Errorf("the password stands in %s", text)
		}
	}
}
