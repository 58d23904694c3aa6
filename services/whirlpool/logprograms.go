package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/cluster"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/directory"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/mongo"
)

// programFlags say which lines of the programs' logs are meant.
type programFlags struct {
	programs             bool
	level, program, node string
}

func (p *programFlags) declare(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.BoolVar(&p.programs, "programs", false,
		"the logs of all programs of a cluster, or of a server, in the place of crawl.log")
	fl.StringVar(&p.level, "level", "", "with --programs: only lines of this level or above: debug, info, warn or error")
	fl.StringVar(&p.program, "program", "", "with --programs: only lines of this program, such as fetcher")
	fl.StringVar(&p.node, "node", "", "with --programs: only lines of programs of this node")
}

// check finds flags of the one log that are given for the other.
func (p *programFlags) check(f *logFlags) error {
	switch {
	case !p.programs && (p.level != "" || p.program != "" || p.node != ""):
		return usage("--level, --program and --node are for --programs: crawl.log has none")
	case p.programs && len(f.verdicts)+len(f.reasons)+len(f.statuses)+len(f.hosts) > 0:
		return usage("--verdict, --reason, --status and --host are of crawl.log: logs of programs have none; --url looks " +
			"for a text")
	case p.programs && f.cursor != 0:
		return usage("--cursor is of crawl.log: use --since")
	case f.limit < 0:
		return usage("--limit cannot be negative")
	}
	return nil
}

// run prints the lines.
func (p *programFlags) run(f *logFlags, ref *crawlRef) command {
	return ref.orServer(func(cmd *cobra.Command, _ []string, c *client.Client) error { return p.ofServer(cmd, f, ref, c) },
		ref.overCluster(func(*cobra.Command, []string, *directory.Directory) error {
			return usage("a crawl in a directory has one program: its log is what it prints. --programs is for --cluster and " +
				"--server")
		}, func(cmd *cobra.Command, _ []string, c *cluster.Cluster) error {
			return p.ofCluster(cmd, f, ref, c.Mongo)
		}))
}

// printed are lines that were printed, so that one that comes again is not.
const printed = 20_000

// followBack is how far behind its newest line a log is read again: programs have clocks of their own, and store lines
// about a second after they were written.
const followBack = 15 * time.Second

func (p *programFlags) ofCluster(cmd *cobra.Command, f *logFlags, ref *crawlRef, store *mongo.Store) error {
	ctx := cmd.Context()
	if f.follow {
		var stop context.CancelFunc
		ctx, stop = signals(ctx, func() {}, func() {})
		defer stop()
	}
	meant := mongo.ProgramFilter{Level: p.level, Program: p.program, Node: p.node, Job: ref.job, Text: f.url,
		Since: f.since.Time, Until: f.until.Time, Limit: f.limit}
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	seen := map[string]bool{}
	var order []string
	for {
		lines, err := store.ProgramLines(ctx, meant)
		if err != nil && ctx.Err() == nil {
			return errors.Join(err, out.Flush())
		}
		for i := range lines {
			if l := &lines[i]; !seen[l.ID] {
				seen[l.ID], order = true, append(order, l.ID)
				if err := writeLine(out, l); err != nil {
					return err
				}
				if at := l.At.Add(-followBack); at.After(meant.Since) && f.follow {
					meant.Since = at
				}
			}
		}
		if n := len(order) - printed; n > 0 {
			for _, id := range order[:n] {
				delete(seen, id)
			}
			order = order[n:]
		}
		if err := out.Flush(); err != nil || !f.follow || ctx.Err() != nil {
			return err
		}
		meant.Limit = printed
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second): // a store of documents that tells nobody
		}
	}
}

func writeLine(out *bufio.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(text, '\n'))
	return err
}

func (p *programFlags) ofServer(cmd *cobra.Command, f *logFlags, ref *crawlRef, c *client.Client) error {
	if p.program != "" || p.node != "" || f.follow {
		return usage("a server is one program on one machine: leave out --program and --node; the studio's page Logs " +
			"follows it")
	}
	q := url.Values{"source": {"server"}}
	for key, value := range map[string]string{"level": strings.ToUpper(p.level), "q": f.url, "execution": ref.job} {
		if value != "" {
			q.Set(key, value)
		}
	}
	if !f.since.IsZero() {
		q.Set("since", f.since.Format(time.RFC3339))
	}
	if !f.until.IsZero() {
		q.Set("until", f.until.Format(time.RFC3339))
	}
	lines, err := c.Logs(cmd.Context(), q, f.limit)
	if err != nil {
		return err
	}
	slices.Reverse(lines) // the newest come first
	out := bufio.NewWriterSize(cmd.OutOrStdout(), 64<<10)
	for i := range lines {
		if err := writeLine(out, &lines[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}
