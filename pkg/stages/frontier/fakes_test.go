package frontier_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// disk is what survives a crash: queues, ledger, host records and the journal of leases.
type disk struct {
	mu      sync.Mutex
	queues  map[string][]*stored
	seq     uint64
	unwrit  []crawl.Delivery // settled, but not written yet: a crash brings them back
	ledger  map[weburl.Key]crawl.Entry
	finals  map[weburl.Key]int // outcomes less those taken back
	hosts   map[string]crawl.Host
	journal map[uint64]bus.Message
	phantom map[string]int64 // lengths that queues are said to have besides
	pulls   map[string]int   // by queue: how often tasks were taken from it
	// mistaken are the outcomes of which the frontier said that they are the first, and which are not: the local store
	// believes it, and would count them twice.
	mistaken []crawl.Entry
	records  map[weburl.Key]bool // of pages, wherever they are stored
	kept     map[weburl.Key]bool // see crawl.Places
	spent    map[crawl.JobID]spent
}

// spent is what a job has spent, and until when its time is counted.
type spent struct {
	crawl.Spent
	until time.Time
}

// Spend implements crawl.Spending.
func (p *process) Spend(_ context.Context, job crawl.JobID, bytes int64, now time.Time) (crawl.Spent, error) {
	if err := p.enter(); err != nil {
		return crawl.Spent{}, err
	}
	defer p.leave()
	s := p.disk.spent[job]
	if gap := now.Sub(s.until); gap > 0 && gap <= crawl.SpendGap {
		s.Time += gap
	}
	s.Bytes, s.until = s.Bytes+bytes, now
	p.disk.spent[job] = s
	return s.Spent, nil
}

// Spent implements crawl.Spending.
func (p *process) Spent(_ context.Context, job crawl.JobID) (crawl.Spent, error) {
	if err := p.enter(); err != nil {
		return crawl.Spent{}, err
	}
	defer p.leave()
	return p.disk.spent[job].Spent, nil
}

type stored struct {
	task   crawl.Task
	seq    uint64
	pulled bool
}

func newDisk() *disk {
	return &disk{queues: map[string][]*stored{}, ledger: map[weburl.Key]crawl.Entry{}, finals: map[weburl.Key]int{},
		hosts: map[string]crawl.Host{}, journal: map[uint64]bus.Message{}, records: map[weburl.Key]bool{},
		kept: map[weburl.Key]bool{}, spent: map[crawl.JobID]spent{}, pulls: map[string]int{}}
}

// crash forgets what a process knew.
func (d *disk) crash() {
	d.unwrit = nil
	for _, q := range d.queues {
		for _, s := range q {
			s.pulled, s.task.Repeat = false, true
		}
	}
}

var (
	errDead  = errors.New("this process is dead")
	errFault = errors.New("the store fails now and then")
)

// process is one life of a program over a disk. After its end nothing it does reaches the disk. fault makes calls fail.
type process struct {
	disk  *disk
	dead  bool // guarded by disk.mu
	fault func() bool
	// unsure is a push during which the connection is lost: what arrived is sent again, or an error says that nobody
	// knows whether it arrived.
	unsure func() (again, fails bool)
	// appends is asked about lines of the log; nil: they are stored.
	appends func([]crawl.LogLine) error
	leads   chan bus.Message
	away    *outbox
	slow    map[weburl.Key]bool // if not nil: the ledger's first answer about a URL is on its way for a while
}

// outbox is where tasks of other nodes go.
type outbox struct {
	mu      sync.Mutex
	refuse  bool
	refused int
	fresh   []*crawl.Fresh
}

func (o *outbox) send(f *crawl.Fresh) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuse {
		o.refused++
		return errFault
	}
	o.fresh = append(o.fresh, f)
	return nil
}

// enter locks the disk; the process must leave it.
func (p *process) enter() error {
	p.disk.mu.Lock()
	if p.dead {
		p.disk.mu.Unlock()
		return errDead
	}
	if p.fault != nil && p.fault() {
		p.disk.mu.Unlock()
		return errFault
	}
	return nil
}

func (p *process) leave() { p.disk.mu.Unlock() }

// Push implements crawl.Queues.
func (p *process) Push(_ context.Context, items ...crawl.Queued) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	p.disk.writeSettled()
	var again, fails bool
	if p.unsure != nil {
		again, fails = p.unsure()
	}
	p.disk.store(items)
	if again {
		p.disk.store(items)
	}
	if fails {
		return errFault
	}
	return nil
}

func (d *disk) store(items []crawl.Queued) {
	for _, it := range items {
		d.seq++
		d.queues[it.Queue] = append(d.queues[it.Queue], &stored{task: it.Task, seq: d.seq})
	}
}

// backQueues is the number of back queues that have tasks.
func (d *disk) backQueues() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, tasks := range d.queues {
		if strings.HasPrefix(name, "back.") && len(tasks) > 0 {
			n++
		}
	}
	return n
}

// Pull implements crawl.Queues.
func (p *process) Pull(_ context.Context, queue string, n int) ([]crawl.Delivery, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var out []crawl.Delivery
	for _, s := range p.disk.queues[queue] {
		if !s.pulled && len(out) < n {
			s.pulled = true
			out = append(out, crawl.Delivery{Task: s.task, Queue: queue, Receipt: s.seq})
		}
	}
	if len(out) > 0 {
		p.disk.pulls[queue]++
	}
	return out, nil
}

// Settle implements crawl.Queues: it is written with the next push.
func (p *process) Settle(_ context.Context, ds ...crawl.Delivery) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	p.disk.unwrit = append(p.disk.unwrit, ds...)
	return nil
}

func (d *disk) writeSettled() {
	for _, x := range d.unwrit {
		d.queues[x.Queue] = slices.DeleteFunc(d.queues[x.Queue], func(s *stored) bool { return s.seq == x.Receipt })
	}
	d.unwrit = nil
}

// Lengths implements crawl.Queues.
func (p *process) Lengths(context.Context) (map[string]int64, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	out := map[string]int64{}
	for name, q := range p.disk.queues {
		if len(q) > 0 {
			out[name] = int64(len(q))
		}
	}
	maps.Copy(out, p.disk.phantom)
	return out, nil
}

// Finish implements crawl.Ledger.
func (p *process) Finish(_ context.Context, _ crawl.JobID, entries ...crawl.Entry) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for _, e := range entries {
		if e.First && p.disk.ledger[e.Key].State == crawl.StateDone {
			p.disk.mistaken = append(p.disk.mistaken, e)
		}
		if p.disk.ledger[e.Key].State != crawl.StateDone {
			p.disk.ledger[e.Key] = e
			p.disk.finals[e.Key]++
		}
	}
	return nil
}

// Reopen implements crawl.Ledger.
func (p *process) Reopen(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for _, k := range keys {
		if p.disk.ledger[k].State == crawl.StateDone {
			p.disk.ledger[k] = crawl.Entry{Key: k, State: crawl.StateOpen}
			p.disk.finals[k]--
		}
	}
	return nil
}

// Lookup implements crawl.Ledger.
func (p *process) Lookup(_ context.Context, _ crawl.JobID, keys ...weburl.Key) ([]crawl.Entry, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	first := false
	defer func() {
		p.leave()
		if first {
			time.Sleep(time.Millisecond)
		}
	}()
	out := make([]crawl.Entry, len(keys))
	for i, k := range keys {
		out[i] = p.disk.ledger[k]
		if p.slow != nil && !p.slow[k] {
			p.slow[k], first = true, true
		}
	}
	return out, nil
}

// Tally implements crawl.Ledger.
func (p *process) Tally(context.Context, crawl.JobID) (crawl.Tally, error) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	return crawl.Tally{Pages: int64(p.disk.pages())}, nil
}

func (d *disk) pages() (n int) {
	for _, e := range d.ledger {
		if e.State == crawl.StateDone && e.Kind == crawl.KindPage && e.Verdict == crawl.VerdictDone && e.Status/100 == 2 {
			n++
		}
	}
	return n
}

// Hosts implements crawl.Hosts.
func (p *process) Hosts(_ context.Context, keys ...string) ([]crawl.Host, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	hosts := make([]crawl.Host, len(keys))
	for i, key := range keys {
		hosts[i] = p.disk.hosts[key]
		hosts[i].Key, hosts[i].Origins = key, slices.Clone(hosts[i].Origins)
	}
	return hosts, nil
}

// PutHosts implements crawl.Hosts.
func (p *process) PutHosts(_ context.Context, hosts ...crawl.Host) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for _, h := range hosts {
		h.Origins = slices.Clone(h.Origins)
		p.disk.hosts[h.Key] = h
	}
	return nil
}

// Append implements crawl.AttemptLog.
func (p *process) Append(_ context.Context, lines ...crawl.LogLine) error {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if p.appends == nil {
		return nil
	}
	return p.appends(lines)
}

// Publish implements bus.Bus: leases are journaled before they are delivered.
func (p *process) Publish(_ context.Context, msgs ...bus.Message) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for _, m := range msgs {
		if f, ok := m.Event.(*crawl.Fresh); ok {
			if err := p.away.send(f); err != nil {
				return err
			}
			continue
		}
		p.disk.seq++
		p.disk.journal[p.disk.seq] = m
		p.leads <- m
	}
	return nil
}

// Consume implements bus.Bus.
func (p *process) Consume(context.Context, string, bus.Workers, bus.Handler) error { return nil }

// handled removes a lease from the journal.
func (p *process) handled(m bus.Message) {
	p.disk.mu.Lock()
	defer p.disk.mu.Unlock()
	if p.dead {
		return
	}
	lease := m.Event.(*crawl.Fetch).Task.Lease
	maps.DeleteFunc(p.disk.journal, func(_ uint64, j bus.Message) bool {
		return j.ID == m.ID && j.Event.(*crawl.Fetch).Task.Lease == lease
	})
}

// putRecord stores the record of a page that a fetcher has sent on.
func (d *disk) putRecord(p *process, k weburl.Key) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !p.dead {
		d.records[k] = true
	}
}

// keptPlaces are a disk's crawl.Places.
type keptPlaces struct{ *disk }

// KeepPlaces implements crawl.Places.
func (d keptPlaces) KeepPlaces(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range keys {
		d.kept[k] = true
	}
	return nil
}

// LeavePlaces implements crawl.Places.
func (d keptPlaces) LeavePlaces(_ context.Context, _ crawl.JobID, keys ...weburl.Key) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range keys {
		delete(d.kept, k)
	}
	return nil
}

// Places implements crawl.Places.
func (d keptPlaces) Places(context.Context, crawl.JobID) ([]weburl.Key, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.kept)), nil
}
