package report

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
)

// Templates knows what the renders of a job brought.
type Templates interface {
	// Templates returns all templates of a job, ordered by host and template.
	Templates(ctx context.Context, job crawl.JobID) ([]crawl.RenderTemplate, error)
}

// Template is what is known of the renders of the pages of one template on a host.
type Template struct {
	Host    string    `json:"host"`
	ID      string    `json:"template"` // 16 hexadecimal digits
	Shape   string    `json:"shape"`    // for people: the path with its changing parts replaced
	Example string    `json:"example,omitempty"`
	State   string    `json:"state"`            // sampling, keep or stop
	Switch  string    `json:"switch,omitempty"` // what people decided: always or never; empty: the test decides
	Since   time.Time `json:"since,omitzero"`   // of State
	Sent    int64     `json:"sent"`             // pages that were sent to be rendered
	Renders int64     `json:"renders"`          // that ended
	Gained  int64     `json:"gained"`           // renders that brought links or text
	Failed  int64     `json:"failed"`           // renders that brought nothing: hang, crash, limit
	Links   int64     `json:"links"`            // URLs that no page had before
	Text    int64     `json:"text"`             // octets
	CPU     int64     `json:"cpu_ms"`
	Wall    int64     `json:"wall_ms"`
	PerLink float64   `json:"seconds_per_link,omitzero"` // of a processor; 0: there is no link
	Words   string    `json:"sentence"`                  // what the test makes of it
}

// Rendering is what renders brought to a crawl.
type Rendering struct {
	Templates []Template `json:"templates"`      // the most renders first
	More      int        `json:"more,omitempty"` // templates beyond those
	Renders   int64      `json:"renders"`
	Rendered  int64      `json:"rendered"` // renders that brought a page
	Gained    int64      `json:"gained"`
	Failed    int64      `json:"failed"`
	Pages     int64      `json:"pages"`   // all pages that were fetched
	Links     int64      `json:"links"`   // URLs that only renders brought
	Claimed   int64      `json:"claimed"` // all URLs that were to be fetched
	Text      int64      `json:"text"`
	CPU       int64      `json:"cpu_ms"`
	Wall      int64      `json:"wall_ms"`
}

// RenderingOf sums up the templates of a job, of which it lists the most used ones.
func RenderingOf(all []crawl.RenderTemplate, tally crawl.Tally, most int) *Rendering {
	r := &Rendering{Templates: make([]Template, 0, len(all)), Pages: tally.Pages, Claimed: tally.Claimed}
	for i := range all {
		t := &all[i]
		r.Templates = append(r.Templates, TemplateOf(t))
		r.Renders, r.Failed, r.Gained = r.Renders+t.Renders, r.Failed+t.Failed, r.Gained+t.Gained
		r.Links, r.Text, r.CPU, r.Wall = r.Links+t.Links, r.Text+t.Text, r.CPU+t.CPU, r.Wall+t.Wall
	}
	r.Rendered = r.Renders - r.Failed
	slices.SortStableFunc(r.Templates, func(a, b Template) int {
		return cmp.Or(cmp.Compare(b.Renders, a.Renders), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Shape, b.Shape),
			cmp.Compare(a.ID, b.ID))
	})
	if n := len(r.Templates) - most; n > 0 {
		r.Templates, r.More = r.Templates[:most], n
	}
	return r
}

// TemplateOf is a template as people see it.
func TemplateOf(t *crawl.RenderTemplate) Template {
	out := Template{Host: t.Host, ID: TemplateID(t.Template), Shape: t.Shape, Example: t.Example,
		State: cmp.Or(t.State, decide.Sampling), Switch: t.Switch, Since: t.Since, Sent: t.Sent, Renders: t.Renders,
		Gained: t.Gained, Failed: t.Failed, Links: t.Links, Text: t.Text, CPU: t.CPU, Wall: t.Wall, Words: decide.Sentence(t)}
	if t.Links > 0 {
		out.PerLink = float64(t.CPU) / 1000 / float64(t.Links)
	}
	return out
}

// TemplateID is the name of a template: its hash would lose digits where numbers are floating.
func TemplateID(template uint64) string { return fmt.Sprintf("%016x", template) }

// maxTemplates is how many templates a status tells of.
const maxTemplates = 20

// renderingOf is what the status tells of renders; nil: nothing was rendered.
func renderingOf(ctx context.Context, src Templates, job crawl.JobID, tally crawl.Tally) (*Rendering, error) {
	if src == nil {
		return nil, nil
	}
	all, err := src.Templates(ctx, job)
	if err != nil {
		return nil, err
	}
	if r := RenderingOf(all, tally, maxTemplates); r.Renders > 0 {
		return r, nil
	}
	return nil, nil
}

// writeText writes the table of templates.
func (r *Rendering) writeText(b *strings.Builder) {
	const row = "%-7s %-28s  %-28s  %-15s %8s %6s %7s %9s %7s\n"
	fmt.Fprintf(b, "\n"+row, "RENDER", "host", "template", "state", "renders", "gain", "links", "CPU", "s/link")
	for i := range r.Templates {
		t := &r.Templates[i]
		perLink := "–"
		if t.Links > 0 {
			perLink = fmt.Sprintf("%.2f", t.PerLink)
		}
		fmt.Fprintf(b, row, "", t.Host, cmp.Or(t.Shape, t.ID), t.stateText(), fmt.Sprint(t.Renders),
			percent(t.Gained, t.Renders), fmt.Sprint(t.Links), cpuText(t.CPU), perLink)
	}
	if r.More > 0 {
		fmt.Fprintf(b, "%-7s and %d more\n", "", r.More)
	}
	fmt.Fprintf(b, "%-7s %s; %s, %s of the pages; %s, %s of the URLs, found only so; %s of processors\n", "",
		plural(int(r.Renders), "render"), plural(int(r.Rendered), "page"), percent(r.Rendered, r.Pages),
		plural(int(r.Links), "link"), percent(r.Links, r.Claimed), cpuText(r.CPU))
}

// stateText is what becomes of the template's pages, and whether people decided that.
func (t *Template) stateText() string {
	if t.Switch != "" {
		return t.Switch + " (switch)"
	}
	return t.State
}

func percent(n, of int64) string {
	if of <= 0 {
		return "–"
	}
	return fmt.Sprintf("%d %%", (100*n+of/2)/of)
}

func cpuText(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }
