package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

// Scheduling is what the API, the command line and the studio use of schedules. A lock of 0 matches any.
type Scheduling interface {
	// Schedules are those of a workflow (id or slug), the newest first; empty: of all workflows.
	Schedules(ctx context.Context, of string, p Page) (*List[Schedule], error)
	Schedule(ctx context.Context, id ScheduleID) (*Schedule, error)
	// AddSchedule makes a schedule of a workflow. Where name is empty, one is made.
	AddSchedule(ctx context.Context, actor, of, name string, r ScheduleRule) (*Schedule, error)
	// ChangeSchedule gives a schedule another rule. What waits still begins.
	ChangeSchedule(ctx context.Context, actor string, id ScheduleID, lock int64, r ScheduleRule) (*Schedule, error)
	// PauseSchedule lets nothing begin any more, also what waits; ResumeSchedule goes on with the next slot from now.
	PauseSchedule(ctx context.Context, actor string, id ScheduleID, reason string) (*Schedule, error)
	ResumeSchedule(ctx context.Context, actor string, id ScheduleID) (*Schedule, error)
	RemoveSchedule(ctx context.Context, actor string, id ScheduleID, lock int64) error
	Slots(ctx context.Context, f SlotFilter, p Page) (*List[Slot], error) // the latest first
	// Forecast says in words what a rule is, and its next slots. A rule with a fault is an *Invalid.
	Forecast(r ScheduleRule, slots int) (*Forecast, error)
	// Upcoming are the next slots of a schedule, the planned one first; none while it is paused.
	Upcoming(ctx context.Context, id ScheduleID, slots int) ([]Slot, error)
}

var _ Scheduling = (*Manager)(nil)

// maxSchedules bounds how many schedules a workflow has.
const maxSchedules = 100

// Forecast is what a rule would do.
type Forecast struct {
	Words string `json:"words"`
	Slots []Slot `json:"slots"`
}

// table reads the timetable of a schedule.
func (s *Schedule) table() (*timetable.Table, error) {
	return timetable.Parse(s.Rule.Spec, s.Created, string(s.ID))
}

// slot is a slot of the schedule.
func (s *Schedule) slot(t timetable.Slot) Slot {
	return Slot{Schedule: s.ID, Workflow: s.Workflow, Name: s.Name, Label: t.Label, At: t.At, Due: t.Due,
		State: SlotPlanned}
}

// planAfter sets the planned slot: the first after an instant that was not decided on.
func (s *Schedule) planAfter(t *timetable.Table, after time.Time) {
	if s.Mark.After(after) {
		after = s.Mark
	}
	s.Next = nil
	if next, found := t.Next(after); found {
		slot := s.slot(next)
		s.Next = &slot
	}
}

// checked reads the rule of a schedule. Its error is an *Invalid.
func (s *Schedule) checked() (*timetable.Table, error) {
	t, err := s.table()
	var f *timetable.KeyError
	if errors.As(err, &f) {
		return nil, &Invalid{[]Fault{{Key: f.Key, Message: f.Error()}}}
	}
	r := &s.Rule
	if !one(r.Overlap, "", OverlapSkip, OverlapQueue, OverlapReplace, OverlapAllow) {
		return nil, invalid("overlap", "overlap %q: want skip, queue, replace or allow", r.Overlap)
	}
	if !one(r.CatchUp, "", CatchUpNone, CatchUpLast, CatchUpAll) {
		return nil, invalid("catch_up", "catch_up %q: want none, last or all", r.CatchUp)
	}
	if r.CatchUpMax < 0 || r.CatchUpMax > 100 {
		return nil, invalid("catch_up_max", "catch_up_max %d: want 1 to 100", r.CatchUpMax)
	}
	return t, err
}

func one[T comparable](v T, of ...T) bool {
	for _, o := range of {
		if v == o {
			return true
		}
	}
	return false
}

func invalid(key, format string, args ...any) *Invalid {
	return &Invalid{[]Fault{{Key: key, Message: fmt.Sprintf(format, args...)}}}
}

// Schedules implements Scheduling.
func (m *Manager) Schedules(ctx context.Context, of string, p Page) (*List[Schedule], error) {
	return m.store.Schedules(ctx, of, bounded(p))
}

// Schedule implements Scheduling.
func (m *Manager) Schedule(ctx context.Context, id ScheduleID) (*Schedule, error) {
	return m.store.Schedule(ctx, id)
}

// Slots implements Scheduling.
func (m *Manager) Slots(ctx context.Context, f SlotFilter, p Page) (*List[Slot], error) {
	return m.store.Slots(ctx, f, bounded(p))
}

// AddSchedule implements Scheduling.
func (m *Manager) AddSchedule(ctx context.Context, actor, of, name string, r ScheduleRule) (*Schedule, error) {
	w, err := m.store.Workflow(ctx, of)
	if err != nil {
		return nil, err
	}
	if !w.Archived.IsZero() {
		return nil, ErrArchived
	}
	if name != "" {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	s := &Schedule{ID: ScheduleID("sc_" + ulid(m.now())), Workflow: w.ID, Slug: w.Slug, Name: name, Rule: r,
		Created: m.now(),
		Account: accountOf(ctx)}
	t, err := s.checked()
	if err != nil {
		return nil, err
	}
	there, err := m.store.Schedules(ctx, string(w.ID), Page{Limit: maxSchedules})
	if err != nil {
		return nil, err
	}
	if len(there.Items) >= maxSchedules {
		return nil, invalid("name", "the workflow has %d schedules, more it cannot have: remove one", maxSchedules)
	}
	s.Name = firstText(name, freeName(there.Items))
	s.Words = t.Words()
	if s.planAfter(t, m.now()); s.Next == nil {
		return nil, invalid("cron", "the schedule has no slot from now on: %s", s.Words)
	}
	err = m.store.CreateSchedule(ctx, s,
		m.event(actor, "schedule.created", map[string]any{"schedule": s.ID, "name": s.Name, "words": s.Words}))
	if err != nil {
		return nil, err
	}
	m.nudge()
	return s, nil
}

// CheckName says what is wrong with the name of a schedule.
func CheckName(name string) error {
	if !slugRule.MatchString(name) {
		return invalid("name", "name %q: want 1 to 48 of a-z, 0-9 and -, with - neither first nor last", name)
	}
	return nil
}

// freeName is a name that no schedule has.
func freeName(there []Schedule) string {
	used := map[string]bool{}
	for i := range there {
		used[there[i].Name] = true
	}
	for n := 1; ; n++ {
		name := "schedule"
		if n > 1 {
			name = fmt.Sprintf("schedule-%d", n)
		}
		if !used[name] {
			return name
		}
	}
}

// ChangeSchedule implements Scheduling.
func (m *Manager) ChangeSchedule(ctx context.Context, actor string, id ScheduleID, lock int64,
	r ScheduleRule) (*Schedule, error) {
	return m.changeSchedule(ctx, id, lock, "", func(s *Schedule) (*Event, error) {
		s.Rule = r
		t, err := s.checked()
		if err != nil {
			return nil, err
		}
		s.Words = t.Words()
		e := m.event(actor, "schedule.changed", map[string]any{"schedule": s.ID, "name": s.Name, "words": s.Words})
		return &e, nil
	})
}

// PauseSchedule implements Scheduling.
func (m *Manager) PauseSchedule(ctx context.Context, actor string, id ScheduleID, reason string) (*Schedule, error) {
	if err := checkTexts("", nil, reason); err != nil {
		return nil, err
	}
	return m.changeSchedule(ctx, id, 0, "the schedule was paused", func(s *Schedule) (*Event, error) {
		if !s.Paused.IsZero() {
			return nil, nil
		}
		s.Paused, s.Reason = m.now(), reason
		e := m.event(actor, "schedule.paused", map[string]any{"schedule": s.ID, "name": s.Name, "reason": reason})
		return &e, nil
	})
}

// ResumeSchedule implements Scheduling.
func (m *Manager) ResumeSchedule(ctx context.Context, actor string, id ScheduleID) (*Schedule, error) {
	return m.changeSchedule(ctx, id, 0, "", func(s *Schedule) (*Event, error) {
		if s.Paused.IsZero() {
			return nil, nil
		}
		w, err := m.store.Workflow(ctx, string(s.Workflow))
		if err != nil {
			return nil, err
		}
		if !w.Archived.IsZero() {
			return nil, ErrArchived
		}
		s.Paused, s.Reason = time.Time{}, ""
		e := m.event(actor, "schedule.resumed", map[string]any{"schedule": s.ID, "name": s.Name})
		return &e, nil
	})
}

// changeSchedule edits a schedule and plans its next slot. Where edit returns no event, nothing is stored.
func (m *Manager) changeSchedule(ctx context.Context, id ScheduleID, lock int64, unwait string,
	edit func(*Schedule) (*Event, error)) (*Schedule, error) {
	for try := 0; ; try++ {
		s, err := m.store.Schedule(ctx, id)
		if err != nil {
			return nil, err
		}
		if lock != 0 && lock != s.Lock {
			return nil, ErrStale
		}
		e, err := edit(s)
		if err != nil || e == nil {
			return s, err
		}
		s.Next = nil
		if s.Paused.IsZero() {
			t, err := s.checked()
			if err != nil {
				return nil, err
			}
			s.planAfter(t, m.now())
		}
		err = m.store.UpdateSchedule(ctx, s, unwait, *e)
		if err == nil {
			m.nudge()
			return s, nil
		}
		if !errors.Is(err, ErrStale) || try == 20 {
			return nil, err
		}
	}
}

// RemoveSchedule implements Scheduling.
func (m *Manager) RemoveSchedule(ctx context.Context, actor string, id ScheduleID, lock int64) error {
	s, err := m.store.Schedule(ctx, id)
	if err != nil {
		return err
	}
	if lock != 0 && lock != s.Lock {
		return ErrStale
	}
	return m.store.RemoveSchedule(ctx, id, s.Lock,
		m.event(actor, "schedule.deleted", map[string]any{"schedule": s.ID, "name": s.Name}))
}

// Forecast implements Scheduling.
func (m *Manager) Forecast(r ScheduleRule, slots int) (*Forecast, error) {
	s := &Schedule{Rule: r, Created: m.now()}
	t, err := s.checked()
	if err != nil {
		return nil, err
	}
	return &Forecast{Words: t.Words(), Slots: s.following(t, m.now(), slots)}, nil
}

// following are the slots after an instant.
func (s *Schedule) following(t *timetable.Table, after time.Time, n int) []Slot {
	out := []Slot{}
	for len(out) < min(n, 100) {
		next, found := t.Next(after)
		if !found {
			break
		}
		out, after = append(out, s.slot(next)), next.At
	}
	return out
}

// Upcoming implements Scheduling.
func (m *Manager) Upcoming(ctx context.Context, id ScheduleID, slots int) ([]Slot, error) {
	s, err := m.store.Schedule(ctx, id)
	if err != nil {
		return nil, err
	}
	if s.Next == nil {
		return []Slot{}, nil
	}
	t, err := s.checked()
	if err != nil {
		return nil, err
	}
	return append([]Slot{*s.Next}, s.following(t, s.Next.At, slots-1)...), nil
}

// causeOf is the cause of an execution that a slot starts.
func causeOf(s *Slot) Cause {
	return Cause{Kind: "schedule", By: s.Name, Schedule: s.Schedule, Slot: s.Label}
}

// isFinal reports whether an execution cannot be made: to try again would change nothing.
func isFinal(err error) bool {
	bad, over := (*Invalid)(nil), (*OverQuota)(nil)
	return errors.As(err, &bad) || errors.As(err, &over) || errors.Is(err, ErrConflict) || errors.Is(err, ErrNotFound) ||
		crawl.IsPermanent(err)
}
