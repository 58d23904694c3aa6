package frontier

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// If no host can be reached, the fault is probably ours: the network or the name server is down. Then failures are not
// counted against the hosts, only a probe is leased now and then, and the crawl goes on when a host answers.
const (
	// troubleDomains registrable domains must have failed in a row, for troubleAfter at least, without an answer in
	// between.
	troubleDomains = 3
	troubleAfter   = 3 * time.Second
	// checkPatience is how long a host that answered before, and is asked again to know whose trouble it is, has for
	// that; checkEvery is the least time between two such requests.
	checkPatience = 20 * time.Second
	checkEvery    = time.Minute
	probeEvery    = 2 * time.Second
	// troublePatience is how long failures are excused if no host ever answered. After that they count.
	troublePatience = 10 * time.Minute
	// troubleLongest is the same if a host has answered before.
	troubleLongest = 24 * time.Hour
	// filesPause is how long nothing is leased after the process could open no more files, and filesTold how long that is
	// told: longer than a retry takes, so that a crawl that goes on in no other way says why at any time.
	filesPause = time.Second
	filesTold  = 30 * time.Second
)

// trouble decides from the outcomes whether the fault is ours.
type trouble struct {
	failed    map[string]bool // domains that failed since the last answer
	since     time.Time       // of the first of them
	on        bool
	resigned  bool      // it has gone on too long
	checking  time.Time // since when the answer to a check is awaited; zero: it is not
	checked   time.Time // when the last check was asked for
	ask       bool      // a check is to be queued
	heard     []witness // of the last that answered
	asked     int       // checks
	probed    time.Time
	files     time.Time // nothing is leased until then
	filesSaid time.Time
	detail    string
}

// witness is a host that answered, of a job that asks for robots.txt files.
type witness struct {
	job   crawl.JobID
	url   weburl.URL
	rules string // see crawl.Job.RulesOf
}

// maxWitnesses is how many are remembered: one of them may be out of reach by chance.
const maxWitnesses = 4

// reach is what an outcome shows of the way to its host.
type reach uint8

const (
	nothing   reach = iota
	reached         // the host, or something in its place, did something
	unreached       // no connection, no address
	noProxy         // a proxy failed, or what else is ours and of one job
	noFiles         // we could open no connection
)

func reachOf(out *crawl.Outcome) reach {
	switch {
	case out.Reason == crawl.ReasonOpenFiles:
		return noFiles
	case out.Reason == crawl.ReasonProxy, out.Reason == crawl.ReasonNoProxy, out.Reason == crawl.ReasonCertificate:
		return noProxy
	case out.Status != 0:
		return reached
	case out.Verdict != crawl.VerdictRetry && out.Verdict != crawl.VerdictFailed:
		return nothing
	case out.Reason == crawl.ReasonConnect, out.Reason == crawl.ReasonDNS:
		return unreached
	case out.Contacted():
		return reached
	}
	return nothing
}

// note learns from an outcome, and reports whether its failure is ours.
func (t *trouble) note(out *crawl.Outcome, j *crawl.Job, now time.Time, log *slog.Logger) (ours bool) {
	switch reachOf(out) {
	case noFiles:
		t.noFiles(now, log)
		return true
	case noProxy:
		return true
	case reached:
		t.over(now, log)
		if out.Status != 0 && !j.IgnoreRobots {
			t.remember(out, j)
		}
	case unreached:
		return t.unreached(out, now, log)
	}
	return false
}

// remember notes who answered.
func (t *trouble) remember(out *crawl.Outcome, j *crawl.Job) {
	if slices.ContainsFunc(t.heard, func(w witness) bool { return w.url.HostKey() == out.Task.URL.HostKey() }) {
		return
	}
	if len(t.heard) == maxWitnesses {
		t.heard = slices.Delete(t.heard, 0, 1)
	}
	t.heard = append(t.heard, witness{out.Task.Job, out.Task.URL, j.RulesOf(out.Task.URL)})
}

func (t *trouble) noFiles(now time.Time, log *slog.Logger) {
	t.files = now.Add(filesPause)
	if now.Sub(t.filesSaid) > time.Minute {
		t.filesSaid = now
		log.Warn("this process may open no more files, so it leases less; no URL fails by it: raise the limit (ulimit -n) " +
			"or ask for less at once (--concurrency)")
	}
}

// over ends the trouble: a host was reached.
func (t *trouble) over(now time.Time, log *slog.Logger) {
	if t.on {
		log.Warn("hosts can be reached again: the crawl continues", "after", now.Sub(t.since).Round(time.Second))
	}
	if len(t.failed) > 0 {
		clear(t.failed)
	}
	t.on, t.resigned, t.ask, t.checking = false, false, false, time.Time{}
}

func (t *trouble) unreached(out *crawl.Outcome, now time.Time, log *slog.Logger) (ours bool) {
	if len(t.failed) == 0 {
		t.failed, t.since = map[string]bool{}, now
	}
	if len(t.failed) < troubleDomains {
		t.failed[out.Task.URL.RegistrableDomain()] = true
	}
	t.detail = out.Detail
	switch {
	case t.on, t.resigned, len(t.failed) < troubleDomains, now.Sub(t.since) < troubleAfter:
	case len(t.heard) == 0:
		t.begin(now, log)
	case t.checking.IsZero() && now.Sub(t.checked) > checkEvery:
		t.ask, t.checking, t.checked = true, now, now
	case !t.checking.IsZero() && now.Sub(t.checking) > checkPatience:
		t.begin(now, log)
	}
	return t.excuses()
}

func (t *trouble) begin(now time.Time, log *slog.Logger) {
	t.on, t.probed = true, now
	log.Warn("no host can be reached, whichever is asked: the crawl waits, probes and continues by itself; failures are "+
		"not counted meanwhile. Is the network up?", "since", t.since.Format(time.TimeOnly), "last", t.detail)
}

// excuses reports whether a host that cannot be reached is not to blame.
func (t *trouble) excuses() bool { return t.on || !t.checking.IsZero() }

// probes is how many leases the trouble allows now, of n.
func (t *trouble) probes(n int, now time.Time, log *slog.Logger) int {
	switch {
	case now.Before(t.files):
		return 0
	case !t.on:
		return n
	case now.Sub(t.since) > t.patience():
		t.on, t.resigned = false, true
		log.Warn("nobody could be reached for so long that failures count from now on", "after", t.patience())
		return n
	case now.Sub(t.checked) > checkEvery && len(t.heard) > 0:
		t.ask, t.checked = true, now
	}
	if now.Sub(t.probed) < probeEvery {
		return 0
	}
	t.probed = now
	return min(n, 1)
}

// check returns the task that asks a host which was reached before, if that is to be done now.
func (t *trouble) check() (task crawl.Task, wanted bool) {
	if !t.ask {
		return task, false
	}
	t.ask = false
	w := t.heard[t.asked%len(t.heard)]
	t.asked++
	first, err := robotsTask(&crawl.Task{Job: w.job, URL: w.url}, w.rules)
	if err != nil {
		return task, false
	}
	return *first, true
}

// patience is for how long failures are excused.
func (t *trouble) patience() time.Duration {
	if len(t.heard) == 0 {
		return troublePatience
	}
	return troubleLongest
}

// says describes the trouble for people; empty: there is none.
func (t *trouble) says(now time.Time) string {
	switch {
	case t.on:
		return fmt.Sprintf("no host can be reached since %s: waiting (%s)", t.since.Format(time.TimeOnly), t.detail)
	case !t.files.IsZero() && now.Before(t.files.Add(filesTold)):
		return "this process can open no more files: waiting (`ulimit -n` raises the limit)"
	}
	return ""
}
