package workflow

import (
	"context"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// EventRenderSwitched says that people decided what becomes of the pages of a template.
const EventRenderSwitched = "execution.render_switched"

// RenderSwitchEvent is its data.
type RenderSwitchEvent struct {
	Host     string `json:"host"`
	Template string `json:"template"`
	Shape    string `json:"shape"` // of the template, for people
	From     string `json:"from"`  // always, never or auto
	To       string `json:"to"`
}

// RenderSwitched notes who switched a template.
func (m *Manager) RenderSwitched(ctx context.Context, actor string, id crawl.JobID, r RenderSwitchEvent) error {
	e := m.event(actor, EventRenderSwitched, r)
	e.Execution = id
	return m.store.AddEvent(ctx, e)
}
