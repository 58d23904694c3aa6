package contentseen

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/decide"
	"github.com/whirlpool-crawler/whirlpool/pkg/render/marks"
)

// RenderQueue is the way to the renderers.
type RenderQueue interface {
	// Room says why no page is sent to the renderers now: there are none, or, with full set, enough pages wait. Empty:
	// there is room.
	Room(ctx context.Context) (refused string, full bool, err error)
}

// wishes are what is known of which pages are to be rendered.
type wishes struct {
	mu    sync.Mutex
	rules map[*crawl.Job][]renderRule
	seen  map[templateKey]seenTemplate
	hosts map[hostKey]map[uint64]bool
}

type hostKey struct {
	job  crawl.JobID
	host string
}

type templateKey struct {
	hostKey
	template uint64
}

// seenTemplate is a template as it was stored a moment ago.
type seenTemplate struct {
	state, pinned string
	since         time.Time
	sent          int64
	gained, ended int64 // renders
	at            time.Time
}

type renderRule struct {
	host  string
	match *regexp.Regexp // nil: all
	mode  crawl.RenderMode
}

const (
	// seenFor is how long a template's state is believed.
	seenFor = 2 * time.Second
	// maxSeen bounds the templates and hosts that are remembered.
	maxSeen = 10_000
	// maxTemplates is how many templates of a host are told apart; all others are one.
	maxTemplates = 64
	// otherTemplates is the name of all others.
	otherTemplates = 1
)

// withRender adds to the links of a page that the page is to be rendered, where it is. Its links are complete then when
// the render's are.
func (h *Handler) withRender(ctx context.Context, job *crawl.Job, d *crawl.Document,
	out []crawl.Event) ([]crawl.Event, error) {
	r, err := h.wish(ctx, job, d)
	if err != nil {
		return nil, fmt.Errorf("render of %s: %w", d.Page.Task.URL, err)
	}
	if r == nil {
		return out, nil
	}
	for _, e := range out {
		if l, ok := e.(*crawl.Links); ok {
			l.Task.Tracked = false
		}
	}
	return append(out, r), nil
}

// wish makes the event that has a page rendered; nil: it is not.
func (h *Handler) wish(ctx context.Context, job *crawl.Job, d *crawl.Document) (*crawl.Render, error) {
	if d.Candidate == nil || h.st.Queue == nil || h.st.Renders == nil || h.st.Bodies == nil {
		return nil, nil
	}
	c := *d.Candidate
	c.Template = h.wishes.template(job.ID, d.Page.Key(), c.Template)
	why, err := h.why(ctx, job, d, &c)
	if err != nil || why == "" {
		return nil, err
	}
	if refused, full, err := h.st.Queue.Room(ctx); err != nil || refused != "" {
		if full && err == nil {
			err = h.leftOut(ctx, d, refused)
		}
		return nil, err
	}
	html, err := h.packed(ctx, d)
	if err != nil || html == nil {
		return nil, err
	}
	r := &crawl.Render{Page: d.Page, HTML: html, Template: c.Template, Shape: c.Shape, Why: why, Charset: d.Charset}
	r.Page.Body = ""
	r.Before.Text = len(d.Text)
	for i := range d.Links {
		r.Before.Links = append(r.Before.Links, linkHash(&d.Links[i]))
	}
	return r, nil
}

// leftOut notes in crawl.log that a page stays as it was fetched, for want of room in the queue of renders. It does not
// wait for room: what was rendered passes through here too.
func (h *Handler) leftOut(ctx context.Context, d *crawl.Document, why string) error {
	if h.st.Attempts == nil {
		return nil
	}
	t := &d.Page.Task
	return h.st.Attempts.Append(ctx,
		crawl.LogLine{Job: t.Job, At: time.Now(), URL: t.URL, Kind: crawl.KindRender, Verdict: crawl.VerdictFailed,
			Reason: "render-full", Attempt: 1, Detail: why, Depth: t.Depth, Referrer: t.Referrer, Epoch: t.Epoch})
}

func linkHash(l *crawl.Link) uint64 { return xxh3.HashString(l.URL.String()) }

// packed reads the page's body, compressed; nil: it was released, so that the page was handled before.
func (h *Handler) packed(ctx context.Context, d *crawl.Document) ([]byte, error) {
	body, err := h.st.Bodies.Open(ctx, d.Page.Body)
	if errors.Is(err, crawl.ErrNoBody) || errors.Is(err, crawl.ErrBodyLost) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(w, io.LimitReader(body, crawl.MaxRendered))
	if err = errors.Join(err, w.Close(), body.Close()); errors.Is(err, crawl.ErrBodyLost) {
		return nil, nil
	}
	return out.Bytes(), err
}

// why says why a page may be rendered; empty: it is not. The renderer asks the test of its template.
func (h *Handler) why(ctx context.Context, job *crawl.Job, d *crawl.Document, c *crawl.Candidate) (string, error) {
	mode := h.wishes.mode(job, d)
	if mode == crawl.RenderNever {
		return "", nil
	}
	t, err := h.seen(ctx, job.ID, d.Page.Key(), c.Template)
	if err != nil {
		return "", err
	}
	key := crawl.RenderKey(&d.Page.Task)
	switch {
	case t.pinned == string(crawl.RenderNever):
		return "", nil
	case mode == crawl.RenderAlways || t.pinned == string(crawl.RenderAlways):
		return crawl.WhyAlways, nil
	case c.Score < marks.Enough && t.gained == 0:
		return t.sample(c, key), nil
	case t.state == decide.Stop && decide.GivenUp(t.since, key, time.Now()):
		return "", nil
	}
	return crawl.WhyCandidate, nil
}

// sample says whether a page with few marks is tried, where no page of its template has gained.
func (t *seenTemplate) sample(c *crawl.Candidate, key uint64) string {
	switch {
	case slices.Contains(c.Marks, marks.OwnScript) && t.ended < decide.Weak && t.state != decide.Stop:
		return crawl.WhyWeak // the renderer has all but the first wait for what these bring
	case len(c.Marks) > 0 && t.sent < decide.Samples && key%decide.SampleOne == 0:
		return crawl.WhySample
	}
	return ""
}

// seen returns what is known of a template.
func (h *Handler) seen(ctx context.Context, job crawl.JobID, host string, template uint64) (seenTemplate, error) {
	k := templateKey{hostKey{job, host}, template}
	w := &h.wishes
	w.mu.Lock()
	t, ok := w.seen[k]
	w.mu.Unlock()
	if ok && time.Since(t.at) < seenFor {
		return t, nil
	}
	stored, _, err := h.st.Renders.Template(ctx, job, host, template)
	if err != nil {
		return t, err
	}
	t = seenTemplate{state: stored.State, pinned: stored.Switch, since: stored.Since, sent: stored.Sent,
		gained: stored.Gained, ended: stored.Renders, at: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil || len(w.seen) >= maxSeen {
		w.seen = map[templateKey]seenTemplate{}
	}
	w.seen[k] = t
	return t, nil
}

// template returns the name of a page's template, of which a host has not endlessly many.
func (w *wishes) template(job crawl.JobID, host string, template uint64) uint64 {
	k := hostKey{job, host}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hosts == nil || len(w.hosts) >= maxSeen {
		w.hosts = map[hostKey]map[uint64]bool{}
	}
	known := w.hosts[k]
	switch {
	case known[template]:
	case len(known) >= maxTemplates:
		return otherTemplates
	case known == nil:
		w.hosts[k] = map[uint64]bool{template: true}
	default:
		known[template] = true
	}
	return template
}

// mode is that of the first rule that a page matches, or the job's.
func (w *wishes) mode(job *crawl.Job, d *crawl.Document) crawl.RenderMode {
	u := d.Page.Task.URL
	for _, r := range w.rulesOf(job) {
		if ok, _ := path.Match(r.host, u.Hostname()); r.host != "" && !ok {
			continue
		}
		if r.match == nil || r.match.MatchString(u.RequestURI()) {
			return r.mode
		}
	}
	return job.Render.Filled().Mode
}

// rulesOf compiles the rules of a job. Patterns that cannot be compiled were refused with the job.
func (w *wishes) rulesOf(job *crawl.Job) []renderRule {
	if len(job.Render.Rules) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if rules, ok := w.rules[job]; ok {
		return rules
	}
	if w.rules == nil || len(w.rules) >= 256 {
		w.rules = map[*crawl.Job][]renderRule{}
	}
	var rules []renderRule
	for _, r := range job.Render.Rules {
		rule := renderRule{host: r.Host, mode: r.Mode}
		if re, err := regexp.Compile(r.Match); err == nil && r.Match != "" {
			rule.match = re
		}
		rules = append(rules, rule)
	}
	w.rules[job] = rules
	return rules
}
