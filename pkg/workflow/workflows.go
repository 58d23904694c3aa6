package workflow

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Bounds of texts that people give.
const (
	maxName   = 200
	maxLabels = 32
	maxLabel  = 100
	maxText   = 10_000 // notes, messages, reasons
)

// Workflows implements Service.
func (m *Manager) Workflows(ctx context.Context, f Filter, p Page) (*List[Workflow], error) {
	return m.store.Workflows(ctx, f, bounded(p))
}

// Workflow implements Service.
func (m *Manager) Workflow(ctx context.Context, id string) (*Workflow, error) {
	return m.store.Workflow(ctx, id)
}

// bounded is a page with a limit that is one.
func bounded(p Page) Page {
	if p.Limit <= 0 {
		p.Limit = 50
	}
	p.Limit = min(p.Limit, 200)
	return p
}

// Create implements Service.
func (m *Manager) Create(ctx context.Context, actor string, n New) (*Workflow, error) {
	d, err := m.read(n.Source, nil)
	if err == nil {
		err = checkTexts(n.Name, n.Labels, n.Message)
	}
	if err == nil {
		err = m.permit(ctx, d.job, nil)
	}
	if err != nil {
		return nil, err
	}
	n.Name = strings.TrimSpace(n.Name)
	w := &Workflow{ID: newID(m.now()), Slug: n.Slug, Name: n.Name, Labels: labelsOf(n.Labels), Current: 1,
		Created: m.now(), Lock: 1}
	base := firstText(slugOf(n.Name), slugOf(string(d.job.ID)), slugOf(hostOfFirst(d.job)), "workflow")
	w.Name = firstText(w.Name, string(d.job.ID), hostOfFirst(d.job), base)
	if w.Slug != "" && !slugRule.MatchString(w.Slug) {
		return nil, &Invalid{[]Fault{{Key: "slug", Message: fmt.Sprintf(
			"slug %q: want 1 to 48 of a-z, 0-9 and -, with - neither first nor last", w.Slug)}}}
	}
	if n.Dry {
		return w, nil
	}
	if w.Slug != "" {
		return w, m.create(ctx, actor, w, d, n)
	}
	for i := 1; ; i++ { // a slug that was made gives way to those there are
		if w.Slug = base; i > 1 {
			tail := fmt.Sprintf("-%d", i)
			w.Slug = strings.TrimRight(base[:min(len(base), maxSlug-len(tail))], "-") + tail
		}
		if err := m.create(ctx, actor, w, d, n); !errors.Is(err, ErrTaken) || i > 10_000 {
			return w, err
		}
	}
}

// labelsOf is a copy of labels: an object where there are none as well.
func labelsOf(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return maps.Clone(labels)
}

func (m *Manager) create(ctx context.Context, actor string, w *Workflow, d *definition, n New) error {
	v := m.version(w.ID, actor, n.Source, d)
	v.Number, v.Message = 1, n.Message
	return m.store.CreateWorkflow(ctx, w, v, m.event(actor, "workflow.created",
		map[string]any{"slug": w.Slug, "name": w.Name, "version": 1}))
}

func hostOfFirst(job *crawl.Job) string {
	if len(job.Seeds) > 0 {
		return hostOf(job.Seeds[0])
	}
	return firstText(job.Pipeline.Providers()...)
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// checkTexts bounds what people give.
func checkTexts(name string, labels map[string]string, text string) error {
	var faults []Fault
	bad := func(cond bool, key, format string, args ...any) {
		if cond {
			faults = append(faults, Fault{Key: key, Message: fmt.Sprintf(format, args...)})
		}
	}
	name = strings.TrimSpace(name)
	n := utf8.RuneCountInString(name)
	bad(n > maxName, "name", "the name has %d characters: want at most %d", n, maxName)
	bad(strings.ContainsFunc(name, unicode.IsControl), "name",
		"name %.40q: want one line, without control characters", name)
	bad(len(labels) > maxLabels, "labels", "there are %d labels: want at most %d", len(labels), maxLabels)
	for k, v := range labels {
		bad(k == "" || len(k) > maxLabel || len(v) > maxLabel || strings.Contains(k, "="), "labels",
			"label %.40q: want a key without =, and at most %d bytes in key and value", k, maxLabel)
		bad(strings.ContainsFunc(k+v, unicode.IsControl), "labels",
			"label %.40q=%.40q: want one line, without control characters", k, v)
	}
	bad(len(text) > maxText, "message", "the text has %d bytes: want at most %d", len(text), maxText)
	if len(faults) > 0 {
		return &Invalid{faults}
	}
	return nil
}

// Update implements Service.
func (m *Manager) Update(ctx context.Context, actor, id string, lock int64, c Changed) (*Workflow, error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, err
	}
	if lock != 0 && lock != w.Lock {
		return nil, ErrStale
	}
	kind := "workflow.updated"
	if c.Name != nil {
		w.Name = firstText(strings.TrimSpace(*c.Name), w.Slug)
	}
	if c.Labels != nil {
		w.Labels = maps.Clone(c.Labels)
	}
	if c.Archived != nil && *c.Archived == w.Archived.IsZero() {
		if kind, w.Archived = "workflow.unarchived", (time.Time{}); *c.Archived {
			kind, w.Archived = "workflow.archived", m.now()
		}
	}
	if err := checkTexts(w.Name, w.Labels, ""); err != nil {
		return nil, err
	}
	return w, m.store.UpdateWorkflow(ctx, w, m.event(actor, kind, map[string]any{"name": w.Name, "labels": w.Labels}))
}
