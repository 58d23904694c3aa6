package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// WriteText writes the cluster's status for people.
func (s *ClusterStatus) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "cluster        %s\n\n", s.Name)
	if len(s.Jobs) == 0 {
		b.WriteString("no jobs: `whirlpool seed` gives the cluster one\n")
	} else {
		s.writeJobs(&b)
	}
	if s.Pipeline != nil {
		b.WriteByte('\n')
		s.Pipeline.writeText(&b, s.Time)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *ClusterStatus) writeJobs(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "JOB\tSTATE\tPAGES\tPAGES/S\tOPEN\tDONE\tLEFT OUT\tAGE")
	for i := range s.Jobs {
		j := &s.Jobs[i]
		fmt.Fprintf(t, "%s\t%s\t%d\t%.1f\t%d\t%d\t%d\t%s\n", j.Job, j.State, j.Pages, j.Rate, j.Open, j.Done, j.Excluded,
			span(s.Time.Sub(j.Created).Round(time.Second)))
	}
	_ = t.Flush() // a strings.Builder takes everything
	for i := range s.Jobs {
		if j := &s.Jobs[i]; j.Note != "" {
			fmt.Fprintf(w, "%s: %s\n", j.Job, j.Note)
		}
	}
}

// alarmHelp says what to do about an alarm.
var alarmHelp = map[string]string{
	"disk":   "Give its disk room; it continues by itself",
	"memory": "It ends when consumers catch up; else give the broker more memory",
}

// policyHelp says what a policy does, and what to do about it.
const policyHelp = "by it the broker drops or refuses messages. Remove it (`rabbitmqctl clear_policy`); what was lost " +
	"is fetched again"

// freshFor is how old what brokers said may be, without a word of it.
const freshFor = 2 * time.Second

func (p *Pipeline) writeText(w io.Writer, now time.Time) {
	p.Ring.writeText(w)
	if age := now.Sub(p.At).Round(time.Second); !p.At.IsZero() && age > freshFor {
		fmt.Fprintf(w, "queues, programs and alarms as the brokers told them %s ago:\n", age)
	}
	for _, a := range p.Alarms {
		fmt.Fprintf(w, "ALARM          %s: the broker takes no messages, and all who publish wait. %s\n", a,
			alarmHelp[a.Resource])
	}
	for _, o := range p.Policies {
		fmt.Fprintf(w, "POLICY         %s: %s\n", o, policyHelp)
	}
	if len(p.Alarms)+len(p.Policies) > 0 {
		fmt.Fprintln(w)
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "QUEUE\tREADY\tUNACKED\tRETRYING\tIN/S\tOUT/S\tCONSUMERS")
	for i := range p.Topics {
		q := &p.Topics[i]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%.1f\t%.1f\t%d\n", q.Name, q.Ready, q.Unacked, q.Retrying, q.In, q.Out, q.Consumers)
	}
	_ = t.Flush() // a strings.Builder takes everything
	fmt.Fprint(w, p.inMemory())
	f := &p.Frontier
	fmt.Fprintf(w, "\n%-14s %s wait: %d in front queues, %d in the back queues of %s, %d retries; %d of them in memory\n",
		"frontier", plural(int(f.Tasks()), "task"), f.Front, f.Back, plural(int(f.BackQueues), "host"), f.Later, f.Held)
	fmt.Fprintf(w, "%-14s %d known\n", "hosts", p.Hosts)
	fmt.Fprintf(w, "%-14s %s\n", "programs", p.programsText())
	fmt.Fprintf(w, "%-14s %s\n", "dead letters", deadText(p.DeadLetters, "whirlpool replay --cluster --list"))
}

// writeText writes the nodes of the ring; nothing where there is none.
func (r *RingLine) writeText(w io.Writer) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "ring           %s, epoch %d, %s, %s", r.Name, r.Epoch, plural(len(r.Nodes), "node"),
		plural(r.Vnodes, "virtual node"))
	if r.Moving > 0 {
		fmt.Fprintf(w, ", %d of them on their way", r.Moving)
	}
	fmt.Fprint(w, "\n\n")
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "NODE\tADDRESS\tSTATE\tREGISTERED\tVIRTUAL NODES\tTASKS\tUNDER WAY\tRETRYING\tDEAD LETTERS")
	for i := range r.Nodes {
		n := &r.Nodes[i]
		registered := "yes"
		if !n.Registered {
			registered = "no"
		}
		figures := fmt.Sprintf("%d\t%d\t%d\t%d", n.Tasks, n.UnderWay, n.Retrying, n.Dead)
		if n.Error != "" {
			figures = "?\t?\t?\t?"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%s\n", n.Node, n.Address, n.State, registered, n.Vnodes, figures)
	}
	_ = t.Flush() // a strings.Builder takes everything
	for _, n := range r.Nodes {
		switch {
		case n.Error == deadNode:
			fmt.Fprintf(w, "%s is %s\n", n.Node, n.Error)
		case n.Error != "":
			fmt.Fprintf(w, "%s's broker does not answer, and the sums below lack what it holds; links to its hosts wait on "+
				"the other nodes: %s\n", n.Node, n.Error)
		}
	}
	fmt.Fprintln(w)
}

// programsText lists the programs by host.
func (p *Pipeline) programsText() string {
	if len(p.Programs) == 0 {
		return "none is connected: start `whirlpool node`, or the programs of a node"
	}
	var parts []string
	host := ""
	for _, g := range p.Programs {
		if len(parts) > 0 && g.Host == host {
			parts[len(parts)-1] += " " + g.Name
			continue
		}
		host = g.Host
		parts = append(parts, host+": "+g.Name)
	}
	return strings.Join(parts, "; ")
}

// inMemory says which queues are hardly used, because a whole node hands on in memory what goes there; empty: none is.
func (p *Pipeline) inMemory() string {
	if !slices.ContainsFunc(p.Programs, func(o bus.Program) bool { return o.Name == bus.WholeProgram }) {
		return ""
	}
	handed := crawl.TopicNames(func(t crawl.Topic) bool { return !t.Root })
	return fmt.Sprintf("A program %q hands on in memory what goes to %s: the queues have what is in doubt. Unacked of "+
		"the others: pages and\nbatches of which something is still under way there.\n", bus.WholeProgram,
		strings.Join(handed, ", "))
}
