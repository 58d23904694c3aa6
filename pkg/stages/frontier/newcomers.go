package frontier

import (
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A host that says nothing holds a fetcher until a time limit ends its request. Hundreds of them would hold all
// fetchers, and hosts that answer would wait for them. So what is known of a host decides how much of the window it
// may share in: hosts that answer may use all of it. For as many as there are, up to half of the window, places are
// kept free of all others. Of the rest, places are kept in the same way for hosts that answered, but not often yet:
// what they need, up to half of it. Newcomers, which were never heard from, and laggards have what is left, but for
// an eighth of the window that is kept for hosts whose next URLs are not found yet, and laggards a quarter of it at
// most. And a newcomer gets less time for its first requests.

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

// mostlyHeard is the share of silent newcomers below which their time limits are not shortened.
const mostlyHeard = 0.25

// newcomers counts the hosts on the workbench and their leases by grade.
type newcomers struct {
	window      int          // Config.Window
	connections int          // leases that a host may have at once, by the job that allows most
	active      int          // hosts on the workbench that are not proven
	hosts       [grades]int  // on the workbench
	held        [grades]int  // leases
	waiting     [grades]line // ready hosts for which there was no place
	silence     float64      // the share of first requests that ended without an answer, of the last ones
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
	silent := n.held[newcomer] + n.held[laggard]
	free := n.others() - n.held[unproven] - silent
	switch g {
	case prompt:
		return n.window
	case unproven:
		return free
	case laggard:
		free = min(free, max(n.window/4, 1)-n.held[laggard])
	}
	return min(free, n.unheard()-silent)
}

// others is how many leases hosts that are not prompt may have.
func (n *newcomers) others() int { return n.window - min(n.need(prompt), n.half()) }

// unheard is how many leases hosts may have that were never heard from or did not answer their last request.
func (n *newcomers) unheard() int {
	others := n.others()
	return max(min(others-min(n.need(unproven), others/2), n.window-max(n.window/8, 1)), 1)
}

func (n *newcomers) half() int { return n.window / 2 }

// need is how many leases all hosts of the grade could have at once.
func (n *newcomers) need(g grade) int { return n.hosts[g] * max(n.connections, 1) }

// soon reports whether hosts wait for places that will soon be free: most newcomers answer.
func (n *newcomers) soon() bool {
	return n.silence < mostlyHeard && n.waiting[unproven].len()+n.waiting[newcomer].len() > 0
}

// recall hands the hosts to each for which there are places again: those of which more is known first.
func (n *newcomers) recall(each func(*host)) {
	held := n.held
	for g := unproven; g < grades; g++ {
		for n.waiting[g].len() > 0 && n.room(g) > 0 {
			each(n.waiting[g].pop())
			n.held[g]++ // it will soon; the next must not count on the same place
		}
	}
	n.held = held
}

// firstWait is the time that a host has to begin its answer; 0: what the job allows.
func (n *newcomers) firstWait(h *host, t *crawl.Task, j *crawl.Job) time.Duration {
	wait, before := firstWaitMax, max(h.rec.Failures, t.Attempt)
	switch {
	case before >= j.Retry.Max, !j.Retry.RepeatsSilence(), h.answers > 0 && n.active <= n.unheard() &&
		n.held[prompt] <= n.half():
		return 0
	case h.answers >= proof:
		wait *= 2
	case n.silence >= mostlyHeard:
		wait = n.hurry()
	}
	return wait << min(before, 16)
}

// hurry is the time that a host has where most say nothing: the least where there are more hosts than places, and
// otherwise the less the more places are taken, so that there are some left for those that come one after the other.
func (n *newcomers) hurry() time.Duration {
	places := n.unheard()
	if n.active > places {
		return firstWaitMin
	}
	free := 1 - float64(n.held[newcomer]+n.held[laggard]-1)/float64(places) // but for its own
	return min(max(time.Duration(free*free*float64(firstWaitMax)), firstWaitMin), firstWaitMax)
}

// learn notes what became of a newcomer's request.
func (n *newcomers) learn(heard bool) {
	const weight = 1.0 / 32
	n.silence *= 1 - weight
	if !heard {
		n.silence += weight
	}
}

// cutOff reports whether an answer began and was too slow for the time that it had, however short that was.
func cutOff(out *crawl.Outcome) bool {
	return out.Status != 0 && out.Verdict != crawl.VerdictDone &&
		(out.Reason == crawl.ReasonTimeout || out.Reason == crawl.ReasonTooSlow)
}

// join counts a host that was put on the workbench.
func (n *newcomers) join(h *host) {
	h.graded = h.grade()
	n.hosts[h.graded]++
	if h.answers < proof {
		n.active++
	}
}

// leave takes a host off the counts.
func (n *newcomers) leave(h *host) {
	n.hosts[h.graded]--
	if h.answers < proof {
		n.active--
	}
}

// regrade counts a host on the workbench by what is known of it now.
func (n *newcomers) regrade(h *host) {
	n.hosts[h.graded]--
	h.graded = h.grade()
	n.hosts[h.graded]++
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
