package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring/member"
	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/zookeeper"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/servicetest"
)

// ringUnderTest is a ring of the test's own in the real ZooKeeper, and the command.
type ringUnderTest struct {
	t   *testing.T
	env []string
	cfg *process.Config
}

func newRingUnderTest(t *testing.T) *ringUnderTest {
	t.Helper()
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	r := &ringUnderTest{t: t, env: append(os.Environ(), "WHIRLPOOL_CONFIG=", "WHIRLPOOL_NODE=test",
		"WHIRLPOOL_ZOOKEEPER_ADDRESSES="+servicetest.ZooKeeper(t), "WHIRLPOOL_ZOOKEEPER_ROOT=/test/"+rand.Text(),
		"WHIRLPOOL_RING_NAME=west", "WHIRLPOOL_ZOOKEEPER_SESSION_TIMEOUT=3s")}
	var err error
	if r.cfg, err = process.Load("", r.env); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *ringUnderTest) run(args ...string) result {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append([]string{"ring"}, append(args, "--cluster")...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.t.TempDir(), r.env, &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		r.t.Fatalf("whirlpool ring %q: %v %v\n%s", args, err, ctx.Err(), errs.String())
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// wants runs the command and checks its exit status and what it says.
func (r *ringUnderTest) wants(exit int, words []string, args ...string) string {
	r.t.Helper()
	got := r.run(args...)
	all := got.stdout + got.stderr
	if got.exit != exit {
		r.t.Fatalf("whirlpool ring %q: exit status %d, want %d\n%s", args, got.exit, exit, all)
	}
	for _, word := range words {
		if !strings.Contains(all, word) {
			r.t.Errorf("whirlpool ring %q does not say %q:\n%s", args, word, all)
		}
	}
	return got.stdout
}

// node runs a member that does its parts of all moves until the test ends.
func (r *ringUnderTest) node(name string) *member.Member {
	r.t.Helper()
	zc := node.ZooKeeperConfig(r.cfg)
	zc.Log = slog.New(slog.DiscardHandler)
	store, err := zookeeper.New(zc)
	if err != nil {
		r.t.Fatal(err)
	}
	cfg := member.Default()
	cfg.Node, cfg.Log = ring.Node{Name: name, Address: name + ".test:5672", Weight: ring.Unit},
		slog.New(slog.DiscardHandler)
	m, err := member.New(store, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran, worked := make(chan error, 1), make(chan struct{})
	go func() { ran <- m.Run(ctx) }()
	go func() {
		defer close(worked)
		c, end := m.Watch()
		defer end()
		for ctx.Err() == nil {
			if t := m.Table(); t != nil {
				hand, regain := t.Duties(name)
				var parts []ring.Part
				for _, v := range append(hand, regain...) {
					parts = append(parts, v.Part())
				}
				if len(parts) > 0 {
					_, _ = m.Finish(ctx, parts...)
				}
			}
			select {
			case <-c:
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	r.t.Cleanup(func() {
		cancel()
		<-worked
		if err := <-ran; err != nil {
			r.t.Error(err)
		}
	})
	return m
}

func (r *ringUnderTest) await(m *member.Member, nodes int) {
	r.t.Helper()
	c, end := m.Watch()
	defer end()
	for timer := time.After(patience); ; {
		if t := m.Table(); t != nil && len(t.Nodes()) == nodes && len(t.Moving()) == 0 {
			return
		}
		select {
		case <-c:
		case <-timer:
			r.t.Fatalf("the ring does not get %d nodes", nodes)
		}
	}
}

func TestTheRingCommandOverZooKeeper(t *testing.T) {
	r := newRingUnderTest(t)
	r.wants(exitFailure, []string{"has not been created"})
	r.wants(exitUsage, []string{"want 1 to"}, "create", "--vnodes", "0")
	r.wants(exitUsage, []string{"partition"}, "create", "--partition", "hosts")
	r.wants(exitOK, []string{"created ring west with 300 virtual nodes, partitioned by host"}, "create", "--vnodes", "300")
	r.wants(exitFailure, []string{"the ring exists"}, "create", "--vnodes", "400")
	r.wants(exitOK, []string{"0-65535", "0-299", "-  "})
	a := r.node("a")
	r.await(a, 1)
	r.node("b")
	r.node("c")
	r.await(a, 3)

	table := r.wants(exitOK, []string{"ring west, epoch", "300 virtual nodes", "HASH RANGE", "a.test:5672",
		"settled since epoch"})
	if rows := strings.Count(table, "\n") - 2; rows < 3 || rows > 5 {
		t.Errorf("%d rows, although neighbours of one owner are one:\n%s", rows, table)
	}
	var js ringTable
	if err := json.Unmarshal([]byte(r.wants(exitOK, nil, "--json")), &js); err != nil {
		t.Fatal(err)
	}
	next := uint64(0)
	for _, row := range js.Rows {
		if row.First != next || row.Step != ring.Settled || row.Address != row.Owner+".test:5672" {
			t.Errorf("row %+v, want it to begin at %x", row, next)
		}
		next = row.Last + 1
	}
	if next != 0 || len(js.Nodes) != 3 || js.Vnodes != 300 || js.Nodes[0].State != ring.Active {
		t.Errorf("rows to %x, %+v", next, js)
	}
	owner, err := a.Table().Owner("example.com")
	if err != nil {
		t.Fatal(err)
	}
	r.wants(exitOK, []string{"KEY", "example.com", owner.Name, owner.Address, "settled"}, "owner", "https://example.com/x")
	r.wants(exitOK, []string{`"node": "` + owner.Name + `"`, `"may_lease": true`, `"key": "example.com:8080"`}, "owner",
		"--json", "https://example.com/x", "http://example.com:8080/")
	r.wants(exitUsage, nil, "owner")
	r.wants(exitUsage, nil, "owner", "not a url")
	r.wants(exitOK, []string{"33.33 %", "active", "yes", "owns 1.000 times its share"}, "balance")
	r.wants(exitOK, []string{"120 of 300 virtual nodes would move: 40.00 %", "d     2"}, "plan", "--join", "d:2")
	r.wants(exitOK, []string{"100 of 300 virtual nodes would move"}, "plan", "--leave", "b")
	r.wants(exitUsage, []string{"weight"}, "plan", "--join", "d:x")
	r.wants(exitUsage, []string{"one of --join"}, "plan")
	r.wants(exitFailure, []string{"no such node"}, "plan", "--leave", "x")

	r.wants(exitOK, []string{"b hands on 100 virtual nodes, 33.3 %", "b is gone"}, "drain", "b", "--wait")
	r.wants(exitOK, []string{"50.00 %", "gone"}, "balance")
	r.wants(exitFailure, []string{"no such node"}, "drain", "x")
	r.wants(exitOK, nil, "drain", "c", "--wait")
	r.wants(exitFailure, []string{"no other node"}, "drain", "a")
}

func TestTheRingCommandSaysWhatItNeeds(t *testing.T) {
	if err := serveOnce(); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"say which with --cluster":     {"ring"},
		"zookeeper.addresses is empty": {"ring", "--cluster"},
	} {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "WHIRLPOOL_CONFIG=", "WHIRLPOOL_ZOOKEEPER_ADDRESSES=")
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != exitUsage || !strings.Contains(string(out), want) {
			t.Errorf("whirlpool %q: %v\n%s", args, err, out)
		}
	}
}

// The schema of an older version is migrated first, or another program does that: both may take long.
func TestForgettingARingWaitsForTheSchema(t *testing.T) {
	c := newCluster(t)
	for _, statement := range []string{"DROP SCHEMA public CASCADE", "CREATE SCHEMA public"} {
		_, err := c.sql.Exec(t.Context(), statement)
		c.check(err)
	}
	c.exec("SELECT pg_advisory_lock($1)", int64(0x5748_4952_4c50_4f4c)) // postgres.migrate's
	unlocked := make(chan error, 1)
	const longer = cluster.RingTime + 2*time.Second // than other commands of a ring may take
	time.AfterFunc(longer, func() {
		_, err := c.sql.Exec(context.Background(), "SELECT pg_advisory_unlock_all()")
		unlocked <- err
	})
	c.must("ring", "forget", "--cluster")
	select {
	case err := <-unlocked:
		c.check(err)
	default:
		t.Error("it did not wait for who migrates the schema: the test proves nothing")
	}
}

func TestALostRingIsForgotten(t *testing.T) {
	c := newCluster(t)
	c.exec("SELECT enter('a', 900, 50)")
	counts := func() string { return c.text("SELECT enter('a', 3, 1)::text") }
	if counts() != "false" {
		t.Fatal("a registration counts though there was a later one: the test proves nothing")
	}
	c.exec("SELECT set_config('application_name', 'fetcher', false)")
	if r := c.run("ring", "forget", "--cluster"); r.exit != exitFailure || !strings.Contains(r.stderr, "fetcher") ||
		counts() != "false" {
		t.Errorf("while a program runs: exit status %d, %s", r.exit, r.stderr)
	}
	c.exec("SELECT set_config('application_name', '', false)")
	c.must("ring", "forget", "--cluster")
	if counts() != "true" {
		t.Error("a node of the new ring does not count")
	}
}
