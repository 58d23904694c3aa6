// Package ringbench measures the ring with a few nodes to a thousand: what a look-up costs beyond its hash, how even
// the ring is in virtual nodes, hosts and URLs, how much joining and leaving nodes move, and how large the table is. It
// uses the real tables, without a store.
package ringbench

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Config says what is measured.
type Config struct {
	Nodes   []int // clusters of so many nodes
	Hosts   int   // with sizes by Zipf's law: the i-th has 1/i of the first one's URLs
	URLs    int   // of all hosts
	PerUnit int   // virtual nodes a node
	Budget  int   // URLs a host, at most, for the last column of the balance
}

// Default returns the run of docs/benchmarks.md: 1 to 1,000 nodes, 10^6 hosts.
func Default() Config {
	return Config{Nodes: []int{1, 3, 10, 30, 100, 300, 1000}, Hosts: 1e6, URLs: 1e8, PerUnit: ring.PerUnit, Budget: 1000}
}

// Result is one cluster's figures.
type Result struct {
	Nodes, Vnodes int
	// Lookup and Hash are nanoseconds a look-up, and of its hash alone.
	Lookup, Hash float64
	// Nanoseconds a URL in the host splitter, and its messages a page: of pages of 40 links of which ten lead to five
	// other hosts, and of such whose links lead to 40 hosts.
	Split, Shares, Scattered, ScatteredShares float64
	// Most divided by mean, over the nodes.
	VnodesOver, HostsOver, URLsOver, BudgetOver float64
	// Moved divided by its ideal (the node's part of all): by a join, an orderly leave, a death. And what moved between
	// two other nodes.
	Join, Leave, Death float64
	Others             int
	// Octets of the table: settled, while a join is under way, after as many deaths and joins as a tenth of the nodes.
	Settled, Moving, Churned int
	// Time to compute a join, to encode and to decode.
	Compute, Encode, Decode time.Duration
}

// Run measures and writes a report.
func Run(w io.Writer, cfg Config) ([]Result, error) {
	fmt.Fprintf(w, "whirlpool bench ring --hosts %d --urls %d --per-unit %d   (%d CPUs, %s)\n", cfg.Hosts, cfg.URLs,
		cfg.PerUnit, runtime.NumCPU(), runtime.Version())
	web := newWeb(cfg)
	var out []Result
	for _, n := range cfg.Nodes {
		r, err := web.measure(n)
		if err != nil {
			return out, fmt.Errorf("%d nodes: %w", n, err)
		}
		out = append(out, r)
	}
	report(w, cfg, out)
	return out, nil
}

func report(w io.Writer, cfg Config, all []Result) {
	fmt.Fprintf(w, "\nlook-up, and balance as most/mean of the nodes, over virtual nodes, hosts, URLs (Zipf), and URLs "+
		"with at most %d a host\n", cfg.Budget)
	fmt.Fprintf(w, "%6s %8s %10s %10s %8s %8s %8s %8s\n", "nodes", "vnodes", "look-up ns", "hash ns", "vnodes", "hosts",
		"URLs", "budget")
	for _, r := range all {
		fmt.Fprintf(w, "%6d %8d %10.1f %10.1f %8.3f %8.3f %8.2f %8.3f\n", r.Nodes, r.Vnodes, r.Lookup, r.Hash, r.VnodesOver,
			r.HostsOver, r.URLsOver, r.BudgetOver)
	}
	fmt.Fprintf(w, "\nthe host splitter: ns of CPU time a URL and messages a page of %d links, ten of them to five "+
		"other hosts; all of them to hosts of their own\n", links)
	fmt.Fprintf(w, "%6s %10s %10s %12s %10s\n", "nodes", "ns a URL", "messages", "ns a URL", "messages")
	for _, r := range all {
		fmt.Fprintf(w, "%6d %10.1f %10.2f %12.1f %10.2f\n", r.Nodes, r.Split, r.Shares, r.Scattered, r.ScatteredShares)
	}
	fmt.Fprintf(w, "\nmoved/ideal by one node that comes or goes, virtual nodes moved between two others, octets of the "+
		"table, times\n")
	fmt.Fprintf(w, "%6s %6s %6s %6s %6s %9s %9s %9s %10s %9s %9s\n", "nodes", "join", "leave", "death", "others",
		"settled", "moving", "churned", "compute", "encode", "decode")
	for _, r := range all {
		fmt.Fprintf(w, "%6d %6.3f %6.3f %6.3f %6d %9d %9d %9d %10s %9s %9s\n", r.Nodes, r.Join, r.Leave, r.Death, r.Others,
			r.Settled, r.Moving, r.Churned, r.Compute.Round(10*time.Microsecond), r.Encode.Round(10*time.Microsecond),
			r.Decode.Round(10*time.Microsecond))
	}
}

// web is hosts with sizes.
type web struct {
	cfg   Config
	hosts []string
	sizes []float64
}

func newWeb(cfg Config) *web {
	s := &web{cfg: cfg, hosts: make([]string, cfg.Hosts), sizes: make([]float64, cfg.Hosts)}
	harmonic := 0.0
	for i := range cfg.Hosts {
		harmonic += 1 / float64(i+1)
	}
	for i := range s.hosts {
		s.hosts[i] = fmt.Sprintf("www.site%d.example", i)
		s.sizes[i] = max(1, float64(cfg.URLs)/harmonic/float64(i+1))
	}
	return s
}

func node(i int, incarnation uint64) ring.Node {
	return ring.Node{Name: fmt.Sprintf("node%04d", i), Address: fmt.Sprintf("10.0.%d.%d:5672", i/256, i%256),
		Weight: ring.Unit, Incarnation: incarnation}
}

// build makes a settled ring of n nodes that joined one after the other.
func (s *web) build(n int) (*ring.Table, error) {
	t, err := ring.Create(min(n*s.cfg.PerUnit, ring.MaxVnodes), ring.ByHost, 1)
	for i := 0; i < n && err == nil; i++ {
		t, err = t.Join(node(i, uint64(i+1)))
	}
	if err != nil {
		return nil, err
	}
	return ring.Settle(t), nil
}

func (s *web) measure(n int) (Result, error) {
	r := Result{Nodes: n}
	t, err := s.build(n)
	if err != nil {
		return r, err
	}
	r.Vnodes = t.Len()
	if err := s.lookups(t, &r); err != nil {
		return r, err
	}
	if err := s.splits(t, &r); err != nil {
		return r, err
	}
	if err := s.balance(t, &r); err != nil {
		return r, err
	}
	if n > 1 {
		if err := s.movement(t, &r); err != nil {
			return r, err
		}
	}
	return r, s.sizesOf(t, &r)
}

// lookups measures in turn, so that a drift of the machine's speed meets both.
func (s *web) lookups(t *ring.Table, r *Result) error {
	const rounds, chunk = 5, 200_000
	var sum uint64
	var lookups, hashes []float64
	for round := range rounds {
		from := round * chunk % max(len(s.hosts)-chunk, 1)
		hosts := s.hosts[from:min(from+chunk, len(s.hosts))]
		began := time.Now()
		for _, h := range hosts {
			sum += xxh3.HashStringSeed(h, 1)
		}
		hashes = append(hashes, perItem(began, len(hosts)))
		began = time.Now()
		for _, h := range hosts {
			n, err := t.Owner(h)
			if err != nil {
				return err
			}
			sum += n.Incarnation
		}
		lookups = append(lookups, perItem(began, len(hosts)))
	}
	runtime.KeepAlive(sum)
	slices.Sort(lookups)
	slices.Sort(hashes)
	r.Lookup, r.Hash = lookups[rounds/2], hashes[rounds/2]
	return nil
}

func perItem(began time.Time, n int) float64 {
	return float64(time.Since(began).Nanoseconds()) / float64(max(n, 1))
}

func (s *web) balance(t *ring.Table, r *Result) error {
	hosts, urls, budget := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for i, h := range s.hosts {
		n, err := t.Owner(h)
		if err != nil {
			return err
		}
		hosts[n.Name]++
		urls[n.Name] += s.sizes[i]
		budget[n.Name] += min(s.sizes[i], float64(s.cfg.Budget))
	}
	vnodes := map[string]float64{}
	counts := t.Counts()
	for i, n := range t.Nodes() {
		vnodes[n.Name] = float64(counts[i])
	}
	r.VnodesOver, r.HostsOver, r.URLsOver, r.BudgetOver = over(vnodes, r.Nodes), over(hosts, r.Nodes), over(urls, r.Nodes),
		over(budget, r.Nodes)
	return nil
}

// over is the most of a node divided by the mean of n nodes.
func over(by map[string]float64, n int) float64 {
	most, sum := 0.0, 0.0
	for _, x := range by {
		most, sum = max(most, x), sum+x
	}
	return most / (sum / float64(n))
}

func (s *web) movement(t *ring.Table, r *Result) error {
	n := r.Nodes
	began := time.Now()
	joined, err := t.Join(node(n, 1<<40))
	if err != nil {
		return err
	}
	r.Compute = time.Since(began)
	victim := node(n/2, uint64(n/2+1))
	left, err := t.Drain(victim.Name)
	if err != nil {
		return err
	}
	dead, err := t.Dead(victim.Name, victim.Incarnation)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		after *ring.Table
		who   string
		ideal float64
		to    *float64
	}{{joined, node(n, 0).Name, 1 / float64(n+1), &r.Join}, {left, victim.Name, 1 / float64(n), &r.Leave},
		{dead, victim.Name, 1 / float64(n), &r.Death}} {
		m, err := ring.Compare(t, c.after)
		if err != nil {
			return err
		}
		*c.to = m.Part() / c.ideal
		for _, f := range m.Flows {
			if f.From != c.who && f.To != c.who {
				r.Others += f.Vnodes
			}
		}
	}
	b, err := joined.Encode()
	r.Moving = len(b)
	return err
}

func (s *web) sizesOf(t *ring.Table, r *Result) error {
	began := time.Now()
	b, err := t.Encode()
	if err != nil {
		return err
	}
	r.Settled, r.Encode = len(b), time.Since(began)
	began = time.Now()
	if _, err := ring.Decode(b); err != nil {
		return err
	}
	r.Decode = time.Since(began)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := range int(math.Ceil(float64(r.Nodes) / 10)) {
		nodes := t.Nodes()
		n := nodes[rnd.IntN(len(nodes))]
		if t, err = t.Join(node(r.Nodes+1+i, 1<<41+uint64(i))); err == nil {
			t, err = t.Dead(n.Name, n.Incarnation)
		}
		if err != nil {
			return err
		}
		t = ring.Settle(t)
	}
	b, err = t.Encode()
	r.Churned = len(b)
	return err
}
