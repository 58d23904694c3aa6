package nodes_test

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"testing"
	"time"
)

// The control of the cut-offs: what is cut off does not answer, everything else does, and afterwards all does.
func TestCutOffs(t *testing.T) {
	s := ready(t)
	if errNoSpace != nil {
		t.Skipf("nodes have no networks of their own: %v", errNoSpace)
	}
	w := listen(t, webOf(0), 0)
	pg, err := url.Parse(s.env["WHIRLPOOL_TEST_POSTGRES"])
	check(t, err)
	own, err := url.Parse(s.brokers[1]["WHIRLPOOL_TEST_AMQP"])
	check(t, err)
	other, err := url.Parse(s.brokers[2]["WHIRLPOOL_TEST_AMQP"])
	check(t, err)
	places := []struct{ name, at string }{{"ZooKeeper", s.env["WHIRLPOOL_TEST_ZOOKEEPER"]}, {"PostgreSQL", pg.Host},
		{"own broker", own.Host}, {"other broker", other.Host}, {"web", fmt.Sprintf("10.80.0.1:%d", w.Port())},
		{"DNS", w.DNSAddr()}}
	enough := 500 * time.Millisecond // for what is in reach to answer: ten times what that took
	want := func(when string, reached ...bool) {
		t.Helper()
		for i, p := range places {
			limit := enough
			if reached[i] {
				limit = time.Minute
			}
			got, took := reaches(t, 1, p.at, limit)
			if got != reached[i] {
				t.Errorf("%s, node 1 reaches %s at %s: %v, want %v", when, p.name, p.at, got, reached[i])
			}
			if got {
				enough = max(enough, 10*took)
			}
		}
	}
	want("at first", true, true, true, true, true, true)
	mend := cutFromZooKeeper(t, 1)
	want("cut off from ZooKeeper", false, true, true, true, true, true)
	mend()
	mend = cutFromOthers(t, 1)
	want("cut off from all but the web", false, false, true, false, true, true)
	if got, _ := reaches(t, 2, own.Host, enough); got {
		t.Error("node 2 reaches the broker of a node that is cut off")
	}
	mend()
	want("in the end", true, true, true, true, true, true)
	if out, err := in(1, "ip", "route", "get", "192.0.2.1").CombinedOutput(); err != nil {
		t.Logf("no way out: %v %s", err, out)
	} else if got, _ := reaches(t, 1, "192.0.2.1:80", enough); got {
		t.Error("there is a way out")
	}
}

// reaches reports whether a connection from the n-th node's network is accepted within a limit, and how long that took.
func reaches(t *testing.T, n int, at string, limit time.Duration) (bool, time.Duration) {
	t.Helper()
	host, port, err := net.SplitHostPort(at)
	check(t, err)
	cmd := in(n, "timeout", fmt.Sprintf("%.3f", limit.Seconds()), "bash", "-c", "exec 3<>/dev/tcp/"+host+"/"+port)
	began := time.Now()
	err = cmd.Run()
	if ended := new(exec.ExitError); err != nil && !errors.As(err, &ended) {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
	return err == nil, time.Since(began)
}
