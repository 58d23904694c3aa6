package workflow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/timetable"
)

// onTime is how late a slot may begin without having been missed: a look at everything takes two seconds, and a busy
// machine or a restart some more.
const onTime = time.Minute

// maxListed is how many slots of one absence are stored at least: as many as can be made up for, and as many more. Of
// twice as many, the earlier ones are counted.
const maxListed = 200

// decideSlots decides on all slots that are due. A slot that cannot be decided on is tried again at the next look.
func (c *conductor) decideSlots(ctx context.Context) error {
	due, err := c.store.DueSlots(ctx, c.now())
	if err != nil {
		return err
	}
	for i := range due {
		if err := c.decideSlot(ctx, &due[i], due); err != nil && !errors.Is(err, ErrStale) && ctx.Err() == nil {
			c.opt.Log.Error("a slot is not decided on", "schedule", due[i].Schedule, "slot", due[i].Label, "error", err)
		}
	}
	return nil
}

func (c *conductor) decideSlot(ctx context.Context, slot *Slot, due []Slot) error {
	s, err := c.store.Schedule(ctx, slot.Schedule)
	if err != nil {
		return err
	}
	w, err := c.store.Workflow(ctx, string(slot.Workflow))
	if err != nil {
		return err
	}
	if !w.Archived.IsZero() {
		_, err := c.PauseSchedule(ctx, conductorName, s.ID, "the workflow is archived")
		return err
	}
	if slot.State == SlotWaiting {
		return c.lookWaiting(ctx, s, slot, due)
	}
	t, err := s.table()
	if err != nil {
		return err
	}
	return c.lookPlanned(ctx, s, t, slot, due)
}

// passed are the slots from first on that are due, without the earlier ones of more than can be stored or made up for,
// and how many those are; next is the one that comes.
func (c *conductor) passed(s *Schedule, t *timetable.Table, first *Slot) (slots []Slot, left int, next *Slot) {
	slots = []Slot{*first}
	for at := first.At; ; {
		n, found := t.Next(at)
		if !found {
			return slots, left, nil
		}
		slot := s.slot(n)
		if slot.Due.After(c.now()) {
			return slots, left, &slot
		}
		slots, at = append(slots, slot), slot.At
		if over := len(slots) - maxListed; over >= maxListed {
			left += over
			slots = append(slots[:1], slots[1+over:]...) // the first is stored
		}
	}
}

// lookPlanned decides on a planned slot that is due, and on those after it that are due as well.
func (c *conductor) lookPlanned(ctx context.Context, s *Schedule, t *timetable.Table, first *Slot, due []Slot) error {
	slots, left, next := c.passed(s, t, first)
	d := &Decision{From: SlotPlanned, Next: next, Slots: slots}
	behind, last := slots, &slots[len(slots)-1]
	onTimeToo := c.now().Sub(last.Due) <= onTime
	if onTimeToo {
		behind = slots[:len(slots)-1]
	}
	made := s.catchUp(behind, left, onTimeToo)
	if onTimeToo {
		if err := c.lookOnTime(ctx, s, last, due, made, d); err != nil {
			return err
		}
	}
	for i := range d.Slots {
		slot := &d.Slots[i]
		slot.Decided = c.now()
		if slot.State != SlotStarted {
			d.Events = append(d.Events, c.slotEvent(slot))
		}
	}
	return c.store.Decide(ctx, d)
}

// catchUp decides on slots that passed while nobody looked, and says how many are made up for. left earlier ones are
// counted in the reason of the first.
func (s *Schedule) catchUp(behind []Slot, left int, onTimeToo bool) (made int) {
	switch s.Rule.CatchUp {
	case CatchUpLast, "":
		if !onTimeToo {
			made = 1
		}
	case CatchUpAll:
		if made = s.Rule.CatchUpMax; made == 0 {
			made = defaultCatchUp
		}
	}
	made = min(made, len(behind))
	for i := range behind {
		slot := &behind[i]
		if i >= len(behind)-made {
			slot.State, slot.Reason = SlotWaiting, "made up for: the server did not run when it was due"
			continue
		}
		slot.State, slot.Reason = SlotMissed, "the server did not run when it was due"
		if i == 0 && left > 0 {
			slot.Reason += fmt.Sprintf("; so it was with %d more that are not listed", left)
		}
	}
	return made
}

// lookOnTime decides on a slot that has just come.
func (c *conductor) lookOnTime(ctx context.Context, s *Schedule, slot *Slot, due []Slot, made int, d *Decision) error {
	open, err := c.openOf(ctx, s.Workflow)
	if err != nil {
		return err
	}
	waits := waitingOf(due, s.ID, slot.Label)
	rule := s.Rule.Overlap
	switch {
	case made > 0: // behind those that are made up for
		slot.State, slot.Reason = SlotWaiting, "earlier slots are made up for"
	case rule == OverlapReplace && (len(open) > 0 || waits != nil):
		slot.State, slot.Reason = SlotWaiting, "it replaces what runs"
	case rule == OverlapQueue && waits != nil:
		slot.State, slot.Reason = SlotSkipped, fmt.Sprintf("slot %s waits already", timetable.Wall(waits.Label))
	case rule == OverlapQueue && len(open) > 0:
		slot.State, slot.Reason = SlotWaiting, fmt.Sprintf("execution %s is %s", open[0].ID, open[0].State)
	case rule != OverlapAllow && waits != nil:
		slot.State, slot.Reason = SlotSkipped, fmt.Sprintf("slot %s waits", timetable.Wall(waits.Label))
	case rule != OverlapAllow && len(open) > 0:
		slot.State, slot.Reason = SlotSkipped, fmt.Sprintf("execution %s is %s", open[0].ID, open[0].State)
	case len(d.Slots) > 1: // the first of a decision alone can start at once
		slot.State = SlotWaiting
	default:
		return c.begin(ctx, s, slot, d)
	}
	return nil
}

// waitingOf is another slot of a schedule that waits; nil: there is none.
func waitingOf(due []Slot, id ScheduleID, label string) *Slot {
	for i := range due {
		if due[i].Schedule == id && due[i].State == SlotWaiting && due[i].Label != label {
			return &due[i]
		}
	}
	return nil
}

// openStates are those of executions that have not ended.
var openStates = []State{Pending, Starting, Running, Pausing, Paused, Stopping, Cancelling, Finalizing}

func (c *conductor) openOf(ctx context.Context, id ID) ([]Execution, error) {
	list, err := c.store.Executions(ctx, ExecutionFilter{Workflow: string(id), States: openStates}, Page{Limit: 200})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// begin makes the execution that a slot starts. One that cannot be made skips the slot.
func (c *conductor) begin(ctx context.Context, s *Schedule, slot *Slot, d *Decision) error {
	x, job, e, err := c.prepare(WithAccount(ctx, s.Account), conductorName, string(slot.Workflow), Overrides{},
		causeOf(slot))
	if err == nil {
		err = c.mayStart(ctx, x)
	}
	if err != nil && !isFinal(err) {
		return err
	}
	if err != nil {
		slot.State, slot.Reason = SlotSkipped, "it cannot begin: "+err.Error()
		return nil //nolint:nilerr // the reason is told in the slot
	}
	slot.State, slot.Reason = SlotStarted, ""
	d.Start, d.Job, d.Created = x, job, e
	return nil
}

// lookWaiting begins a slot that waits, when nothing is in its way any more.
func (c *conductor) lookWaiting(ctx context.Context, s *Schedule, slot *Slot, due []Slot) error {
	d := &Decision{From: SlotWaiting, Slots: []Slot{*slot}}
	now := &d.Slots[0]
	now.Decided = c.now()
	later := waitingOf(due, s.ID, slot.Label)
	if s.Rule.Overlap == OverlapReplace && later != nil && later.At.After(slot.At) {
		now.State, now.Reason = SlotSkipped, fmt.Sprintf("slot %s replaced it", timetable.Wall(later.Label))
		d.Events = []Event{c.slotEvent(now)}
		return c.store.Decide(ctx, d)
	}
	open, err := c.openOf(ctx, s.Workflow)
	if err != nil {
		return err
	}
	if len(open) > 0 && s.Rule.Overlap != OverlapAllow {
		if s.Rule.Overlap == OverlapReplace {
			return c.replace(ctx, open, slot)
		}
		return nil
	}
	if err := c.begin(ctx, s, now, d); err != nil {
		return err
	}
	if now.State == SlotSkipped {
		d.Events = []Event{c.slotEvent(now)}
	}
	return c.store.Decide(ctx, d)
}

// replace wishes the end of what runs. It does so at each look, until all has ended.
func (c *conductor) replace(ctx context.Context, open []Execution, slot *Slot) error {
	for i := range open {
		x := &open[i]
		if x.Desired == Stop || x.Desired == Cancel || x.State == Finalizing {
			continue
		}
		_, err := c.Wish(ctx, conductorName, x.ID, Stop,
			fmt.Sprintf("slot %s of schedule %s replaces it", timetable.Wall(slot.Label), slot.Name))
		if err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return nil
}

// slotEvent tells what became of a slot that did not begin at once.
func (c *conductor) slotEvent(s *Slot) Event {
	return c.event(conductorName, "schedule."+string(s.State),
		map[string]any{"schedule": s.Schedule, "name": s.Name, "slot": s.Label,
			"reason": s.Reason})
}

// replan plans again what comes next: the rules of time zones may have changed since it was planned. What is due is
// left as it is.
func (c *conductor) replan(ctx context.Context) error {
	for page := (Page{Limit: 200}); ; {
		list, err := c.store.Schedules(ctx, "", page)
		if err != nil {
			return err
		}
		for i := range list.Items {
			s := &list.Items[i]
			t, err := s.table()
			if err != nil || s.Next == nil || !s.Next.Due.After(c.now()) {
				continue
			}
			before := *s.Next
			s.planAfter(t, c.now())
			if s.Next != nil && s.Next.Label == before.Label && s.Next.At.Equal(before.At) {
				continue
			}
			if _, err := c.ChangeSchedule(ctx, conductorName, s.ID, s.Lock, s.Rule); err != nil && !errors.Is(err, ErrStale) {
				return err
			}
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			return nil
		}
	}
}
