package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Applied is a workflow as it is to be: made where there is none with that slug, else given a version where it differs.
type Applied struct {
	Slug    string            `json:"slug" minLength:"1" maxLength:"48"`
	Name    string            `json:"name,omitempty" maxLength:"200"`
	Source  string            `json:"source"`
	Labels  map[string]string `json:"labels,omitempty"`
	Message string            `json:"message,omitempty" maxLength:"500"`
}

// AppliedSchedule is a schedule as it is to be: made where its workflow has none with that name, else given the rule.
type AppliedSchedule struct {
	Workflow string `json:"workflow" minLength:"1" maxLength:"48"`
	Name     string `json:"name" minLength:"1" maxLength:"48"`
	workflow.ScheduleRule
}

// ApplyResult says what was done, or would be, with one workflow.
type ApplyResult struct {
	Slug    string         `json:"slug" doc:"of the workflow; of a schedule with / and its name"`
	Action  string         `json:"action" enum:"create,change,none"`
	Version int            `json:"version" doc:"that is current then"`
	Changes []crawl.Change `json:"changes"`
}

func (s *Server) applyRoutes() {
	add(s, route{method: http.MethodPut, path: "/apply", id: "apply", role: User,
		text: "Make workflows what a file says; the same again changes nothing"}, s.apply)
}

func (s *Server) apply(ctx context.Context, in *struct {
	DryRun bool `query:"dry_run" doc:"tell what would be done, and do nothing"`
	Body   struct {
		Workflows []Applied         `json:"workflows,omitempty" maxItems:"500"`
		Schedules []AppliedSchedule `json:"schedules,omitempty" maxItems:"500"`
	}
}) (*body[workflow.List[ApplyResult]], error) {
	done, err := s.applyAll(ctx, in.Body.Workflows, in.Body.Schedules, true) // all of it, before the first is touched
	if err != nil {
		return nil, err
	}
	if !in.DryRun {
		if done, err = s.applyAll(ctx, in.Body.Workflows, in.Body.Schedules, false); err != nil {
			return nil, s.partly(ctx, err, done)
		}
	}
	return list(ctx, s, &workflow.List[ApplyResult]{Items: done}, nil)
}

// applyAll does what is to be done, or where dry says so only looks whether it could be. Schedules may be of workflows
// that are made with them.
func (s *Server) applyAll(ctx context.Context, flows []Applied, schedules []AppliedSchedule,
	dry bool) (done []ApplyResult, err error) {
	made := map[string]bool{}
	for i := range flows {
		a := &flows[i]
		r, err := s.applyOne(ctx, a, dry)
		if err != nil {
			return done, fmt.Errorf("workflow %s: %w", a.Slug, err)
		}
		made[a.Slug], done = true, append(done, *r)
	}
	for i := range schedules {
		a := &schedules[i]
		r, err := s.applySchedule(ctx, a, dry && made[a.Workflow], dry)
		if err != nil {
			return done, fmt.Errorf("schedule %s of workflow %s: %w", a.Name, a.Workflow, err)
		}
		done = append(done, *r)
	}
	return done, nil
}

// partly is the problem of an error that came up when some of a file was applied already, and says what.
func (s *Server) partly(ctx context.Context, err error, done []ApplyResult) error {
	var names []string
	for i := range done {
		if done[i].Action != "none" {
			names = append(names, done[i].Slug+" ("+done[i].Action+")")
		}
	}
	err = failed(ctx, s.log, err)
	var p *huma.ErrorModel
	if len(names) > 0 && errors.As(err, &p) {
		p.Detail += "; before that was applied: " + strings.Join(names, ", ") + "; apply the file again when it is corrected"
	}
	return err
}

func (s *Server) applyOne(ctx context.Context, a *Applied, dry bool) (*ApplyResult, error) {
	checked, err := s.Workflows.Check(ctx, a.Source)
	switch {
	case err != nil:
		return nil, err
	case len(checked.Faults) > 0:
		return nil, &workflow.Invalid{Faults: checked.Faults}
	}
	w, err := s.Workflows.Workflow(ctx, a.Slug)
	switch {
	case errors.Is(err, workflow.ErrNotFound):
		return s.applyNew(ctx, a, dry)
	case err != nil:
		return nil, err
	}
	current, err := s.Workflows.Version(ctx, string(w.ID), w.Current)
	if err != nil {
		return nil, err
	}
	out := &ApplyResult{Slug: w.Slug, Action: "none", Version: w.Current, Changes: []crawl.Change{}}
	if err := s.differences(ctx, current.Source, a.Source, out); err != nil {
		return nil, err
	}
	if out.Action == "none" || dry {
		return out, nil
	}
	v, err := s.Workflows.AddVersion(ctx, actorOf(ctx), string(w.ID), a.Source, a.Message, w.Current)
	if err != nil {
		return nil, err
	}
	out.Version = v.Number
	return out, nil
}

func (s *Server) applyNew(ctx context.Context, a *Applied, dry bool) (*ApplyResult, error) {
	out := &ApplyResult{Slug: a.Slug, Action: "create", Version: 1, Changes: []crawl.Change{}}
	_, err := s.Workflows.Create(ctx, actorOf(ctx),
		workflow.New{Name: a.Name, Slug: a.Slug, Source: a.Source, Labels: a.Labels, Message: a.Message,
			Dry: dry})
	return out, err
}

// differences notes what a new source changes.
func (s *Server) differences(ctx context.Context, from, to string, out *ApplyResult) error {
	if from == to {
		return nil
	}
	before, err := s.Workflows.Check(ctx, from)
	if err != nil {
		return err
	}
	after, err := s.Workflows.Check(ctx, to)
	if err != nil || before.Definition == nil || after.Definition == nil {
		return err
	}
	if out.Changes = full(crawl.Changes(before.Definition, after.Definition)); len(out.Changes) > 0 {
		out.Action = "change"
		out.Version++
	}
	return nil
}

// applySchedule makes or changes a schedule. planned says that its workflow is of the same file, and may be still to
// be made.
func (s *Server) applySchedule(ctx context.Context, a *AppliedSchedule, planned, dry bool) (*ApplyResult, error) {
	out := &ApplyResult{Slug: a.Workflow + "/" + a.Name, Action: "create", Version: 1, Changes: []crawl.Change{}}
	f, err := s.Schedules.Forecast(a.ScheduleRule, 1)
	if err != nil {
		return nil, err
	}
	w, err := s.Workflows.Workflow(ctx, a.Workflow)
	switch {
	case planned && errors.Is(err, workflow.ErrNotFound):
		return out, checkNew(a, f)
	case err != nil:
		return nil, err
	}
	there, err := s.Schedules.Schedules(ctx, string(w.ID), workflow.Page{Limit: 200}) // a workflow has no more
	if err != nil {
		return nil, err
	}
	for i := range there.Items {
		sc := &there.Items[i]
		if sc.Name != a.Name {
			continue
		}
		out.Version = int(sc.Lock)
		if out.Action = "none"; sc.Rule == a.ScheduleRule {
			return out, nil
		}
		if out.Action = "change"; !dry {
			sc, err = s.Schedules.ChangeSchedule(ctx, actorOf(ctx), sc.ID, sc.Lock, a.ScheduleRule)
			if err == nil {
				out.Version = int(sc.Lock)
			}
		}
		return out, err
	}
	if !w.Archived.IsZero() {
		return nil, workflow.ErrArchived
	}
	if err := checkNew(a, f); err != nil || dry {
		return out, err
	}
	_, err = s.Schedules.AddSchedule(ctx, actorOf(ctx), string(w.ID), a.Name, a.ScheduleRule)
	return out, err
}

// checkNew says what speaks against a schedule that is to be made, whatever its workflow is.
func checkNew(a *AppliedSchedule, f *workflow.Forecast) error {
	if err := workflow.CheckName(a.Name); err != nil {
		return err
	}
	if len(f.Slots) == 0 {
		return &workflow.Invalid{Faults: []workflow.Fault{{Key: "cron",
			Message: "the schedule has no slot from now on: " + f.Words}}}
	}
	return nil
}
