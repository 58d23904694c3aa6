package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	pagemarks "github.com/whirlpool-crawler/whirlpool/pkg/render/marks"
)

// Rendered is what became of a page in a browser.
type Rendered struct {
	At      time.Time `json:"time,omitzero"`
	Verdict string    `json:"verdict,omitempty"` // done or failed; empty: it was not rendered
	Reason  string    `json:"reason,omitempty"`  // of a failure, such as render-hang
	Detail  string    `json:"detail,omitempty"`
	Links   int       `json:"links_gained"` // URLs that the page as fetched had not
	Text    int       `json:"text_gained"`  // octets
	Wall    int64     `json:"wall_ms,omitempty"`
	CPU     int64     `json:"cpu_ms,omitempty"`
	Settled string    `json:"settled,omitempty"` // what told that the page had settled
	Begun   time.Time `json:"begun,omitzero"`    // when a page was chosen to be rendered whose render has not ended
	// Templates are those of its host that have its shape: which of them it is depends on its scripts.
	Templates []Template `json:"templates"`
	Words     string     `json:"text"` // all of it for people
}

// sorted keeps the lines that tell what became of the URL apart from those of renders.
func (e *Explanation) sorted(lines []crawl.LogLine) {
	for i := range lines {
		switch l := lines[i]; l.Kind {
		case crawl.KindRender:
			e.render = &l
		case crawl.KindResource:
			e.resource = &l
		default:
			e.lines = append(e.lines, l)
		}
	}
}

// explainRendered tells what became of the page in a browser: nothing, where that was never looked at.
func (s *story) explainRendered(ctx context.Context, e *Explanation) error {
	var all []crawl.RenderTemplate
	if s.templates != nil {
		var err error
		if all, err = s.templates.Templates(ctx, s.job.ID); err != nil {
			return err
		}
	}
	r := &Rendered{Templates: []Template{}}
	host, shape := e.URL.HostKey(), pagemarks.Shape(e.URL)
	for i := range all {
		if t := &all[i]; t.Host == host && t.Shape == shape {
			r.Templates = append(r.Templates, TemplateOf(t))
		}
	}
	page := e.Kind == "" && e.Ledger.Verdict == crawl.VerdictDone.String() && e.Ledger.Status/100 == 2
	if e.render == nil && e.part() == nil && (!page || len(r.Templates) == 0 && !s.job.Render.Wanted()) {
		return nil
	}
	r.take(e)
	if r.Verdict == "" {
		r.Begun = s.renderBegun(e, all)
	}
	r.Words = r.sentence()
	e.Rendered = r
	return nil
}

// renderBegun is when the page was chosen to be rendered; zero: it was not.
func (s *story) renderBegun(e *Explanation, all []crawl.RenderTemplate) time.Time {
	task := crawl.Task{Job: s.job.ID, URL: e.URL}
	if e.record != nil {
		task.Visit = e.record.Visit
	}
	by := crawl.RenderKey(&task)
	for i := range all {
		for _, a := range all[i].Asked {
			if a.By == by {
				return a.At
			}
		}
	}
	return time.Time{}
}

// part is what the page's record says of its render.
func (e *Explanation) part() *crawl.RenderedPart {
	if e.record == nil {
		return nil
	}
	return e.record.Rendered
}

// take notes how the last render ended. The log may be ahead of the record, whose part is of a render that was done.
func (r *Rendered) take(e *Explanation) {
	p, l := e.part(), e.render
	if l != nil && (p == nil || l.At.After(p.At)) {
		r.At, r.Verdict, r.Reason, r.Detail, r.Wall = l.At, l.Verdict.String(), l.Reason, l.Detail, l.Duration.Milliseconds()
	}
	if p != nil && r.Verdict != crawl.VerdictFailed.String() {
		r.At, r.Verdict, r.Links, r.Text, r.Settled = p.At, crawl.VerdictDone.String(), p.Links, p.Text, p.Settled
		r.Wall, r.CPU = p.Wall.Milliseconds(), p.CPU.Milliseconds()
		if l != nil && l.Verdict == crawl.VerdictDone {
			r.Detail = l.Detail
		}
	}
}

// sentence says it for people.
func (r *Rendered) sentence() string {
	var text string
	switch {
	case r.Verdict == crawl.VerdictFailed.String():
		text = fmt.Sprintf("rendering failed [%s]", r.Reason)
		if r.Detail != "" {
			text += ": " + r.Detail
		}
	case r.Verdict == "" && !r.Begun.IsZero():
		text = "is to be rendered, since " + r.Begun.UTC().Format(time.DateTime) +
			": what its scripts ask for is fetched first, as its host allows"
	case r.Verdict == "" && len(r.Templates) == 0:
		return "not rendered: nothing on the page says that scripts would bring more"
	case r.Verdict == "":
		text = "not rendered: "
		for i := range r.Templates {
			if i > 0 {
				text += "; or "
			}
			text += r.Templates[i].Words
		}
		return text
	case r.Settled == "" && r.Detail != "": // it has no record that tells more
		text = "rendered: " + r.Detail
	default:
		text = "rendered: " + r.gainText() + fmt.Sprintf(" in %.1f s", float64(r.Wall)/1000)
	}
	for i := range r.Templates {
		text += "; " + strings.TrimSpace(r.Templates[i].Words)
	}
	return text
}

func (r *Rendered) gainText() string {
	switch {
	case r.Links == 0 && r.Text == 0:
		return "nothing more"
	case r.Links == 0:
		return bytesText(int64(r.Text)) + " of text more"
	case r.Text == 0:
		return plural(r.Links, "link") + " more"
	}
	return fmt.Sprintf("%s and %s of text more", plural(r.Links, "link"), bytesText(int64(r.Text)))
}
