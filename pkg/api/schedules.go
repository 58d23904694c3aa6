package api

import (
	"context"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// NewSchedule is a schedule to be made.
type NewSchedule struct {
	Name string `json:"name,omitempty" maxLength:"48" doc:"a-z, 0-9 and -; empty: one is made"`
	workflow.ScheduleRule
}

// SchedulePath names a schedule.
type SchedulePath struct {
	ID string `path:"id" maxLength:"64" doc:"id of the schedule"`
}

func (p SchedulePath) id() workflow.ScheduleID { return workflow.ScheduleID(p.ID) }

func (s *Server) scheduleRoutes() {
	add(s, route{method: http.MethodGet, path: "/schedules", id: "listSchedules", role: Viewer,
		text: "List schedules, the newest first"}, s.listSchedules)
	add(s, route{method: http.MethodPost, path: "/schedules:forecast", id: "forecastSchedule", role: Viewer,
		text: "Say in words what a rule is, and its next slots; nothing is stored"}, s.forecastSchedule)
	add(s, route{method: http.MethodPost, path: "/workflows/{wf}/schedules", id: "addSchedule", role: User,
		status: http.StatusCreated, text: "Make a schedule of a workflow"}, s.addSchedule)
	add(s, route{method: http.MethodGet, path: "/schedules/{id}", id: "getSchedule", role: Viewer,
		text: "Show a schedule"}, s.getSchedule)
	add(s, route{method: http.MethodPut, path: "/schedules/{id}", id: "changeSchedule", role: User,
		text: "Give a schedule another rule"}, s.changeSchedule)
	add(s, route{method: http.MethodDelete, path: "/schedules/{id}", id: "removeSchedule", role: User,
		status: http.StatusNoContent, text: "Delete a schedule and its slots; its executions stay"}, s.removeSchedule)
	add(s, route{method: http.MethodPost, path: "/schedules/{id}:pause", id: "pauseSchedule", role: User,
		text: "Let nothing begin by a schedule"},
		s.pauseSchedule)
	add(s, route{method: http.MethodPost, path: "/schedules/{id}:resume", id: "resumeSchedule", role: User,
		text: "Resume a schedule, from now"},
		s.resumeSchedule)
	add(s, route{method: http.MethodGet, path: "/schedules/{id}/upcoming", id: "listUpcomingSlots", role: Viewer,
		text: "Tell the next slots of a schedule"},
		s.upcomingSlots)
	add(s, route{method: http.MethodGet, path: "/slots", id: "listSlots", role: Viewer,
		text: "List slots and what became of them, the latest first"}, s.listSlots)
}

func (s *Server) listSchedules(ctx context.Context, in *struct {
	Paged
	Workflow string `query:"workflow" maxLength:"64" doc:"id or slug; empty: all"`
}) (*body[workflow.List[workflow.Schedule]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Schedules.Schedules(ctx, in.Workflow, p)
	return list(ctx, s, l, err)
}

func (s *Server) forecastSchedule(_ context.Context, in *struct {
	Slots int `query:"slots" minimum:"1" maximum:"100" default:"5"`
	Body  workflow.ScheduleRule
}) (*body[workflow.Forecast], error) {
	return okOf(s.Schedules.Forecast(in.Body, in.Slots))
}

func taggedSchedule(sc *workflow.Schedule, err error) (*tagged[workflow.Schedule], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[workflow.Schedule]{ETag: etag(sc.Lock), Body: *sc}, nil
}

func (s *Server) addSchedule(ctx context.Context, in *struct {
	WorkflowPath
	Body NewSchedule
}) (*tagged[workflow.Schedule], error) {
	return taggedSchedule(s.Schedules.AddSchedule(ctx, actorOf(ctx), in.Workflow, in.Body.Name, in.Body.ScheduleRule))
}

func (s *Server) getSchedule(ctx context.Context, in *SchedulePath) (*tagged[workflow.Schedule], error) {
	return taggedSchedule(s.Schedules.Schedule(ctx, in.id()))
}

func (s *Server) changeSchedule(ctx context.Context, in *struct {
	SchedulePath
	Condition
	Body workflow.ScheduleRule
}) (*tagged[workflow.Schedule], error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	return taggedSchedule(s.Schedules.ChangeSchedule(ctx, actorOf(ctx), in.id(), lock, in.Body))
}

func (s *Server) removeSchedule(ctx context.Context, in *struct {
	SchedulePath
	Condition
}) (*none, error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	return &none{}, s.Schedules.RemoveSchedule(ctx, actorOf(ctx), in.id(), lock)
}

func (s *Server) pauseSchedule(ctx context.Context, in *struct {
	SchedulePath
	Body *struct {
		Reason string `json:"reason,omitempty" maxLength:"500"`
	}
}) (*tagged[workflow.Schedule], error) {
	reason := ""
	if in.Body != nil {
		reason = in.Body.Reason
	}
	return taggedSchedule(s.Schedules.PauseSchedule(ctx, actorOf(ctx), in.id(), reason))
}

func (s *Server) resumeSchedule(ctx context.Context, in *SchedulePath) (*tagged[workflow.Schedule], error) {
	return taggedSchedule(s.Schedules.ResumeSchedule(ctx, actorOf(ctx), in.id()))
}

func (s *Server) upcomingSlots(ctx context.Context, in *struct {
	SchedulePath
	Slots int `query:"slots" minimum:"1" maximum:"100" default:"5"`
}) (*body[workflow.List[workflow.Slot]], error) {
	slots, err := s.Schedules.Upcoming(ctx, in.id(), in.Slots)
	return ok(workflow.List[workflow.Slot]{Items: full(slots)}, err)
}

func (s *Server) listSlots(ctx context.Context, in *struct {
	Paged
	Workflow string               `query:"workflow" maxLength:"64" doc:"id or slug; empty: all"`
	Schedule string               `query:"schedule" maxLength:"64" doc:"id; empty: all"`
	State    []workflow.SlotState `query:"state" maxItems:"5" enum:"planned,waiting,started,skipped,missed"`
}) (*body[workflow.List[workflow.Slot]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Schedules.Slots(ctx,
		workflow.SlotFilter{Schedule: workflow.ScheduleID(in.Schedule), Workflow: in.Workflow, States: in.State}, p)
	return list(ctx, s, l, err)
}
