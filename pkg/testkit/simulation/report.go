package simulation

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// Figures are what one simulated stretch of time brought.
type Figures struct {
	Nodes    int
	Virtual  time.Duration
	Wall     time.Duration // of the whole simulation: the caller's to measure, outside of the bubble
	Pages    int64         // fetched
	Requests int64         // robots.txt and failures among them
	Most     float64       // pages of the node that fetched most, by the mean
	Messages float64       // a page, all topics
	Claims   float64       // of them claims
	Abroad   float64       // of all, to another node's broker
	Octets   float64       // of a message to another node
	Busy     float64       // of the time, the brokers' mean
	Busiest  float64
	Deepest  int     // messages that waited in one topic
	Active   float64 // hosts on a workbench
	Queued   float64 // tasks in a node's frontier
	Memory   Memory
}

// Mean is the mean of figures of clusters of one size.
func Mean(all []Figures) Figures {
	n := float64(len(all))
	f := Figures{Nodes: all[0].Nodes}
	for _, g := range all {
		f.Virtual += g.Virtual
		f.Wall += g.Wall
		f.Pages += g.Pages
		f.Requests += g.Requests
		f.Most += g.Most / n
		f.Messages += g.Messages / n
		f.Claims += g.Claims / n
		f.Abroad += g.Abroad / n
		f.Octets += g.Octets / n
		f.Busy += g.Busy / n
		f.Busiest, f.Deepest = max(f.Busiest, g.Busiest), max(f.Deepest, g.Deepest)
		f.Active += g.Active / n
		f.Queued += g.Queued / n
		f.Memory = g.Memory
	}
	return f
}

// Rate is requests a second and node.
func (f *Figures) Rate() float64 { return float64(f.Requests) / f.Virtual.Seconds() / float64(f.Nodes) }

// snapshot is counters at an instant.
type snapshot struct {
	at              time.Time
	pages, asked    []int64
	messages        int64
	claims, abroad  int64
	octets, weighed int64
	busy            []time.Duration
}

func (c *Cluster) snapshot() snapshot {
	s := snapshot{at: time.Now()}
	for _, n := range c.nodes {
		s.pages, s.asked = append(s.pages, n.pages.Load()), append(s.asked, n.asked.Load())
		n.broker.mu.Lock()
		for _, k := range n.broker.messages {
			s.messages += k
		}
		s.claims += n.broker.messages["due"]
		s.abroad += n.broker.foreign
		s.octets += n.broker.octets
		s.weighed += n.broker.weighed
		s.busy = append(s.busy, n.broker.busy)
		n.broker.mu.Unlock()
	}
	return s
}

// Measure lets the cluster run for so long and returns what came of it.
func (c *Cluster) Measure(d time.Duration) Figures {
	a := c.snapshot()
	time.Sleep(d)
	b := c.snapshot()
	f := Figures{Nodes: len(c.nodes), Virtual: b.at.Sub(a.at)}
	n := float64(len(c.nodes))
	most := int64(0)
	for i := range b.pages {
		pages := b.pages[i] - a.pages[i]
		f.Pages += pages
		f.Requests += b.asked[i] - a.asked[i]
		most = max(most, pages)
		busy := (b.busy[i] - a.busy[i]).Seconds() / f.Virtual.Seconds()
		f.Busy += busy / n
		f.Busiest = max(f.Busiest, busy)
		f.Deepest = max(f.Deepest, c.nodes[i].broker.deepestTopic())
		s := c.nodes[i].frontier.Load().Stats()
		f.Active += float64(s.ActiveHosts) / n
		f.Queued += float64(s.Queued) / n
	}
	pages := float64(max(f.Pages, 1))
	f.Most = float64(most) * n / pages
	f.Messages = float64(b.messages-a.messages) / pages
	f.Claims = float64(b.claims-a.claims) / pages
	f.Abroad = float64(b.abroad-a.abroad) / pages
	f.Octets = float64(b.octets-a.octets) / float64(max(b.weighed-a.weighed, 1))
	return f
}

// Report writes a table of figures; linear is each line's rate by that of the first.
func Report(w io.Writer, all []Figures) {
	fmt.Fprintf(w, "%6s %10s %8s %8s %8s %6s %8s %7s %7s %7s %6s %7s %7s %7s %8s %8s %8s %8s\n", "nodes", "requests/s",
		"a node", "linear", "pages/s", "most", "msgs/p", "claims", "abroad", "octets", "busy", "busiest", "deepest", "active",
		"queued", "KB heap", "stacks", "wall")
	for _, f := range all {
		fmt.Fprintf(w, "%6d %10.0f %8.2f %8.3f %8.0f %6.3f %8.2f %7.2f %7.2f %7.0f %6.3f %7.3f %7d %7.0f %8.0f %8d %8d %8s\n",
			f.Nodes, f.Rate()*float64(f.Nodes), f.Rate(), f.Rate()/all[0].Rate(),
			float64(f.Pages)/f.Virtual.Seconds(), f.Most, f.Messages, f.Claims, f.Abroad, f.Octets, f.Busy, f.Busiest, f.Deepest,
			f.Active, f.Queued, f.Memory.Programs/1000, f.Memory.Stacks/1000, f.Wall.Round(100*time.Millisecond))
	}
	fmt.Fprintf(w, "(%d CPUs, %s)\n", runtime.NumCPU(), runtime.Version())
}
