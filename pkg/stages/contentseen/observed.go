package contentseen

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/revisit"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// observe says what a visit found out about a page of a continuous job; nil: the job visits each URL once.
func observe(job *crawl.Job, d *crawl.Document) *crawl.Observed {
	t := &d.Page.Task
	if !job.Revisits() || t.Kind != crawl.KindPage && t.Kind != crawl.KindSitemap {
		return nil
	}
	o := &crawl.Observed{What: crawl.ObservedContent, At: d.Page.FetchedAt, Result: revisit.Seen, Sum: ChangeSum(d)}
	switch {
	case unkept(job, d) == crawl.ReasonNoIndex:
		o.Result = revisit.Forbidden
	case t.Kind == crawl.KindPage && t.IsRepeated(o.Sum) && saysNothing(d):
		o.Result = revisit.Missing
	}
	o.Near = Near(o.Sum, t.Sum)
	o.Modified, o.Date = dateOf(d.Page.LastModified, t.LastModified)
	if t.Kind == crawl.KindSitemap {
		o.Lists = len(d.Links)
	}
	return o
}

// softText is how much text, in octets, a page has that is no soft 404 in any case.
const softText = 500

// saysNothing reports whether a page is a "not found" whose status says otherwise, where many pages of its host have
// its sum: it has a few words, and nothing is in it that sums leave out. "Item 12" and "Item 13" have one sum, and
// are two pages; "Error 404" is none. A page without any text may be a picture, or be made by scripts.
func saysNothing(d *crawl.Document) bool {
	if len(d.Text) >= softText || strings.TrimSpace(d.Text) == "" {
		return false
	}
	for word := range wordsOf(d.Title + "\n" + d.Text) {
		if tellsTime(word) && word != "404" && word != "410" && !noTime[word] {
			return false
		}
	}
	return true
}

// noTime are words that tell a time, but mostly another thing where they are written so: a page that is not found may
// have been moved.
var noTime = map[string]bool{"may": true, "march": true, "second": true, "now": true, "moment": true, "moments": true,
	"am": true, "sat": true, "sun": true, "vor": true, "hace": true, "ora": true}

// missing notes in crawl.log that a page is a soft 404. Its record stays, as after a 404.
func (h *Handler) missing(ctx context.Context, d *crawl.Document) error {
	t := &d.Page.Task
	if h.st.Attempts == nil {
		return nil
	}
	return h.st.Attempts.Append(ctx, crawl.LogLine{Job: t.Job, At: d.Page.FetchedAt, URL: t.URL, Kind: t.Kind,
		Verdict: crawl.VerdictGone, Status: d.Page.Status, Reason: crawl.ReasonSoft404,
		Detail: "it says what many pages of the host say, and nothing else", Bytes: d.Page.Bytes, Attempt: t.Attempt + 1,
		Depth: t.Depth, ContentType: d.ContentType, Digest: d.Page.Digest, Referrer: t.Referrer, Epoch: t.Epoch})
}

// dateOf reads the Last-Modified of an answer and compares it with that of the visit before.
func dateOf(now, before string) (at time.Time, move crawl.DateMove) {
	at, err := http.ParseTime(now)
	switch {
	case err != nil:
		return time.Time{}, crawl.DateUnknown
	case before == "":
		return at, crawl.DateUnknown
	case before == now:
		return at, crawl.DateStayed
	}
	return at, crawl.DateMoved
}

// isSame reports whether a visit found what the one before found, so that the record may stay.
func isSame(o *crawl.Observed, t *crawl.Task) bool {
	return o != nil && t.Visit > 0 && o.Result == revisit.Seen && o.Sum == t.Sum && !t.Restore
}

// stays reports whether the record of a page stays as it is: the visit found what the one before found, and the page
// that a copy names still has the content. Where it has not, because it changed, is gone, moved or may not be kept, the
// content would be in no record.
func (h *Handler) stays(ctx context.Context, job *crawl.Job, d *crawl.Document, o *crawl.Observed) (bool, error) {
	t := &d.Page.Task
	if !isSame(o, t) || !t.Copy {
		return isSame(o, t), nil
	}
	r, verdict, err := h.recordOf(ctx, job, d)
	if err != nil || verdict.Sameness == crawl.Original {
		return false, err
	}
	var names weburl.URL
	_, err = h.st.Pages.Mark(ctx, t.Job, t.URL, t.Visit, func(old *crawl.Record) { names = old.DuplicateOf })
	return names == r.DuplicateOf, err
}

// release gives the content of a page up: another page that has it is no copy of one that is gone, moved, or may not be
// kept. The page claims what no other page can have.
func (h *Handler) release(ctx context.Context, t *crawl.Task) error {
	_, err := h.st.Content.Claim(ctx, crawl.Fingerprint{Job: t.Job, URL: t.URL,
		Digest: sha256.Sum256([]byte("nothing of " + t.URL.String()))}, -1, nil)
	return err
}

// told adds what was observed to the events that follow from a document.
func told(o *crawl.Observed, t *crawl.Task, copied bool, out []crawl.Event) []crawl.Event {
	if o == nil {
		return out
	}
	o.Copy = copied
	return append(out, crawl.Observation(t, *o))
}

// mark notes in the record of a page what was found out about it without content.
func (h *Handler) mark(ctx context.Context, d *crawl.Document) error {
	t, m := &d.Page.Task, d.Mark
	found, err := h.st.Pages.Mark(ctx, t.Job, t.URL, t.Visit, func(r *crawl.Record) {
		if !m.WithdrawnAt.IsZero() {
			withdraw(r, m.WithdrawnAt)
		}
		if !m.GoneAt.IsZero() && r.GoneAt.IsZero() {
			r.GoneAt = m.GoneAt
		}
		if m.MovedTo != nil {
			r.MovedTo = *m.MovedTo
		}
	})
	if err == nil && found {
		err = h.release(ctx, t)
	}
	if err == nil && found && !m.WithdrawnAt.IsZero() {
		err = h.forgetWords(ctx, t, m.WithdrawnAt)
	}
	if err != nil {
		return fmt.Errorf("mark the record of %s: %w", t.URL, err)
	}
	return nil
}

// forgetWords has a page that may not be kept found by no words any more.
func (h *Handler) forgetWords(ctx context.Context, t *crawl.Task, at time.Time) error {
	if h.st.Texts == nil {
		return nil
	}
	job, err := h.st.Jobs.JobAt(ctx, t.Job, t.Epoch)
	if err != nil {
		return err
	}
	r := &crawl.Record{Job: t.Job, URL: t.URL, Visit: t.Visit}
	r.Withdraw(at)
	return h.searchable(ctx, job, r)
}

// withdraw takes the content out of a record, unless that was done at an earlier visit: then its time stays.
func withdraw(r *crawl.Record, at time.Time) {
	if r.WithdrawnAt.IsZero() {
		r.Withdraw(at)
	}
}

// withdraw takes the content out of the record of a page that asks not to be kept any more.
func (h *Handler) withdraw(ctx context.Context, t *crawl.Task, at time.Time) error {
	if t.Visit == 0 {
		return nil
	}
	found, err := h.st.Pages.Mark(ctx, t.Job, t.URL, t.Visit, func(r *crawl.Record) { withdraw(r, at) })
	if err != nil || !found {
		return err
	}
	return errors.Join(h.release(ctx, t), h.forgetWords(ctx, t, at))
}

// keepVersions takes earlier versions of a page into its new record, where the job keeps them. A visit that was begun
// before the one before it was noted finds the same page again, and takes it for a change: that is no version. Neither
// is one in which only links were others: it would push out what said something else.
func (h *Handler) keepVersions(ctx context.Context, job *crawl.Job, r *crawl.Record) error {
	keep := job.Revisit.History
	if r.Visit == 0 || keep <= 0 {
		return nil
	}
	_, err := h.st.Pages.Mark(ctx, r.Job, r.URL, r.Visit-1, func(old *crawl.Record) {
		if !old.WithdrawnAt.IsZero() {
			return // there is nothing to keep of it
		}
		r.Versions = old.Versions
		if old.Digest != r.Digest && (old.Title != r.Title || old.Text != r.Text) {
			r.Versions = append([]crawl.PageVersion{old.Version()}, old.Versions...)
		}
		r.Versions = r.Versions[:min(len(r.Versions), keep)]
	})
	return err
}
