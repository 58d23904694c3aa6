// Package due is the duplicate URL eliminator: it claims URLs that are not claimed yet and sends them to the frontiers
// of the nodes that own them.
//
// Its duties, in order:
//
//  1. Skip the URLs that the cache of recent URLs knows. The cache only skips URLs whose claim is stored, and is not
//     asked about a message that may have been handled before. A URL that is found again, and waits, gets a higher
//     priority: finds.go.
//  2. Claim the rest in one batch. A claim remembers its message. If that message is handled again it gets the same
//     answer, and URLs that it claimed but perhaps did not publish are published again, marked Repeat. The links of a
//     tracked page are claimed in the name of the page, because they may arrive by another way.
//  3. Charge the new URLs to the job's budgets: host, registrable domain, level, variants of one query, sitemaps. URLs
//     over a budget are excluded.
//  4. Store the exclusions, and log each new one.
//  5. Send each new URL to the node that owns it by the current ring table. That table is no older than the one under
//     which the URL was claimed. A node that has become the owner since then reads the claim from the ledger, or gets
//     the task.
//  6. In continuous jobs, tell the frontiers of known pages what the links say of them: told.go.
//  7. After that, record that the links of the page, or this share of them, are claimed.
package due

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/traps"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Deps are what a DUE works with.
type Deps struct {
	URLs     crawl.URLSet
	Ledger   crawl.Ledger
	Budgets  crawl.Budgets
	Attempts crawl.AttemptLog
	Jobs     crawl.Jobs
	// CacheBits is the logarithm of the number of recent URLs to remember, at 8 bytes each; 0: 20, which takes 8 MiB.
	CacheBits int
	// Owners returns the node that owns a fresh task; nil: all belong to this node.
	Owners crawl.Owners
	// Following notes the shares of tracked pages' links; nil: they are not tracked.
	Following crawl.Following
	// Resources and Renders are there for pages that are rendered; nil: none are.
	Resources crawl.Resources
	Renders   crawl.RenderStats
	// Revisits says which pages of continuous jobs are gone, or were seen before a list says that they changed; nil:
	// nobody is told.
	Revisits crawl.Revisits
}

// cacheBits makes a cache of 2^20 recent URLs, 8 MiB.
const cacheBits = 20

// Handler is the DUE's logic. It implements pipeline.Handler[*crawl.Claim] and pipeline.Settler[*crawl.Claim].
type Handler struct {
	deps    Deps
	cache   *cache
	average average
	popular popular
	asked   asked
}

// New returns a DUE with an empty cache.
func New(deps Deps) *Handler {
	return &Handler{deps: deps, cache: newCache(cmp.Or(deps.CacheBits, cacheBits))}
}

// Handle claims a batch.
func (h *Handler) Handle(ctx context.Context, c *crawl.Claim) ([]crawl.Event, error) {
	job, err := h.deps.Jobs.JobAt(ctx, c.Job, c.Epoch)
	if err != nil {
		return nil, err
	}
	d := deliveryOf(ctx, c)
	tasks, excluded, wanted, err := h.resources(ctx, job, c)
	if err != nil {
		return nil, err
	}
	if job.Politeness.Popularity > 0 {
		tasks = slices.Clone(tasks) // events are not changed
		h.popular.count(job, tasks)
	}
	fresh, err := h.claim(ctx, job, d, tasks)
	if err != nil {
		return nil, err
	}
	if err := h.gained(ctx, job, c, fresh); err != nil {
		return nil, err
	}
	if len(c.Foreign) > 0 {
		excluded = slices.Concat(excluded, c.Foreign)
	}
	if err := h.exclude(ctx, job, d, excluded); err != nil {
		return nil, err
	}
	told, err := h.tell(ctx, job, c, fresh)
	if err != nil {
		return nil, err
	}
	for i := range fresh {
		fresh[i].Told = time.Time{} // it is yet to be seen
	}
	events, err := h.address(ctx, append(fresh, wanted...))
	if err == nil && c.Of != nil && anyNew(fresh) {
		events, err = h.tellYield(ctx, c, events)
	}
	return append(events, told...), err
}

// anyNew reports whether a URL was not known before.
func anyNew(fresh []crawl.Task) bool {
	return slices.ContainsFunc(fresh, func(t crawl.Task) bool { return t.Finds == 0 && t.Kind == crawl.KindPage })
}

// tellYield tells the owner of a page of a continuous job that it brought URLs that were not known.
func (h *Handler) tellYield(ctx context.Context, c *crawl.Claim, events []crawl.Event) ([]crawl.Event, error) {
	told := crawl.Observation(&crawl.Task{Job: c.Job, URL: c.Of.URL, Kind: c.Of.Kind, Visit: c.Of.Visit, Epoch: c.Epoch},
		crawl.Observed{What: crawl.ObservedNewLinks})
	if h.deps.Owners != nil {
		view, err := h.deps.Owners.View()
		if err != nil {
			return nil, fmt.Errorf("owner of %s: %w", c.Of.URL, err)
		}
		if told.Node, err = view.Owner(ctx, c.Of.URL); err != nil {
			return nil, fmt.Errorf("owner of %s: %w", c.Of.URL, err)
		}
	}
	return append(events, told), nil
}

// Published implements pipeline.Settler: the page, or this share of its links, is followed no further.
func (h *Handler) Published(ctx context.Context, c *crawl.Claim) error {
	if h.deps.Following == nil || c.Share == nil {
		return nil
	}
	return h.deps.Following.Claimed(ctx, c.Job, c.Page, *c.Share)
}

// address returns a Fresh for each node that owns one of the tasks, in the order in which the nodes first appear.
func (h *Handler) address(ctx context.Context, fresh []crawl.Task) ([]crawl.Event, error) {
	switch {
	case len(fresh) == 0:
		return nil, nil
	case h.deps.Owners == nil:
		return []crawl.Event{&crawl.Fresh{Tasks: fresh}}, nil
	}
	view, err := h.deps.Owners.View() // not before the claim: see the package's fifth duty
	if err != nil {
		return nil, fmt.Errorf("owners of %d URLs, the first %s: %w", len(fresh), fresh[0].URL, err)
	}
	byNode := map[string]*crawl.Fresh{}
	var events []crawl.Event
	for _, t := range fresh {
		node, err := view.Owner(ctx, t.URL)
		if err != nil {
			return nil, fmt.Errorf("owner of %s: %w", t.URL, err)
		}
		e := byNode[node]
		if e == nil {
			e = &crawl.Fresh{Node: node}
			byNode[node], events = e, append(events, e)
		}
		e.Tasks = append(e.Tasks, t)
	}
	return events, nil
}

// deliveryOf returns the delivery in whose name c is claimed. The links of a tracked page are claimed in the name of
// the page, however they are split: when it is fetched again, because its links were lost with a node, what was claimed
// for it and never queued is fresh for it again, whichever node is asked now.
func deliveryOf(ctx context.Context, c *crawl.Claim) pipeline.Delivery {
	d := pipeline.DeliveryOf(ctx)
	if c.Share != nil {
		visit := 0
		if c.Of != nil {
			visit = c.Of.Visit
		}
		d.ID = crawl.VisitID(c.Job, crawl.KindPage, c.Page.Key(), visit).Child("links", 0)
		d.Repeat = d.Repeat || c.Again
	}
	return d
}

// saltOf sets the marks of a job apart from those of others, and of one of its id that was deleted.
func saltOf(job *crawl.Job) uint64 {
	return xxh3.HashStringSeed(string(job.ID), uint64(crawl.EpochOf(job.First)))
}

// claim returns the tasks that are to be queued.
func (h *Handler) claim(ctx context.Context, job *crawl.Job, d pipeline.Delivery,
	tasks []crawl.Task) ([]crawl.Task, error) {
	key := func(i int) weburl.Key { return tasks[i].URL.Key() }
	marks, has, known := h.cache.lookUp(len(tasks), key, saltOf(job), d.Repeat)
	asked, askedMarks := make([]crawl.Task, 0, len(tasks)-known), marks[:0]
	var found []crawl.Task
	for i := range tasks {
		t, m := &tasks[i], marks[i]
		if t.Repeat || !has[i] {
			asked, askedMarks = append(asked, *t), append(askedMarks, m)
		} else if rises, finds, depth := h.cache.find(m); rises > 0 && !h.average.below(finds) {
			found = append(found, better(job, t, rises, finds, depth))
		}
	}
	h.average.finds.Add(int64(len(tasks) - len(asked)))
	found, err := h.risen(ctx, job, found)
	if err != nil || len(asked) == 0 {
		return found, err
	}
	answers, err := h.deps.URLs.Claim(ctx, job.ID, d.ID, asked)
	if err != nil {
		return nil, fmt.Errorf("claim %d URLs, the first %s: %w", len(asked), asked[0].URL, err)
	}
	fresh, err := h.fresh(ctx, job, asked, askedMarks, answers)
	if err != nil {
		return nil, err
	}
	h.average.urls.Add(int64(len(fresh)))
	return append(fresh, found...), nil
}

// fresh are the tasks that were claimed and that no budget dismisses. It uses the room of asked.
func (h *Handler) fresh(ctx context.Context, job *crawl.Job, asked []crawl.Task, marks []uint64,
	answers []crawl.Claimed) (fresh []crawl.Task, err error) {
	fresh = asked[:0]
	for i, a := range answers {
		if a == crawl.Known {
			h.cache.add(marks[i])
			continue
		}
		t := asked[i]
		h.cache.claimed(marks[i], &t)
		t.Repeat = t.Repeat || a == crawl.Repeat
		reason, rule := "", ""
		if a != crawl.Repeat && !t.Paid { // that one was paid for before
			if reason, rule, err = h.overBudget(ctx, job, &t); err != nil {
				return nil, err
			}
		}
		if reason == "" {
			fresh = append(fresh, t)
		} else if err := h.dismiss(ctx, job, &t, reason, rule); err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// overBudget spends the budgets that t falls under, and names the one that is spent, with its rule.
func (h *Handler) overBudget(ctx context.Context, job *crawl.Job, t *crawl.Task) (reason, rule string, err error) {
	switch {
	case t.Seed:
		return "", "", nil
	case t.Kind == crawl.KindAsset:
		return h.overAssets(ctx, job, t)
	case t.Kind != crawl.KindPage:
		reason, err = h.overSitemaps(ctx, job, t)
		return reason, "", err
	}
	perHost, perDomain := limits(job)
	if perHost > 0 {
		if ok, err := h.spend(ctx, job, "h"+t.URL.HostKey(), perHost); !ok {
			return crawl.ReasonHostBudget, fmt.Sprint("pages_per_host ", perHost), err
		}
	}
	if perDomain > 0 {
		if ok, err := h.spend(ctx, job, "d"+t.URL.RegistrableDomain(), perDomain); !ok {
			return crawl.ReasonDomainBudget, fmt.Sprint("pages_per_domain ", perDomain), err
		}
	}
	if job.PagesPerLevel > 0 {
		if ok, err := h.spend(ctx, job, "l"+strconv.Itoa(t.Depth), job.PagesPerLevel); !ok {
			return crawl.ReasonLevelBudget, fmt.Sprint("pages_per_level ", job.PagesPerLevel), err
		}
	}
	if job.QueryVariants > 0 {
		if key, some := traps.VariantKey(t.URL); some {
			if ok, err := h.spend(ctx, job, "q"+key, job.QueryVariants); !ok {
				return crawl.ReasonVariantBudget, fmt.Sprint("query_variants ", job.QueryVariants), err
			}
		}
	}
	return "", "", nil
}

func (h *Handler) spend(ctx context.Context, job *crawl.Job, key string, limit int) (bool, error) {
	granted, err := h.deps.Budgets.Spend(ctx, job.ID, key, 1, limit)
	if err != nil {
		return false, fmt.Errorf("budget %q: %w", key, err)
	}
	return granted > 0, nil
}

// dismiss ends the story of a URL that was claimed and is over a budget: it stays claimed, so that no other link to it
// is asked again.
func (h *Handler) dismiss(ctx context.Context, job *crawl.Job, t *crawl.Task, reason, rule string) error {
	now := time.Now()
	left := crawl.LeftOut{Task: *t, Reason: reason, Rule: rule, Dismissed: true}
	entry := crawl.Entry{Key: t.URL.Key(), State: crawl.StateDone, Verdict: crawl.VerdictExcluded, Kind: t.Kind,
		Reason: reason, At: now, Epoch: t.Epoch, Left: &left}
	if err := h.deps.Ledger.Finish(ctx, job.ID, entry); err != nil {
		return fmt.Errorf("exclude %s: %w", t.URL, err)
	}
	return h.deps.Attempts.Append(ctx,
		crawl.LogLine{Job: t.Job, At: now, URL: t.URL, Kind: t.Kind, Verdict: crawl.VerdictExcluded,
			Reason: reason, Detail: rule, Depth: t.Depth, Referrer: t.Referrer, Epoch: t.Epoch, Relevance: t.Relevance})
}

// excluded sets the marks of excluded URLs apart from those of claimed ones.
const excluded = 0x9e3779b97f4a7c15

// exclude notes exclusions and writes a line for each that is new.
func (h *Handler) exclude(ctx context.Context, job *crawl.Job, d pipeline.Delivery, all []crawl.Exclusion) error {
	key := func(i int) weburl.Key { return all[i].URL.Key() }
	marks, has, known := h.cache.lookUp(len(all), key, saltOf(job)^excluded, d.Repeat)
	asked, askedMarks := make([]crawl.Exclusion, 0, len(all)-known), marks[:0]
	for i := range all {
		if !has[i] {
			asked, askedMarks = append(asked, all[i]), append(askedMarks, marks[i])
		}
	}
	if len(asked) == 0 {
		return nil
	}
	answers, err := h.deps.URLs.Exclude(ctx, job.ID, d.ID, asked)
	if err != nil {
		return fmt.Errorf("exclude %d URLs, the first %s: %w", len(asked), asked[0].URL, err)
	}
	now := time.Now()
	var lines []crawl.LogLine
	for i, a := range answers {
		h.cache.add(askedMarks[i])
		if x := asked[i]; a != crawl.Known {
			lines = append(lines, crawl.LogLine{Job: job.ID, At: now, URL: x.URL, Verdict: crawl.VerdictExcluded,
				Reason: x.Reason, Detail: x.Rule, Kind: x.Kind, Depth: x.Depth, Referrer: x.Referrer, Epoch: x.Epoch,
				Relevance: x.Relevance})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return h.deps.Attempts.Append(ctx, lines...)
}
