package tryout

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/trial"
	"github.com/whirlpool-crawler/whirlpool/pkg/stages/urlfilter"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// filter has the URL filter judge the links, and looks which of them the crawl knows.
func (r *run) filter(ctx context.Context, links *crawl.Links, d *crawl.Document) error {
	if links == nil {
		return nil
	}
	in := object{"links": len(links.Links)}
	s := r.begin(trial.StepLinks, in)
	if d != nil && d.NoFollow && !r.job.IgnoreMeta {
		s.end(trial.Skipped, in, "the page says nofollow: none of its %d links is followed", len(links.Links))
		return nil
	}
	events, err := urlfilter.New(r.jobs(), r.robots).Handle(ctx, links)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		s.end(trial.OK, in, "it has no links")
		return nil
	}
	batch, ok := events[0].(*crawl.Filtered)
	if !ok {
		return errors.New("the URL filter answered with something else")
	}
	count := r.judged(links, batch)
	if err := r.states(ctx); err != nil {
		return err
	}
	followed, out := len(batch.Tasks), object{"links": len(links.Links), "followed": len(batch.Tasks)}
	left := len(r.trial.Links) - followed
	text := fmt.Sprintf("%d are followed, %d left out", followed, left)
	if left > 0 {
		out["left_out"] = count
		text += ": " + reasons(count)
	}
	s.end(trial.OK, out, "%s", text)
	return nil
}

// judged notes what became of each link, and counts the reasons.
func (r *run) judged(links *crawl.Links, batch *crawl.Filtered) map[string]int {
	texts, count := map[weburl.URL]string{}, map[string]int{}
	for i := range links.Links {
		if l := &links.Links[i]; !l.URL.IsZero() {
			u := r.rules.Canonical(l.URL)
			if texts[u] == "" {
				texts[u] = l.Text
			}
		}
	}
	for i := range batch.Tasks {
		t := &batch.Tasks[i]
		r.trial.Links = append(r.trial.Links,
			trial.Link{URL: t.URL, Followed: true, Kind: t.Kind.String(), Depth: t.Depth, Priority: t.Priority,
				Text: texts[t.URL]})
	}
	for _, list := range []crawl.ExclusionList{batch.Exclusions, batch.Foreign} {
		for i := range list {
			x := &list[i]
			count[x.Reason]++
			r.trial.Links = append(r.trial.Links,
				trial.Link{URL: x.URL, Reason: x.Reason, Rule: x.Rule, Kind: x.Kind.String(), Depth: x.Depth,
					Text: texts[x.URL]})
		}
	}
	return count
}

// states looks which of the links that are followed the crawl knows already.
func (r *run) states(ctx context.Context) error {
	if r.opt.Stored.URLs == nil {
		return nil
	}
	var keys []weburl.Key
	for i := range r.trial.Links {
		if r.trial.Links[i].Followed {
			keys = append(keys, r.trial.Links[i].URL.Key())
		}
	}
	entries, err := r.opt.Stored.URLs.Lookup(ctx, r.job.ID, keys...)
	for i := range entries { // those that are followed come first
		r.trial.Links[i].State = stateOf(entries[i].State)
	}
	return err
}

// stateOf says what a crawl knows of a URL.
func stateOf(s crawl.State) string {
	switch s {
	case crawl.StateOpen:
		return "queued"
	case crawl.StateDone:
		return "done"
	case crawl.StateExcluded:
		return "excluded"
	}
	return "new"
}
