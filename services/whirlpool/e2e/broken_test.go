package e2e_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/bus/membus"
	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/dnscache"
)

// faultVariable makes the test binary a crawler with the named fault. It takes the arguments of the real program, so
// the tests kill it in the same way.
const faultVariable = "WHIRLPOOL_E2E_FAULT"

// The faults. Each breaks a thing that promise 1, 2 or 3 rests on.
const (
	faultNone    = "none"    // the control of the controls: the assembly below is sound
	faultJournal = "journal" // what is in flight is written down nowhere
	faultClaims  = "claims"  // a claim does not remember which message made it
	faultContent = "content" // a fingerprint does not remember which URL it came from
	faultHosts   = "hosts"   // what a host asked for is forgotten with the process
)

func runBroken(fault string) int {
	if err := crawlBroken(fault, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "broken crawler:", err)
		return 1
	}
	return 0
}

func crawlBroken(fault string, args []string) (err error) {
	flags := flag.NewFlagSet("crawl", flag.ContinueOnError)
	file, dir, dns := flags.String("c", "", ""), flags.String("o", "", ""), flags.String("dns", "", "")
	_, _, window := flags.Bool("allow-private", true, ""), flags.Bool("quiet", true, ""), flags.Int("concurrency", 1, "")
	agent := flags.String("user-agent", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	spec, err := jobfile.Load(*file)
	if err != nil {
		return err
	}
	spec.UserAgent = *agent
	store, err := local.Open(*dir, local.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return crawlStored(fault, *dir, &spec, store, *dns, *window)
}

// crawlStored begins or goes on as node.OpenLocal does. Commands find the job of a directory in the store's revisions.
func crawlStored(fault, dir string, spec *crawl.Job, store *local.Store, dns string, window int) error {
	ctx := context.Background()
	_, resumed, err := node.StoredJob(ctx, store)
	if err != nil {
		return err
	}
	job, _, err := node.Revise(ctx, store.Jobs(), spec)
	if err != nil {
		return err
	}
	if err := store.TakeBack(ctx); err != nil {
		return err
	}
	b, n, err := assemble(fault, dir, store, dns, window)
	if err != nil {
		return err
	}
	return runNode(b, n, store, job, resumed)
}

// assemble joins a node as node.OpenLocal does, but with a broken part.
func assemble(fault, dir string, s *local.Store, dns string, window int) (*membus.Bus, *node.Node, error) {
	log := slog.New(slog.DiscardHandler)
	wires := membus.Default()
	wires.Journal, wires.Dead, wires.Log = s.Journal(), s.DeadLetters(), log
	stores := node.Stores{URLs: s.URLs(), Ledger: s.URLs(), Budgets: s.Budgets(), Content: s.ContentSet(),
		Hosts: s.Hosts(), Robots: s.Hosts(), Queues: s.Queues(), Pages: s.Pages(), Unkept: s.Unkept(),
		Attempts: s.AttemptLog(), Bodies: s.Bodies(), Redirects: s.Redirects()}
	stores.URLs = lateClaims{s.URLs()} // in the sound crawler, too
	switch fault {
	case faultNone:
	case faultJournal:
		wires.Journal = new(forgetfulJournal)
	case faultClaims:
		stores.URLs = forgetfulClaims{stores.URLs}
	case faultContent:
		stores.Content = forgetfulContent{s.ContentSet(), filepath.Join(dir, "state")}
	case faultHosts:
		stores.Hosts = forgetfulHosts{store: s.Hosts()}
	default:
		return nil, nil, fmt.Errorf("fault %q is unknown", fault)
	}
	names := dnscache.Default()
	names.Server = dns
	resolver, err := dnscache.New(names, nil)
	if err != nil {
		return nil, nil, err
	}
	cfg := node.Default()
	cfg.SetWindow(window)
	cfg.Fetch.AllowPrivate = true
	b := membus.New(wires)
	n, err := node.New(cfg, node.Deps{Bus: b, Outstanding: b.Outstanding, Stores: stores, Jobs: s.Jobs(),
		Resolver: resolver, Log: log})
	return b, n, err
}

// runNode seeds and runs until the job has ended.
func runNode(b *membus.Bus, n *node.Node, s *local.Store, job *crawl.Job, resumed bool) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	if err := n.Recover(ctx, resumed); err != nil {
		return err
	}
	if _, err := b.Recover(ctx); err != nil {
		return err
	}
	if _, err := node.Seed(ctx, b, s.URLs(), s.Hosts(), job); err != nil {
		return err
	}
	go func() {
		for range time.Tick(20 * time.Millisecond) {
			if n.Finished(job.ID) {
				stop()
				return
			}
		}
	}()
	return errors.Join(n.Run(ctx), b.Close())
}

// forgetfulJournal numbers messages and stores none.
type forgetfulJournal struct{ last atomic.Uint64 }

func (j *forgetfulJournal) Append(_ context.Context, msgs ...bus.Message) (uint64, error) {
	n := uint64(len(msgs))
	return j.last.Add(n) - n + 1, nil
}

func (j *forgetfulJournal) Remove(context.Context, ...uint64) error { return nil }

func (j *forgetfulJournal) Load(context.Context, func(uint64, bus.Message) error) error { return nil }

// lateClaims answers a while after the claim is stored, so that kills in between are no matter of luck.
type lateClaims struct{ crawl.URLSet }

func (c lateClaims) Claim(
	ctx context.Context, job crawl.JobID, by crawl.MessageID, tasks []crawl.Task,
) ([]crawl.Claimed, error) {
	answers, err := c.URLSet.Claim(ctx, job, by, tasks)
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(30 * time.Millisecond):
		return answers, err
	}
}

// forgetfulClaims answers a message that asks again like any other.
type forgetfulClaims struct{ crawl.URLSet }

func (c forgetfulClaims) Claim(
	ctx context.Context, job crawl.JobID, by crawl.MessageID, tasks []crawl.Task,
) ([]crawl.Claimed, error) {
	answers, err := c.URLSet.Claim(ctx, job, by, tasks)
	for i, a := range answers {
		if a == crawl.Repeat {
			answers[i] = crawl.Known
		}
	}
	return answers, err
}

// forgetfulContent takes a page that comes again for a copy, of itself.
type forgetfulContent struct {
	crawl.ContentSet
	dir string
}

func (c forgetfulContent) Claim(
	ctx context.Context, fp crawl.Fingerprint, near int, confirm func(mine, theirs []byte) bool,
) (crawl.Seen, error) {
	seen, err := c.ContentSet.Claim(ctx, fp, near, confirm)
	if err != nil || seen.Sameness != crawl.Original {
		return seen, err
	}
	mark, err := os.OpenFile(filepath.Join(c.dir, fmt.Sprintf("seen-%x", fp.Digest[:])), os.O_CREATE|os.O_EXCL|os.O_WRONLY,
		0o600)
	if errors.Is(err, os.ErrExist) {
		return crawl.Seen{Sameness: crawl.ExactCopy, Of: fp.URL, SameLinks: true}, nil
	}
	if err != nil {
		return crawl.Seen{}, err
	}
	return seen, mark.Close()
}

// forgetfulHosts stores the records of hosts and finds none.
type forgetfulHosts struct{ store crawl.Hosts }

func (f forgetfulHosts) PutHosts(ctx context.Context, hosts ...crawl.Host) error {
	return f.store.PutHosts(ctx, hosts...)
}

func (forgetfulHosts) Hosts(_ context.Context, keys ...string) ([]crawl.Host, error) {
	hosts := make([]crawl.Host, len(keys))
	for i, key := range keys {
		hosts[i].Key = key
	}
	return hosts, nil
}
