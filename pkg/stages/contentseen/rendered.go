package contentseen

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/pipeline"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
)

// rendered deals with a page that was rendered: its record is amended, and links that it had not before go on.
func (h *Handler) rendered(ctx context.Context, job *crawl.Job, d *crawl.Document) ([]crawl.Event, error) {
	p := &d.Page
	if p.Status == crawl.ShellStatus && isMissing(d) {
		d.Unkept, d.Links, d.Beyond = crawl.ReasonMissing, ledOn(d), crawl.Beyond{}
	}
	fresh := linksGained(d.Links, p.Rendered.Before.Links)
	part := &crawl.RenderedPart{Digest: p.Rendered.Digest, At: p.Rendered.At, Wall: p.Rendered.Wall, CPU: p.Rendered.CPU,
		Settled: p.Rendered.Settled, Final: p.Rendered.Final, Links: len(fresh),
		Text: max(len(d.Text)-p.Rendered.Before.Text, 0), Screenshot: p.Rendered.Screenshot}
	if amend := h.amending(job, d); amend != nil {
		if err := amend(ctx, job, d, part); err != nil {
			return nil, fmt.Errorf("rendered content of %s: %w", p.Task.URL, err)
		}
	}
	if err := h.count(ctx, job, d, part); err != nil {
		return nil, fmt.Errorf("render of %s: %w", p.Task.URL, err)
	}
	follow := fresh
	if p.Task.Tracked { // what was lost of the others is claimed again
		follow = d.Links
	}
	if follow = withBeyond(d, follow); len(follow) == 0 {
		return nil, nil
	}
	mark := &crawl.RenderMark{Host: p.Key(), Template: p.Rendered.Template, By: crawl.RenderKey(&p.Task)}
	return []crawl.Event{&crawl.Links{Task: p.Task, Links: marked(job, d, follow), Render: mark, Relevance: d.Relevance}},
		nil
}

// amending is what the render does to the page's record; nil: nothing.
func (h *Handler) amending(job *crawl.Job, d *crawl.Document) func(context.Context, *crawl.Job, *crawl.Document,
	*crawl.RenderedPart) error {
	reason, lost := unkept(job, d), decide.TextLost(d.Page.Rendered.Before.Text, len(d.Text))
	switch {
	case d.Page.Task.Kind != crawl.KindPage:
		return nil
	case reason != "" && d.Page.Status == crawl.ShellStatus: // there is no record
		return nil
	case reason == crawl.ReasonNoIndex && !lost:
		return h.empty
	case reason != "": // noindex of a page that lost its text may be of an error that the render ran into
		return nil
	case d.Page.Status == crawl.ShellStatus:
		return h.adopt
	case lost:
		return h.addLinks
	}
	return h.amend
}

// linksGained are the links that are not among those of before.
func linksGained(links []crawl.Link, before []uint64) (fresh []crawl.Link) {
	known := make(map[uint64]bool, len(before))
	for _, k := range before {
		known[k] = true
	}
	for i := range links {
		if k := linkHash(&links[i]); !known[k] {
			known[k] = true
			fresh = append(fresh, links[i])
		}
	}
	return fresh
}

// amend puts what the render brought into the page's record. A page without a record stays without: it was not to be
// stored, or was taken back and will be rendered again.
func (h *Handler) amend(ctx context.Context, job *crawl.Job, d *crawl.Document, part *crawl.RenderedPart) error {
	p := &d.Page
	fetched := p.Digest
	p.Digest = p.Rendered.Digest // what tells copies apart is what people would see
	r, _, err := h.recordOf(ctx, job, d)
	p.Digest = fetched
	if err != nil {
		return err
	}
	if ok, err := h.askPlugins(ctx, job, d, r); err != nil || !ok {
		return err
	}
	var whole *crawl.Record // as it is now; nil: there is none, or nothing has changed
	_, err = h.st.Pages.Amend(ctx, job.ID, p.Task.URL, p.Task.Visit, func(old *crawl.Record) {
		was := *old
		whole = nil
		*old = *r
		// What tells of the page as it was fetched stays.
		old.Status, old.FetchedAt, old.Depth, old.Referrer, old.Epoch = was.Status, was.FetchedAt, was.Depth, was.Referrer,
			was.Epoch
		old.ContentType, old.Charset, old.Bytes, old.Digest, old.Truncated = was.ContentType, was.Charset, was.Bytes,
			was.Digest, was.Truncated
		old.Insecure, old.Job, old.FinalURL = was.Insecure, was.Job, was.FinalURL
		if part.Links == 0 && isAlike(&was, r) { // the page stays what it was
			*old = was
		} else {
			now := *old
			now.Job, now.URL, now.Visit = job.ID, p.Task.URL, p.Task.Visit
			whole = &now
		}
		old.Rendered = part
	})
	if err != nil {
		return fmt.Errorf("amend its record: %w", err)
	}
	if whole != nil {
		return h.searchable(ctx, job, whole)
	}
	return nil
}

// isAlike reports whether the rendered page reads as the fetched one does. That it has no more text is not enough: a
// price, or a title, may have taken the place of a word that stood for it.
func isAlike(fetched, rendered *crawl.Record) bool {
	return fetched.Text == rendered.Text && fetched.Title == rendered.Title && fetched.Lang == rendered.Lang &&
		fetched.Canonical == rendered.Canonical && fetched.Structured == rendered.Structured &&
		fetched.Author == rendered.Author && slices.EqualFunc(fetched.Fields, rendered.Fields, isOne)
}

// isOne compares a field that was stored with one that was not: what it was read into may be of another type.
func isOne(a, b crawl.Field) bool {
	was, err := json.Marshal(a)
	now, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(was, now)
}

// addLinks puts only the links that the render brought into the page's record, where scripts took text away, such as
// those that ask for money or against blockers: a render adds to a page. A copy's record has no links.
func (h *Handler) addLinks(ctx context.Context, job *crawl.Job, d *crawl.Document, part *crawl.RenderedPart) error {
	p := &d.Page
	_, err := h.st.Pages.Amend(ctx, job.ID, p.Task.URL, p.Task.Visit, func(old *crawl.Record) {
		old.Rendered = part
		if !old.DuplicateOf.IsZero() {
			return
		}
		known := make([]uint64, 0, len(old.Links))
		for i := range old.Links {
			known = append(known, linkHash(&old.Links[i]))
		}
		old.Links = append(slices.Clip(old.Links), linksGained(d.Links, known)...)
	})
	if err != nil {
		return fmt.Errorf("add the links to its record: %w", err)
	}
	return nil
}

// empty takes the content out of the record of a page whose scripts say that it may not be kept, as applications do for
// addresses that they do not have.
func (h *Handler) empty(ctx context.Context, _ *crawl.Job, d *crawl.Document, part *crawl.RenderedPart) error {
	t := &d.Page.Task
	found, err := h.st.Pages.Amend(ctx, t.Job, t.URL, t.Visit, func(old *crawl.Record) {
		withdraw(old, part.At)
		old.Rendered = part
	})
	if err != nil || !found {
		return err
	}
	return errors.Join(h.release(ctx, t), h.forgetWords(ctx, t, part.At))
}

// textTold says in crawl.log how a render changed the text, given the octets before and after.
func textTold(before, after int) string {
	if decide.TextLost(before, after) {
		return fmt.Sprintf("text %+d B, so that the page's own is kept", after-before)
	}
	return fmt.Sprintf("text %+d B", after-before)
}

// count tells the test of the page's template, and crawl.log, what the render brought.
func (h *Handler) count(ctx context.Context, job *crawl.Job, d *crawl.Document, part *crawl.RenderedPart) error {
	p := &d.Page
	text := decide.TextGained(p.Rendered.Before.Text, len(p.Rendered.Before.Links), len(d.Text))
	changed := false
	if h.st.Renders != nil {
		e := decide.Ended{By: crawl.RenderKey(&p.Task), Gained: text > 0, Text: text, CPU: p.Rendered.CPU,
			Wall: p.Rendered.Wall}
		worth := job.Render.Filled().Worth.D()
		_, err := h.st.Renders.ChangeTemplate(ctx, job.ID, p.Key(), p.Rendered.Template, func(t *crawl.RenderTemplate) bool {
			changed = decide.Add(t, e, worth, time.Now())
			return changed
		})
		if err != nil {
			return err
		}
	}
	if h.st.Attempts == nil || !changed && !pipeline.DeliveryOf(ctx).Repeat {
		return nil
	}
	told := textTold(p.Rendered.Before.Text, len(d.Text))
	switch reason := unkept(job, d); {
	case reason == "":
	case p.Status == crawl.ShellStatus:
		told = reason + ", so that the page has no record"
	case reason == crawl.ReasonNoIndex && !decide.TextLost(p.Rendered.Before.Text, len(d.Text)):
		told = reason + ", so that the page's record has no content"
	default:
		told = reason + ", so that the page's record stays as it was fetched"
	}
	detail := fmt.Sprintf("links +%d, %s, %d requests, %d missing, %d refused, settled by %s", part.Links,
		told, p.Rendered.Requests, p.Rendered.Missing, p.Rendered.Refused,
		p.Rendered.Settled)
	return h.st.Attempts.Append(ctx,
		crawl.LogLine{Job: job.ID, At: p.Rendered.At, URL: p.Task.URL, Kind: crawl.KindRender, Verdict: crawl.VerdictDone,
			Detail: detail, Duration: p.Rendered.Wall, Bytes: p.Bytes, Attempt: 1, Depth: p.Task.Depth,
			ContentType: d.ContentType, Digest: p.Rendered.Digest, Referrer: p.Task.Referrer, Epoch: p.Task.Epoch})
}
