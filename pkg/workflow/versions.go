package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// version is a version without its number.
func (m *Manager) version(id ID, author, source string, d *definition) *Version {
	return &Version{Workflow: id, Source: source, Definition: d.canonical, SHA256: d.sha256, Author: author,
		Created: m.now()}
}

// Versions implements Service.
func (m *Manager) Versions(ctx context.Context, id string, p Page) (*List[Version], error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, err
	}
	return m.store.Versions(ctx, w.ID, bounded(p))
}

// Version implements Service. Number 0 is the current one.
func (m *Manager) Version(ctx context.Context, id string, number int) (*Version, error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = w.Current
	}
	return m.store.Version(ctx, w.ID, number)
}

// AddVersion implements Service. Parent 0 is whatever is current.
func (m *Manager) AddVersion(ctx context.Context, actor, id, source, message string, parent int) (*Version, error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, err
	}
	if parent == 0 {
		parent = w.Current
	}
	if parent != w.Current {
		return nil, notCurrent(parent, w.Current)
	}
	now, err := m.store.Version(ctx, w.ID, w.Current)
	if err != nil {
		return nil, err
	}
	d, err := m.read(source, now)
	if err == nil {
		err = checkTexts("", nil, message)
	}
	if err != nil {
		return nil, err
	}
	if now.Source == source { // another text with the same meaning is kept: its comments are somebody's work
		return now, nil
	}
	if err := m.permit(ctx, d.job, now); err != nil {
		return nil, err
	}
	v := m.version(w.ID, actor, source, d)
	v.Message, v.Parent = message, parent
	return m.addVersion(ctx, v, w.Current, "workflow.version_added")
}

func (m *Manager) addVersion(ctx context.Context, v *Version, current int, kind string) (*Version, error) {
	err := m.store.AddVersion(ctx, v, current, m.event(v.Author, kind,
		map[string]any{"version": current + 1, "parent": v.Parent, "message": v.Message}))
	if errors.Is(err, ErrStale) {
		return nil, notCurrent(current, current+1)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func notCurrent(parent, current int) error {
	return fmt.Errorf("%w: version %d is not the current one any more, which is %d or later: look at what it changed, "+
		"and save again",
		ErrConflict, parent, current)
}

// Restore implements Service: the content of an old version becomes the next one.
func (m *Manager) Restore(ctx context.Context, actor, id string, number int, message string) (*Version, error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, err
	}
	old, err := m.store.Version(ctx, w.ID, number)
	if err != nil || number == w.Current {
		return old, err
	}
	d, err := m.read(old.Source, old) // a later program may judge otherwise
	if err == nil {
		err = checkTexts("", nil, message)
	}
	var now *Version
	if err == nil {
		now, err = m.store.Version(ctx, w.ID, w.Current)
	}
	if err == nil {
		err = m.permit(ctx, d.job, now)
	}
	if err != nil {
		return nil, err
	}
	v := m.version(w.ID, actor, old.Source, d)
	v.Message, v.Parent = message, number
	return m.addVersion(ctx, v, w.Current, "workflow.version_restored")
}

// Diff implements Service.
func (m *Manager) Diff(ctx context.Context, id string, from, to int) ([]crawl.Change, error) {
	w, err := m.store.Workflow(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := m.job(ctx, w.ID, from)
	if err != nil {
		return nil, err
	}
	b, err := m.job(ctx, w.ID, to)
	if err != nil {
		return nil, err
	}
	return crawl.Changes(a, b), nil
}

// job is the definition of a version.
func (m *Manager) job(ctx context.Context, id ID, number int) (*crawl.Job, error) {
	v, err := m.store.Version(ctx, id, number)
	if err != nil {
		return nil, err
	}
	return crawl.DecodeJob(v.Definition, 0)
}
