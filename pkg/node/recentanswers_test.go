package node

import (
	"fmt"
	"testing"
	"time"
)

func TestRecentAnswers(t *testing.T) {
	r, now := &recentAnswers{}, time.Now()
	add := func(host string, status, n int) {
		for range n {
			r.add(host, status, now)
		}
	}
	share := func() string { return fmt.Sprint(r.refused(20, 2, now)) }
	add("a.test", 200, 10)
	add("a.test", 403, 9)
	add("b.test", 200, 30)
	if got := share(); got != "[]" {
		t.Errorf("too few answers, and none refused: %s", got)
	}
	add("a.test", 429, 1)
	now = now.Add(6 * time.Minute)
	add("c.test", 429, 40)
	add("d.test", 403, 25)
	add("a.test", 403, 5)
	if got := share(); got != "[{c.test 40 40} {d.test 25 25}]" {
		t.Errorf("two hosts: %s", got)
	}
	if got := fmt.Sprint(r.refused(25, 9, now)); got != "[{c.test 40 40} {d.test 25 25} {a.test 25 15}]" {
		t.Errorf("over two generations: %s", got)
	}
	now = now.Add(time.Hour)
	if got := share(); got != "[]" {
		t.Errorf("long ago: %s", got)
	}
	for i := range 2 * answersHosts {
		add(fmt.Sprint(i), 403, 1)
	}
	if len(r.now) != answersHosts {
		t.Errorf("%d hosts are remembered", len(r.now))
	}
}
