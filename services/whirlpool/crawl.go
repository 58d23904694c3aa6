package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/control/jobfile"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/node"
	"github.com/whirlpool-crawler/whirlpool/pkg/process"
	"github.com/whirlpool-crawler/whirlpool/pkg/stores/local"
	"github.com/whirlpool-crawler/whirlpool/pkg/system"
)

// crawlFlags are the flags of `whirlpool crawl` that are no settings of the job.
type crawlFlags struct {
	out, config, dns, cpuProfile           string
	markdown                               string // directory of the Markdown files; empty: none
	concurrency                            int
	until                                  time.Duration // after which a continuous crawl is ended
	warc, fresh, quiet, json, allowPrivate bool
	noSitemaps, verbose, keepNoFollow      bool
	browser                                string
	documents                              bool
	temporary                              bool // the directory goes when the command ends
	copies                                 copyFlags
	outputFlags
	pluginFlags
	seedFlags
	stdin io.Reader // of the command
}

func newCrawl() *cobra.Command {
	job, f := crawl.DefaultJob(), &crawlFlags{}
	cmd := &cobra.Command{
		Use:     "crawl [URL... | -]",
		Short:   "Crawl here and now, with nothing else installed",
		Long:    crawlLong,
		Example: crawlExamples,
	}
	f.register(cmd, &job)
	f.addLists(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, args []string) error {
		f.implied(&f.out)
		args, err := f.named(args)
		if err = errors.Join(err, checkWords(cmd, args), checkOut(f.out)); err != nil {
			return err
		}
		f.stdin = cmd.InOrStdin()
		final, ok, err := f.goOn(cmd, job, args)
		if err == nil && !ok {
			if final, err = f.job(cmd, job, args); err == nil {
				err = checkSeedList(cmd, final) // a crawl that goes on may have read it
			}
		}
		if err == nil {
			f.copies.wantAssets(cmd, final)
			err = errors.Join(f.check(), f.checkUntil(final), f.checkTargets(), checkHere(cmd, final))
		}
		if err == nil {
			err = f.withModels(cmd, final)
		}
		if err != nil {
			return err
		}
		return f.run(cmd.Context(), final, cmd.OutOrStdout(), cmd.ErrOrStderr())
	})
	return cmd
}

// register declares the flags; those of the job write into job.
func (f *crawlFlags) register(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVarP(&f.out, "out", "o", "", "directory of the crawl (default ./crawl-<host>); -: records to standard output")
	f.addJob(cmd, job)
	f.addOutput(cmd)
	f.addPlugins(cmd)
	fl.Var(&markdownValue{&f.markdown, job}, "markdown",
		"write the main text of each page as a Markdown file into this `directory`, named after its URL")
	fl.IntVar(&f.concurrency, "concurrency", node.Default().Frontier.Window, "requests at once, over all hosts")
	fl.DurationVar(&f.until, "until", 0, "end a continuous crawl after this time; the same command resumes it")
	fl.BoolVar(&f.warc, "warc", false, "write WARC files too")
	f.copies.register(cmd)
	fl.BoolVar(&f.fresh, "fresh", false, "discard what the directory holds of an earlier crawl")
	fl.BoolVar(&f.quiet, "quiet", false, "print nothing but errors")
	fl.BoolVar(&f.json, "json", false, "print progress as JSON lines on standard output")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "log what the stages do on standard error")
	fl.StringVar(&f.dns, "dns", "", "name server, `ADDR:PORT`")
	fl.BoolVar(&f.allowPrivate, "allow-private", false, "permit loopback and private addresses")
	fl.StringVar(&f.cpuProfile, "cpuprofile", "", "write a CPU profile to this `file`")
	_ = fl.MarkHidden("cpuprofile")
}

// addJob declares the flags that make a job.
func (f *crawlFlags) addJob(cmd *cobra.Command, job *crawl.Job) {
	fl := cmd.Flags()
	fl.SortFlags = false
	fl.StringVarP(&f.config, "config", "c", "", "job file (YAML); flags win over it")
	fl.StringVar((*string)(&job.Scope), "scope", string(job.Scope), "links to follow: domain, host, prefix or any")
	fl.StringVar((*string)(&job.Order), "order", string(job.Order),
		"which URLs come first: priority, or breadth: level by level")
	fl.StringArrayVar(&job.Include, "include", nil, "follow only URLs that match this `regexp` (repeatable)")
	fl.StringArrayVar(&job.Exclude, "exclude", nil, "follow no URL that matches this `regexp` (repeatable)")
	fl.StringVar(&job.Blacklist, "blacklist", "", "`file` of hosts, domains and URL prefixes never to fetch")
	fl.IntVar(&job.MaxPages, "max-pages", job.MaxPages, "stop after so many pages; 0: no limit")
	fl.IntVar(&job.MaxDepth, "max-depth", job.MaxDepth, "follow links so many hops from a seed; -1: no limit")
	fl.IntVar(&job.PagesPerLevel, "pages-per-level", 0, "URLs of one depth; 0: no limit")
	fl.IntVar(&job.PagesPerHost, "pages-per-host", 0, "URLs of one host; 0: no limit, 10,000 with --scope any")
	fl.IntVar(&job.PagesPerDomain, "pages-per-domain", 0,
		"URLs of one registrable domain; 0: no limit, 50,000 with --scope any")
	fl.Var(&job.Limits.MaxBody, "max-body", "cut bodies longer than this, after decompression")
	addPolitenessFlags(cmd, job)
	addRequestFlags(cmd, job)
	addNetworkFlags(cmd, job)
	addBoundFlags(cmd, job)
	fl.StringVar(&job.UserAgent, "user-agent", "", "User-Agent header (default Whirlpool/VERSION (+CONTACT))")
	fl.StringVar(&job.Robots.Agent, "robots-agent", "",
		"`name` to look for in robots.txt files (default that of the User-Agent)")
	fl.StringVar(&job.Contact, "contact", "", "`URL or e-mail` address for the owners of the sites")
	fl.BoolVar(&job.IgnoreRobots, "ignore-robots", false,
		"do not ask for robots.txt; only for your own sites. Sitemaps that it names are not found then: give them as seeds")
	fl.BoolVar(&f.keepNoFollow, "ignore-nofollow", false, "follow nofollow links and store noindex pages")
	f.addDocuments(cmd)
	fl.BoolVar(&job.KeepBodies, "keep-bodies", false, "keep the bodies of stored pages, compressed, for whirlpool extract")
	fl.BoolVar(&job.Search, "search", false,
		"in a cluster, keep the words of pages for whirlpool search; a directory needs nothing")
	addAssetFlags(cmd, job)
	addRenderFlags(cmd, job)
	addTopicFlags(cmd, job)
	addRevisitFlags(cmd, job)
	fl.StringVar(&f.browser, "browser", "",
		"`file` of the browser that renders pages (default chromium, or what else is in PATH)")
	fl.BoolVar(&f.noSitemaps, "no-sitemaps", false, "do not read sitemaps")
	addExtract(cmd, job)
	fl.IntVar(&job.NearDuplicate, "near-duplicate", job.NearDuplicate,
		"bits of 64 in which near-duplicates may differ; -1: only exact copies")
}

// job puts the job together: defaults, the job file, then the flags that were given.
func (f *crawlFlags) job(cmd *cobra.Command, flags crawl.Job, args []string) (*crawl.Job, error) {
	job := flags
	if f.config != "" {
		var err error
		if job, err = jobfile.Load(f.config); err != nil {
			return nil, exitStatus{exitUsage, err}
		}
		overlay(cmd, &job, &flags)
	}
	presets(cmd, &job, &flags)
	tidyRevisits(&job)
	if f.keepNoFollow {
		job.IgnoreMeta = true
	}
	if f.noSitemaps {
		job.Sitemaps = false
	}
	f.letDocumentsIn(&job)
	if len(args) > 0 || f.any() {
		job.SeedFrom(args)
	}
	if err := f.apply(cmd, &job); err != nil {
		return nil, err
	}
	if err := f.name(&job); err != nil {
		return nil, err
	}
	if err := checkJob(&job); err != nil {
		return nil, exitStatus{exitUsage, nameFlags(cmd.Flags(), err)}
	}
	sayNotices(cmd, &job)
	return &job, nil
}

// name gives a job that has none an id, and the crawl a directory: after its first seed, or its list.
func (f *crawlFlags) name(job *crawl.Job) error {
	if job.Unseeded() {
		return usage("name at least one URL to start from, a list of them (--seeds), or a job file with seeds (-c)")
	}
	seeds, err := job.SeedURLs()
	if err != nil {
		return exitStatus{exitUsage, err}
	}
	key := nameOfList(job.SeedList)
	if nodes := job.Pipeline.Providers(); job.SeedList == "" && len(nodes) > 0 {
		key = nodes[0]
	}
	host := key
	if len(seeds) > 0 {
		key, host = seeds[0].HostKey(), seeds[0].Hostname()
	}
	if f.out == "" {
		f.out = "crawl-" + strings.NewReplacer(":", "-", "[", "", "]", "").Replace(key)
	}
	if job.ID == "" {
		job.ID = cmp.Or(jobIDOf(host), "list")
	}
	return nil
}

// jobIDOf makes an id of a host name.
func jobIDOf(host string) crawl.JobID {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(host))
	return crawl.JobID(strings.Trim(id[:min(len(id), 64)], "-"))
}

// overlay copies the flags that were given on the command line over a job file's settings.
func overlay(cmd *cobra.Command, job, flags *crawl.Job) {
	set := map[string]func(){
		"scope": func() { job.Scope = flags.Scope }, "order": func() { job.Order = flags.Order },
		"include": func() { job.Include = flags.Include }, "exclude": func() { job.Exclude = flags.Exclude },
		"blacklist": func() { job.Blacklist = flags.Blacklist }, "max-pages": func() { job.MaxPages = flags.MaxPages },
		"max-depth":        func() { job.MaxDepth = flags.MaxDepth },
		"pages-per-level":  func() { job.PagesPerLevel = flags.PagesPerLevel },
		"pages-per-host":   func() { job.PagesPerHost = flags.PagesPerHost },
		"pages-per-domain": func() { job.PagesPerDomain = flags.PagesPerDomain },
		"max-body":         func() { job.Limits.MaxBody = flags.Limits.MaxBody },
		"delay":            func() { job.Politeness.Delay = flags.Politeness.Delay },
		"ip-delay":         func() { job.Politeness.IPDelay = flags.Politeness.IPDelay },
		"host-connections": func() { job.Politeness.HostConnections = flags.Politeness.HostConnections },
		"user-agent":       func() { job.UserAgent = flags.UserAgent }, "contact": func() { job.Contact = flags.Contact },
		"robots-agent":   func() { job.Robots.Agent = flags.Robots.Agent },
		"keep-bodies":    func() { job.KeepBodies = flags.KeepBodies },
		"search":         func() { job.Search = flags.Search },
		"ignore-robots":  func() { job.IgnoreRobots = flags.IgnoreRobots },
		"near-duplicate": func() { job.NearDuplicate = flags.NearDuplicate },
	}
	overlayExtract(set, job, flags)
	for name, copyFlag := range set {
		if cmd.Flags().Changed(name) {
			copyFlag()
		}
	}
	overlayRequests(cmd, job, flags)
	overlayNetwork(cmd, job, flags)
	overlayAssets(cmd, job, flags)
	overlayRender(cmd, job, flags)
	overlayTopic(cmd, job, flags)
	overlayRevisits(cmd, job, flags)
}

// presets gives a job the politeness of the preset that a flag names, but for what other flags say.
func presets(cmd *cobra.Command, job, flags *crawl.Job) {
	if !cmd.Flags().Changed("politeness") {
		return
	}
	var ok bool
	if job.Politeness, ok = crawl.PresetPoliteness(flags.Politeness.Preset); !ok {
		job.Politeness.Preset = flags.Politeness.Preset // which is told when the job is checked
	}
	overlay(cmd, job, flags)
}

// memoryGoal is what the Go runtime keeps a crawl's memory under, collecting garbage more often when it comes near.
// Without a C compiler the cache of the store is garbage-collected memory, too, whose growth the collector would
// otherwise allow for.
const memoryGoal = 250 << 20

// check finds what is wrong with the flags that are no settings of the job.
func (f *crawlFlags) check() error {
	switch {
	case f.concurrency < 1 || f.concurrency > maxConcurrency:
		return usage("--concurrency %d: want 1 to %d", f.concurrency, maxConcurrency)
	case f.quiet && f.json:
		return usage("--quiet prints nothing and --json progress: give one of them")
	case f.toStdout() && f.json:
		return usage("--json prints progress on standard output, where -o - puts the records: give one of them")
	case f.outputFlags.check(f.out) != nil:
		return f.outputFlags.check(f.out)
	case f.toStdout() && (f.warc || f.fresh):
		return usage("-o - keeps no files: --warc and --fresh need a directory")
	}
	return errors.Join(f.checkForm(), f.copies.check(f.toStdout()))
}

// maxConcurrency is more than the sockets that a process may have on most systems.
const maxConcurrency = 65_536

// run crawls into the directory, or to standard output, until the job has ended or a signal stops it.
func (f *crawlFlags) run(ctx context.Context, job *crawl.Job, stdout, stderr io.Writer) (err error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryGoal)
	}
	view := newView(f, stdout, stderr)
	opt, err := f.options(job, view.screen)
	if err != nil {
		return err
	}
	plugged, err := f.usePlugins(ctx, job, &opt)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plugged.Close()) }()
	if err := f.refusePrivate(ctx, job, &opt, view.screen); err != nil {
		return err
	}
	f.warn(job, view.screen)
	if f.toStdout() {
		return f.runToStdout(ctx, opt, view)
	}
	if f.fresh {
		d, err := local.Discard(f.out)
		if err != nil {
			return fmt.Errorf("--fresh: %w", err)
		}
		f.sayDiscarded(&d, view.screen)
	}
	return f.runIn(ctx, opt, view, nil)
}

// sayDiscarded says what --fresh removed, and what it left.
func (f *crawlFlags) sayDiscarded(d *local.Discarded, stderr io.Writer) {
	if f.quiet || len(d.Names)+len(d.Kept) == 0 {
		return
	}
	fmt.Fprintf(stderr, "whirlpool: --fresh discarded %d records, %d bytes in all, in %s: %s\n", d.Records, d.Bytes, f.out,
		strings.Join(d.Names, ", "))
	for _, name := range d.Kept {
		fmt.Fprintf(stderr, "whirlpool: --fresh left %s, which is not whirlpool's\n", name)
	}
}

func (f *crawlFlags) options(job *crawl.Job, stderr io.Writer) (node.LocalOptions, error) {
	level := slog.LevelError
	if f.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	if f.verbose {
		process.StandardLog(log.Handler())
	}
	opt := node.DefaultLocal(f.out, job, log)
	opt.WARC = f.warc || f.copies.wanted() || job.Assets.Wanted() || job.Pipeline.Packs() // assets are kept nowhere else
	f.choose(&opt)
	f.told = stderr
	opt.Stdin, opt.BadSeed = f.stdinFor(f.stdin), f.tellBad(job.SeedList)
	f.fit(&opt, stderr)
	opt.Node.Frontier.ShareAddresses = len(job.Network.Proxies) == 0
	opt.Node.Fetch.AllowPrivate, opt.Node.Fetch.PrivateJobs = f.allowPrivate, true
	opt.DNS.Server = f.dns
	var errs []error
	// all else is a default
	for flag, err := range map[string]error{"concurrency": opt.Node.Frontier.Validate(), "dns": opt.DNS.Validate()} {
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", flag, err))
		}
	}
	opt.Browser.Path = f.browser
	if err := checkBrowser(job, f.browser, stderr); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return opt, exitStatus{exitUsage, err}
	}
	return opt, nil
}

// fit sets how many requests are under way at once: no more than the process has files for.
func (f *crawlFlags) fit(opt *node.LocalOptions, stderr io.Writer) {
	files := system.OpenFiles()
	n := process.FitFiles(f.concurrency, files)
	if n < f.concurrency && !f.quiet {
		fmt.Fprintf(stderr, "whirlpool: this process may open %d files, so %d requests are made at once and not %d (ulimit "+
			"-n raises it)\n", files, n, f.concurrency)
	}
	opt.Node.SetWindow(n)
	opt.Node.Fetch.MaxIdleConns = process.FitFiles(opt.Node.Fetch.MaxIdleConns, files)
	opt.Store.OpenFiles = process.StoreFiles(files)
}

// warn asks for a contact where the crawl may go beyond one site: whoever is crawled should know whom to write to.
func (f *crawlFlags) warn(job *crawl.Job, stderr io.Writer) {
	domains := map[string]bool{}
	seeds, _ := job.SeedURLs()
	for _, s := range seeds {
		domains[s.RegistrableDomain()] = true
	}
	several := job.Scope == crawl.ScopeAny || len(domains) > 1 || job.Listed()
	if job.Contact == "" && job.UserAgent == "" && !f.quiet && several {
		fmt.Fprintln(stderr,
			"whirlpool: this crawl may visit several sites: name a --contact, so that their owners can reach you")
	}
}
