// Package urlfilter decides which links of a page are candidates for fetching.
//
// Duties, in order, for each link:
//
//  1. Bring the URL into its canonical form; each canonical URL counts once a page.
//  2. Ask the job: nofollow, scope, blacklist, exclude and include patterns, depth. A sitemap must lie where its pages
//     do, but for a few that the robots.txt of a host in the scope names elsewhere.
//  3. Ask the trap rules (package traps), and the robots.txt of the origin where that is known already. Where it is
//     not, the fetcher asks again: nothing is fetched without.
//
// Every link that is left out leaves as an exclusion with its reason. URLs that were seen before are not dropped here:
// that is the duplicate URL eliminator's duty (package due).
//
// The filter keeps nothing between pages but compiled jobs, and must never fetch anything itself.
package urlfilter

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/urlrules"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// Robots answers for the robots.txt files that are known.
type Robots interface {
	// Allowed reports what the rules of u's origin say to an agent; known is false where there are none yet.
	Allowed(ctx context.Context, job *crawl.Job, u weburl.URL) (allowed, known bool, err error)
}

// Handler is the URL filter's logic. It implements pipeline.Handler[*crawl.Links].
type Handler struct {
	robots Robots // nil: not asked
	rules  *crawl.PerRevision[*urlrules.Rules]
}

// New returns a filter.
func New(jobs crawl.Jobs, robots Robots) *Handler {
	return &Handler{robots: robots, rules: compiledBy(jobs)}
}

// compiledBy compiles the rules of jobs as they are asked for. Rules that cannot be compiled are a permanent error.
func compiledBy(jobs crawl.Jobs) *crawl.PerRevision[*urlrules.Rules] {
	return crawl.NewPerRevision(jobs, func(j *crawl.Job) (*urlrules.Rules, error) {
		r, err := urlrules.Compile(j)
		if err != nil {
			err = crawl.Permanent(fmt.Errorf("job %s: %w", j.ID, err))
		}
		return r, err
	})
}

// Handle filters the links of one page, by the revision of the job under which the page was fetched.
func (h *Handler) Handle(ctx context.Context, in *crawl.Links) ([]crawl.Event, error) {
	_, rules, err := h.rules.At(ctx, in.Task.Job, in.Task.Epoch)
	if err != nil {
		return nil, err
	}
	out := &crawl.Filtered{Batch: crawl.Batch{Job: in.Task.Job, Epoch: in.Task.Epoch, Render: in.Render,
		Tasks: make([]crawl.Task, 0, len(in.Links))}}
	seen := make(map[weburl.URL]struct{}, len(in.Links)+1)
	seen[rules.Canonical(in.Task.URL)] = struct{}{}
	now, strangers := time.Now(), 0
	for i := range in.Links {
		l := &in.Links[i]
		if l.URL.IsZero() {
			if u, ok := weburl.ParseForeign(l.Raw); ok && !has(seen, u) {
				out.Foreign = append(out.Foreign, crawl.Exclusion{URL: u, Reason: crawl.ReasonScheme, Referrer: in.Task.URL,
					Depth: in.Task.Depth + 1, Epoch: in.Task.Epoch})
			}
			continue // there is nothing to fetch
		}
		t := taskOf(rules, in, l)
		if t.Kind != crawl.KindResource && has(seen, t.URL) { // a script may ask for the page itself
			continue
		}
		reason, rule := judgeByPage(rules, in, &t, l, &strangers)
		if reason == "" {
			if reason, rule, err = h.judge(ctx, rules, &t, l, now); err != nil {
				return nil, err
			}
		}
		if reason == "" {
			out.Tasks = append(out.Tasks, t)
		} else {
			out.Exclusions = append(out.Exclusions, crawl.Exclude(&t, reason, rule))
		}
	}
	if len(out.Tasks)+len(out.Exclusions)+len(out.Foreign) == 0 {
		return nil, nil
	}
	sayOf(out, in, rules)
	return []crawl.Event{out}, nil
}

// sayOf notes whose links these are, for those who count them.
func sayOf(out *crawl.Filtered, in *crawl.Links, rules *urlrules.Rules) {
	if in.Task.Tracked {
		out.Page, out.Again = in.Task.URL, in.Task.Repeat
	}
	if rules.Job().Revisits() && in.Task.Visit > 0 && in.Render == nil && len(out.Tasks) > 0 {
		out.Of = &crawl.PageVisit{URL: in.Task.URL, Kind: in.Task.Kind, Visit: in.Task.Visit}
	}
}

// has reports whether u was seen, and notes that it is now.
func has(seen map[weburl.URL]struct{}, u weburl.URL) bool {
	_, again := seen[u]
	seen[u] = struct{}{}
	return again
}

func (h *Handler) judge(ctx context.Context, r *urlrules.Rules, t *crawl.Task, l *crawl.Link,
	now time.Time) (reason, rule string, err error) {
	if reason = judgeLink(r, l); reason != "" {
		_, rule, _ = strings.Cut(l.Drop, " ")
		return reason, rule, nil
	}
	if reason, rule = r.Judge(t, now); reason != "" {
		return reason, rule, nil
	}
	if l.Beyond > 0 { // after the rules: a link to it elsewhere would be left out by them as well
		return crawl.ReasonLinksPerPage, crawl.BeyondRule(r.Job().Limits.LinksPerPage, l.Beyond), nil
	}
	if h.robots == nil || r.Job().IgnoreRobots {
		return "", "", nil
	}
	allowed, known, err := h.robots.Allowed(ctx, r.Job(), t.URL)
	if err != nil {
		return "", "", fmt.Errorf("robots.txt for %s: %w", t.URL, err)
	}
	if known && !allowed {
		return crawl.ReasonRobots, "", nil
	}
	return "", "", nil
}
