package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func TestChangedQuota(t *testing.T) {
	was := workflow.Quota{Running: 2, MinDelay: crawl.Duration(time.Second), BuiltinOnly: true}
	for changes, want := range map[string]workflow.Quota{
		"running=4":                    {Running: 4, MinDelay: was.MinDelay, BuiltinOnly: true},
		"running=0 builtin_only=false": {MinDelay: was.MinDelay},
		"min_delay=2s bytes=1000000": {Running: 2, MinDelay: crawl.Duration(2 * time.Second), Bytes: 1e6,
			BuiltinOnly: true},
		"pages_per_day=20 ignore_robots=true": {Running: 2, MinDelay: was.MinDelay, PagesPerDay: 20, IgnoreRobots: true,
			BuiltinOnly: true},
	} {
		if got, err := changedQuota(was, strings.Fields(changes)); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", changes, got, err, want)
		}
	}
	for _, change := range []string{"running", "running=many", "running=null", "running=1.5", "min_delay=2",
		"ignore_robots=yes", "pages=3", "=3", `running=1,"bytes":2`, "running={}"} {
		if got, err := changedQuota(was, []string{change}); err == nil {
			t.Errorf("%s: %+v", change, got)
		}
	}
}

// Quotas are listed, changed one by one, and taken back.
func TestQuotasOfAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a second")
	}
	s := startServe(t)
	run := func(args ...string) result { t.Helper(); return whirlpool(t, append(args, "--dir", s.dir)...) }
	has := func(want string) {
		t.Helper()
		if r := run("quotas"); r.exit != exitOK || !strings.Contains(strings.Join(strings.Fields(r.stdout), " "), want) {
			t.Errorf("exit status %d, no %q in\n%s%s", r.exit, want, r.stdout, r.stderr)
		}
	}
	has("role:user user user 0 of 2 0 of - 0 of - - no any")
	for _, change := range [][]string{{"running=4", "min_delay=2s"}, {"builtin_only=true"}} {
		if r := run(append([]string{"quotas", "set", "role:user"}, change...)...); r.exit != exitOK {
			t.Errorf("%q: exit status %d, %s", change, r.exit, r.stderr)
		}
	}
	has("role:user * user user 0 of 4 0 of - 0 of - 2s no builtin")
	// A key is listed once it has a quota of its own; what the first change does not name is still the role's.
	if r := run("key", "create", "ci"); r.exit != exitOK {
		t.Fatalf("key create: exit status %d, %s", r.exit, r.stderr)
	}
	words := strings.Fields(run("key", "list").stdout)
	id := words[slices.Index(words, "ci")-1] // the column before the name
	if r := run("quotas", "set", "key:"+id, "running=9"); r.exit != exitOK {
		t.Errorf("set: exit status %d, %s", r.exit, r.stderr)
	}
	has("key:" + id + " * key:ci user 0 of 9 0 of - 0 of - 2s no builtin")
	for want, args := range map[string][]string{
		"none of the quotas": {"set", "role:user", "pages=3"},
		"no account":         {"set", "nobody", "running=3"},
		"running":            {"set", "role:user", "running=-1"},
	} {
		if r := run(append([]string{"quotas"}, args...)...); r.exit == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: exit status %d, %s, want %s", args, r.exit, r.stderr, want)
		}
	}
	if r := run("quotas", "reset", "role:user"); r.exit != exitOK {
		t.Errorf("reset: exit status %d, %s", r.exit, r.stderr)
	}
	has("role:user user user 0 of 2 0 of - 0 of - - no any")
	if r := run("quotas", "mine"); r.exit != exitOK || !strings.Contains(r.stdout, "admin") {
		t.Errorf("mine: exit status %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
}
