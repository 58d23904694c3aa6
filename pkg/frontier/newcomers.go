package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A host that says nothing holds a fetcher until a time limit ends its request. Hundreds of them would hold all
// fetchers, and hosts that answer would wait for them. So what is known of a host decides how much of the window it
// may share in: hosts that answer may use all of it. Newcomers, of which nothing or little was heard, and laggards
// hold half of it at most, and of that half laggards hold at most half. And a newcomer gets less time for its first
// requests.

// grade is what a host's last requests showed.
type grade uint8

const (
	prompt   grade = iota
	unproven       // it answered, but not often yet
	newcomer       // it was never heard from
	laggard        // it did not answer the last request, or was slow
	grades
)

// proof is how many answers make a host a prompt one.
const proof = 3

// slowExchange is how long a request takes that makes a host a laggard.
const slowExchange = 5 * time.Second

// Bounds of the time that a newcomer has for its first request: to connect, for the TLS handshake and until the
// answer begins. It is doubled with each failure, and the last attempt has what the job allows.
const (
	firstWaitMin = time.Second
	firstWaitMax = 5 * time.Second
)

// mostlyHeard is the share of silent newcomers below which nobody needs to hurry them.
const mostlyHeard = 0.25

// newcomers counts the hosts that were never heard from, and the leases by grade.
type newcomers struct {
	window  int          // Config.Window
	active  int          // hosts on the workbench that are not proven
	held    [grades]int  // leases
	waiting [grades]line // ready hosts for which there was no place
	silence float64      // the share of first requests that ended without an answer, of the last ones
}

func (h *host) grade() grade {
	switch {
	case h.rec.Failures > 0 || h.slowed:
		return laggard
	case h.answers == 0:
		return newcomer
	case h.answers < proof:
		return unproven
	}
	return prompt
}

// room is how many more leases hosts of the grade may have.
func (n *newcomers) room(g grade) int {
	free := n.half() - n.held[unproven] - n.held[newcomer] - n.held[laggard]
	switch g {
	case prompt:
		return n.window
	case laggard:
		return min(free, max(n.window/4, 1)-n.held[laggard])
	}
	return free
}

func (n *newcomers) half() int { return max(n.window/2, 1) }

// soon reports whether hosts wait for places that will soon be free: most newcomers answer.
func (n *newcomers) soon() bool {
	return n.silence < mostlyHeard && n.waiting[unproven].len()+n.waiting[newcomer].len() > 0
}

// recall hands the hosts to each for which there are places again: those of which more is known first.
func (n *newcomers) recall(each func(*host)) {
	gone := 0
	for g := unproven; g < grades; g++ {
		for room := n.room(g) - gone; room > 0 && n.waiting[g].len() > 0; room-- {
			each(n.waiting[g].pop())
			gone++
		}
	}
}

// firstWait is the time that a host has to begin its answer; 0: what the job allows.
func (n *newcomers) firstWait(h *host, t *crawl.Task, j *crawl.Job) time.Duration {
	wait, before := firstWaitMax, max(h.rec.Failures, t.Attempt)
	switch {
	case before >= j.Retry.Max, h.answers > 0 && n.active <= n.half() && n.held[prompt] <= n.half():
		return 0
	case h.answers >= proof:
		wait *= 2
	case n.active > n.half() && n.silence >= mostlyHeard:
		wait = max(firstWaitMax*time.Duration(n.half())/time.Duration(n.active), firstWaitMin)
	}
	return wait << min(before, 16)
}

// learn notes what became of a newcomer's request.
func (n *newcomers) learn(heard bool) {
	const weight = 1.0 / 32
	n.silence *= 1 - weight
	if !heard {
		n.silence += weight
	}
}

// hear notes whether the host answered.
func (f *Frontier) hear(h *host, out *crawl.Outcome) {
	if h.stranger || !out.Contacted() || out.Verdict == crawl.VerdictInterrupted {
		return
	}
	heard := out.Status != 0
	h.slowed = out.Ended.Sub(out.Started) > slowExchange
	if h.answers < proof {
		f.newcomers.learn(heard)
	}
	if heard {
		f.newcomers.note(h, h.answers+1)
	}
}

// note notes how often a host on the workbench answered.
func (n *newcomers) note(h *host, answers int64) {
	switch {
	case h.answers < proof && answers >= proof:
		n.active--
	case h.answers >= proof && answers < proof:
		n.active++
	}
	h.answers = answers
}

// answers is how often the host answered, as far as its record tells: each request that it did not answer since it
// last did is a failure.
func answers(rec *crawl.Host) int64 { return max(rec.Requests-int64(rec.Failures), 0) }
