package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/frontier"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// world is a frontier over a disk, fetchers that answer as they like, and the log of every request they made.
type world struct {
	t       *testing.T
	disk    *disk
	jobs    crawl.StaticJobs
	source  crawl.Jobs // in place of jobs; nil: those
	judge   frontier.Judge
	promise frontier.Promise
	cfg     frontier.Config
	addrs   int // hosts are spread over so many addresses; 0: none is known
	answer  func(w *world, f *crawl.Fetch) reply
	early   bool // hazard: outcomes are reported before the request has ended
	lie     bool // hazard: outcomes say that the request ended long ago
	fault   float64
	unsure  float64 // hazard: so many pushes arrive twice, and as many arrive and fail
	copies  int     // hazard: outcomes come so many times more, at once
	// hazard: with the outcome of a first attempt comes another that says that nobody knows how it ended
	doubt  bool
	drop   func(f *crawl.Fetch) bool // hazard: the message of a lease is deleted
	ring   frontier.Ring
	expect crawl.Following
	places crawl.Places
	nodes  func() int
	sends  bool // pages are sent on, and stored, in the middle of a fetch: before the outcome
	told   bool // hazard: some processes died behind the outcome of a page, whose lease comes again beside it
	away   outbox

	fetches []crawl.Fetch

	mu     sync.Mutex
	random *rand.Rand
	log    []request
	late   []string         // URLs leased after they were done
	lost   []*crawl.Outcome // reports of lost bodies that the frontier has not taken; they survive a crash
	leased []weburl.URL

	proc *process
	f    *frontier.Frontier
	stop func()
}

// request is what a server would have seen, and what it asked for.
type request struct {
	host, addr string
	start, end time.Time
	gap        time.Duration // that the next request to the host must keep
}

// reply is what a request comes to.
type reply struct {
	took    time.Duration
	outcome crawl.Outcome // Task, times and Addr are filled in
	unasked bool          // no request was made
	gap     time.Duration // besides the job's delay, once the outcome was taken
	lost    bool          // the body is lost, and the parser says so after a while
	after   time.Duration
}

func newWorld(t *testing.T, seed uint64, jobs ...*crawl.Job) *world {
	w := &world{t: t, disk: newDisk(), jobs: crawl.StaticJobs{}, cfg: frontier.Default(), answer: fine,
		random: rand.New(rand.NewPCG(seed, 1))}
	for _, j := range jobs {
		w.jobs[j.ID] = j
	}
	t.Cleanup(w.neverMistaken)
	return w
}

// neverMistaken fails the test where the frontier took an outcome for the first of its URL, and it was not. Of queues
// that may get a push twice it cannot know: the stores beside a broker look for themselves.
func (w *world) neverMistaken() {
	if w.unsure > 0 {
		return
	}
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	if n := len(w.disk.mistaken); n > 0 {
		w.t.Errorf("%d outcomes were said to be the first of their URLs, and were not: the first is %+v", n,
			w.disk.mistaken[0])
	}
}

// aJob is a job that ignores robots.txt and has no page budget.
func aJob(id string) *crawl.Job {
	j := crawl.DefaultJob()
	j.ID, j.Seeds, j.MaxPages, j.IgnoreRobots = crawl.JobID(id), []string{"http://h0.test/"}, 0, true
	return &j
}

// fine answers every request with 200 at once.
func fine(*world, *crawl.Fetch) reply {
	return reply{took: 100 * time.Millisecond, outcome: crawl.Outcome{Verdict: crawl.VerdictDone, Status: 200}}
}

func (w *world) roll(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

func (w *world) addr(host string) netip.Addr {
	n := 0
	_, _ = fmt.Sscanf(host, "h%d.test", &n)
	if w.addrs == 0 || n%8 == 7 {
		return netip.Addr{}
	}
	return netip.AddrFrom4([4]byte{192, 0, 2, byte(n % w.addrs)})
}

// Lookup implements frontier.Resolver.
func (w *world) Lookup(_ context.Context, host string) ([]netip.Addr, error) {
	time.Sleep(time.Duration(w.roll(300)) * time.Millisecond)
	if a := w.addr(host); a.IsValid() {
		return []netip.Addr{a}, nil
	}
	return nil, errors.New("no such host")
}

// begin starts a process on the disk.
func (w *world) begin() {
	w.t.Helper()
	p := &process{disk: w.disk, leads: make(chan bus.Message, 10_000), away: &w.away}
	if w.told {
		p.slow = map[weburl.Key]bool{}
	}
	w.disk.mu.Lock()
	resumed := len(w.log) > 0
	var again []bus.Message
	for _, m := range w.disk.journal {
		m.Redelivered = true
		again = append(again, m)
	}
	w.disk.mu.Unlock()
	w.mu.Lock()
	reports := slices.Clone(w.lost)
	w.mu.Unlock()
	jobs := w.source
	if jobs == nil {
		jobs = w.jobs
	}
	f, err := frontier.New(w.cfg, frontier.Deps{Queues: p, Ledger: p, Hosts: p, Jobs: jobs, Attempts: p, Bus: p,
		Judge: w.judge, Promise: w.promise, Resolver: w, Log: slog.New(slog.DiscardHandler), Ring: w.ring,
		Following: w.expect, Places: w.places, Spending: p, Nodes: w.nodes})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := f.Recover(ctx, resumed); err != nil {
		w.t.Fatal(err)
	}
	if w.told {
		time.Sleep(time.Millisecond) // what it records is younger than its start
	}
	if w.fault > 0 {
		p.fault = func() bool { return float64(w.roll(1000)) < 1000*w.fault }
	}
	if w.unsure > 0 {
		p.unsure = func() (again, fails bool) {
			x := float64(w.roll(1000))
			return x < 1000*w.unsure, x >= 1000*(1-w.unsure)
		}
	}
	var wg sync.WaitGroup
	// as the programs of a cluster, it leases nothing before the leases of its predecessor have their outcomes
	if w.sends {
		for _, m := range again {
			wg.Go(func() { w.deliver(ctx, p, f, m) })
		}
		wg.Wait()
		again = nil
	}
	wg.Go(func() { _ = f.Run(ctx) })
	wg.Go(func() {
		for _, m := range again {
			wg.Go(func() { w.deliver(ctx, p, f, m) })
		}
		for _, out := range reports {
			wg.Go(func() { w.reportLost(ctx, p, f, out) })
		}
		for {
			select {
			case <-ctx.Done():
				return
			case m := <-p.leads:
				wg.Go(func() { w.deliver(ctx, p, f, m) })
			}
		}
	})
	w.proc, w.f = p, f
	w.stop = func() { cancel(); wg.Wait() }
}

// crash ends the process at this instant.
func (w *world) crash() {
	w.disk.mu.Lock()
	w.proc.dead = true
	w.disk.crash()
	w.disk.mu.Unlock()
	w.stop()
}

// deliver is a fetcher: it makes the request and reports the outcome until the frontier has taken it.
func (w *world) deliver(ctx context.Context, p *process, f *frontier.Frontier, m bus.Message) {
	fetch := m.Event.(*crawl.Fetch)
	if m.Redelivered {
		now := time.Now()
		out := crawl.Outcome{Task: fetch.Task, Verdict: crawl.VerdictInterrupted, Started: now, Ended: now}
		var both sync.WaitGroup
		defer both.Wait()
		if r := w.answer(w, fetch); w.told && w.roll(2) == 0 && r.outcome.Verdict == crawl.VerdictDone {
			w.disk.putRecord(p, fetch.Task.URL.Key())
			r.outcome.Task = fetch.Task
			both.Go(func() { w.report(ctx, f, m, stamped(w, r.outcome, r.took)) })
		}
		if w.report(ctx, f, m, &out) {
			p.handled(m)
		}
		return
	}
	if w.drop != nil && w.drop(fetch) {
		p.handled(m)
		return
	}
	w.note(fetch)
	r := w.answer(w, fetch)
	out := r.outcome
	if w.sends && out.Verdict == crawl.VerdictDone && out.Status/100 == 2 {
		store := time.AfterFunc(r.took/4, func() { w.disk.putRecord(p, fetch.Task.URL.Key()) })
		defer store.Stop()
	}
	out.Task = fetch.Task
	if r.lost {
		var parser sync.WaitGroup
		defer parser.Wait()
		report := w.lose(fetch)
		parser.Go(func() {
			time.Sleep(r.after)
			w.reportLost(ctx, p, f, report)
		})
	}
	early := w.early && !r.unasked
	if !r.unasked {
		if early {
			w.report(ctx, f, m, stamped(w, out, 0))
		}
		at := w.request(ctx, fetch, r.took)
		if ctx.Err() != nil {
			return
		}
		defer func() { w.raise(at, r.gap) }()
		out = *stamped(w, out, r.took)
	}
	var copies sync.WaitGroup
	defer copies.Wait()
	for range w.copies {
		copies.Go(func() { w.report(ctx, f, m, &out) })
	}
	if w.doubt && fetch.Task.Attempt == 0 && !fetch.Task.Repeat {
		copies.Go(func() {
			w.report(ctx, f, m, &crawl.Outcome{Task: fetch.Task, Verdict: crawl.VerdictInterrupted, Started: out.Started,
				Ended: out.Ended})
		})
	}
	if early || w.report(ctx, f, m, &out) {
		p.handled(m)
	} else {
		r.gap = 0
	}
}

// stamped fills in when the request was made, which ends now, and to whom.
func stamped(w *world, out crawl.Outcome, took time.Duration) *crawl.Outcome {
	now := time.Now()
	if w.lie {
		now = now.Add(-time.Hour)
	}
	out.Started, out.Ended, out.Addr = now.Add(-took), now, w.addr(out.Task.URL.HostKey())
	if j := w.jobs[out.Task.Job]; j != nil && out.Task.JobEpoch() == crawl.EpochOf(j.Epoch) {
		if named := j.Network.Named(out.Task.URL); len(named) > 0 {
			out.Addr = named[0]
		}
	}
	return &out
}

// report reports an outcome until the frontier takes it.
func (w *world) report(ctx context.Context, f *frontier.Frontier, m bus.Message, out *crawl.Outcome) bool {
	for attempt := 0; ctx.Err() == nil; attempt++ {
		d := pipeline.Delivery{ID: m.ID.Child("fetcher", 0), Attempt: attempt, Repeat: attempt > 0}
		_, err := f.Outcomes().Handle(pipeline.WithDelivery(ctx, d), out)
		if err == nil {
			return true
		}
		time.Sleep(bus.Backoff(attempt))
	}
	return false
}

// request makes a request, as long as it takes or until the process dies, and returns its place in the log.
func (w *world) request(ctx context.Context, fetch *crawl.Fetch, took time.Duration) int {
	host := fetch.Task.URL.HostKey()
	start := time.Now()
	select {
	case <-time.After(took):
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, request{host: host, addr: w.addr(host).String(), start: start, end: time.Now(),
		gap: w.jobs[fetch.Task.Job].Politeness.Delay.D()})
	return len(w.log) - 1
}

// raise notes that a request asked for a longer rest, and that the frontier heard it.
func (w *world) raise(at int, gap time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log[at].gap = max(w.log[at].gap, gap)
}

// note remembers the lease, and whether its URL was done already.
func (w *world) note(fetch *crawl.Fetch) {
	w.disk.mu.Lock()
	done := w.disk.ledger[fetch.Task.URL.Key()].State == crawl.StateDone
	w.disk.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leased = append(w.leased, fetch.Task.URL)
	w.fetches = append(w.fetches, *fetch)
	if done && fetch.Task.Kind != crawl.KindRobots {
		w.late = append(w.late, fetch.Task.URL.String())
	}
}

// add queues tasks, as the DUE would.
func (w *world) add(tasks ...crawl.Task) {
	w.t.Helper()
	for attempt := 0; ; attempt++ {
		d := pipeline.Delivery{Attempt: attempt, Repeat: attempt > 0}
		_, err := w.f.In().Handle(pipeline.WithDelivery(context.Background(), d), &crawl.Fresh{Tasks: tasks})
		switch {
		case err == nil:
			return
		case attempt > 100:
			w.t.Fatal(err)
		}
	}
}

// drained reports whether all is done.
func (w *world) drained() bool {
	s := w.f.Stats()
	w.mu.Lock()
	lost := len(w.lost)
	w.mu.Unlock()
	w.disk.mu.Lock()
	defer w.disk.mu.Unlock()
	return lost == 0 && s.Queued == s.Shut && s.InFlight == 0 && len(w.disk.journal) == 0
}

// finish waits until all is done.
func (w *world) finish() {
	w.t.Helper()
	for began := time.Now(); !w.drained(); time.Sleep(time.Second) {
		if time.Since(began) > 60*24*time.Hour {
			w.stop()
			w.t.Fatalf("not done after 60 days: %+v, journal %d", w.f.Stats(), len(w.disk.journal))
		}
	}
}

func page(t *testing.T, job, url string) crawl.Task {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return crawl.Task{Job: crawl.JobID(job), URL: u}
}

// pages are n tasks a host.
func pages(t *testing.T, job string, hosts, n int) []crawl.Task {
	t.Helper()
	var out []crawl.Task
	for i := range n {
		for h := range hosts {
			out = append(out, page(t, job, fmt.Sprintf("http://h%d.test/%d", h, i)))
		}
	}
	return out
}
