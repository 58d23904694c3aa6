package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Hosts implements Reader.
func (x *Explorer) Hosts(ctx context.Context, id crawl.JobID, f HostFilter, p Page) (*List[Host], error) {
	by, falling := strings.CutPrefix(cmp.Or(f.Sort, "-requests"), "-")
	value, known := hostSorts[by]
	order := hostOrder{value: value, byKey: by == "key", falling: falling}
	if !known {
		return nil, fmt.Errorf("%w: sort %q: want one of %s, with - before it to turn it round", ErrInvalid,
			plain(f.Sort, 40), hostSortNames())
	}
	c, err := cursorFrom(p, listOf("hosts", id, f))
	if err != nil {
		return nil, err
	}
	ix, err := x.index(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := ix.hosts(ctx)
	if err != nil {
		return nil, fmt.Errorf("hosts of execution %q: %w", id, err)
	}
	query := strings.ToLower(f.Query) // as hosts are
	picked := make([]*Host, 0, len(all))
	for i := range all {
		if h := &all[i]; strings.Contains(h.Key, query) && (f.Why == "" || h.Why == f.Why) {
			picked = append(picked, h)
		}
	}
	slices.SortFunc(picked, func(a, b *Host) int { return order.compare(a, value(b), b.Key) })
	out := order.page(picked, c, limitOf(p))
	out.Index = ix.Index()
	return out, nil
}

// hostOrder is by value and then by key.
type hostOrder struct {
	value   func(*Host) float64 // the same of all hosts where byKey is true
	byKey   bool
	falling bool // the largest first; of hosts with one value the keys still rise
}

// compare compares a host with one of a value and a key.
func (o hostOrder) compare(h *Host, value float64, key string) int {
	n, k := cmp.Compare(o.value(h), value), strings.Compare(h.Key, key)
	switch {
	case o.falling && o.byKey:
		return -k
	case o.falling:
		n = -n
	}
	return cmp.Or(n, k)
}

// page cuts a page out of sorted hosts. It goes on behind the value and key at which the page before ended, though
// figures changed meanwhile.
func (o hostOrder) page(all []*Host, c cursor, limit int) *List[Host] {
	from := 0
	if c.Key != "" {
		from = slices.IndexFunc(all, func(h *Host) bool { return o.compare(h, c.Num, c.Key) > 0 })
		if from < 0 {
			from = len(all)
		}
	}
	out := &List[Host]{Items: []Host{}, Total: int64(len(all))}
	for _, h := range all[from:min(from+limit, len(all))] {
		out.Items = append(out.Items, *h)
	}
	if from+limit < len(all) {
		last := all[from+limit-1]
		out.Next = cursor{Of: c.Of, Num: o.value(last), Key: last.Key}.encode()
	}
	return out
}

// hostSorts are what hosts can be sorted by.
var hostSorts = map[string]func(*Host) float64{
	"key":       func(*Host) float64 { return 0 },
	"queued":    func(h *Host) float64 { return float64(h.Queued) },
	"in_flight": func(h *Host) float64 { return float64(h.InFlight) },
	"next":      func(h *Host) float64 { return seconds(h.Next) },
	"requests":  func(h *Host) float64 { return float64(h.Requests) },
	"pages":     func(h *Host) float64 { return float64(h.Pages) },
	"bytes":     func(h *Host) float64 { return float64(h.Bytes) },
	"p50":       func(h *Host) float64 { return h.P50 },
	"p95":       func(h *Host) float64 { return h.P95 },
	"failures":  func(h *Host) float64 { return float64(h.Failures) },
	"failed":    func(h *Host) float64 { return float64(h.Failed) },
	"excluded":  func(h *Host) float64 { return float64(h.Excluded) },
	"last":      func(h *Host) float64 { return seconds(h.Last) },
}

func hostSortNames() string {
	names := make([]string, 0, len(hostSorts))
	for n := range hostSorts {
		names = append(names, n)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

const hostColumns = "key, requests, pages, bytes, c2, c3, c4, c5, none, failed, excluded, depth, last, p50, p95"

// indexedHosts are the hosts as the index knows them. Nobody changes them.
type indexedHosts struct {
	list  []Host
	done  []int64          // pages of each that are done or have failed
	at    map[string]int   // where in list a host is, by its key
	names map[int64]string // keys by the hosts' numbers
	ids   map[string]int64
}

func (x *index) indexedHosts(ctx context.Context) (*indexedHosts, error) {
	return x.hosted.get(ctx, x.changes.Load(), x.readHosts)
}

func (x *index) readHosts(ctx context.Context) (*indexedHosts, error) {
	all := &indexedHosts{at: map[string]int{}, names: map[int64]string{}, ids: map[string]int64{}}
	err := each(ctx, x.read, "SELECT "+hostColumns+", id, done FROM hosts WHERE key <> ''", nil,
		func(scan func(...any) error) error {
			var id, done int64
			h, err := scanHost(func(into ...any) error { return scan(append(into, &id, &done)...) })
			all.at[h.Key], all.names[id], all.ids[h.Key] = len(all.list), h.Key, id
			all.list, all.done = append(all.list, h), append(all.done, done)
			return err
		})
	return all, err
}

// hosts returns all hosts of the execution, as the index and the frontier know them.
func (x *index) hosts(ctx context.Context) (all []Host, err error) {
	known, err := x.indexedHosts(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.Clone(known.list)
	if x.source().Live == nil {
		return all, nil
	}
	now, err := x.source().Live.Hosts(ctx, x.source().ID)
	for i := range now {
		n, known := known.at[now[i].Key]
		if !known && now[i].Held && now[i].Queued+int64(now[i].InFlight) == 0 {
			continue // it is another execution's
		}
		if !known {
			n = len(all)
			all = append(all, Host{Key: now[i].Key, Classes: map[string]int64{}})
		}
		all[n].live(&now[i])
	}
	return all, err
}

func scanHost(scan func(...any) error) (h Host, err error) {
	var c [6]int64
	var last int64
	err = scan(&h.Key, &h.Requests, &h.Pages, &h.Bytes, &c[2], &c[3], &c[4], &c[5], &c[0], &h.Failed, &h.Excluded,
		&h.Depth, &last, &h.P50, &h.P95)
	h.Classes, h.Failures = map[string]int64{}, c[0]
	for class, n := range c {
		if n > 0 {
			h.Classes[classNames[class]] = n
		}
	}
	if last > 0 {
		h.Last = time.UnixMilli(last).UTC()
	}
	return h, err
}

// live adds what the frontier knows.
func (h *Host) live(n *HostNow) {
	h.Queued, h.InFlight, h.Held, h.Next, h.Why, h.Text, h.Until = n.Queued, n.InFlight, n.Held, n.Next, n.Why, n.Text,
		n.Until
	h.Backoff, h.Robots, h.Address = n.Backoff.Seconds(), n.Robots, n.Address
}
