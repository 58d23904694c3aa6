package api

import (
	"context"
	"errors"
	"net/http"

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
	add(s, route{method: http.MethodPut, path: "/apply", id: "apply", role: User, text: "Make workflows what a file says; the same again changes nothing"}, s.apply)
}

func (s *Server) apply(ctx context.Context, in *struct {
	DryRun bool `query:"dry_run" doc:"tell what would be done, and do nothing"`
	Body   struct {
		Workflows []Applied         `json:"workflows,omitempty" maxItems:"500"`
		Schedules []AppliedSchedule `json:"schedules,omitempty" maxItems:"500"`
	}
}) (*body[workflow.List[ApplyResult]], error) {
	l := workflow.List[ApplyResult]{}
	for i := range in.Body.Workflows { // all of them, before the first is touched
		checked, err := s.Workflows.Check(ctx, in.Body.Workflows[i].Source)
		if err != nil {
			return nil, err
		}
		if len(checked.Faults) > 0 {
			return nil, &workflow.Invalid{Faults: checked.Faults}
		}
	}
	for i := range in.Body.Schedules {
		if _, err := s.Schedules.Forecast(in.Body.Schedules[i].ScheduleRule, 1); err != nil {
			return nil, err
		}
	}
	for i := range in.Body.Workflows {
		r, err := s.applyOne(ctx, &in.Body.Workflows[i], in.DryRun)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *r)
	}
	for i := range in.Body.Schedules {
		r, err := s.applySchedule(ctx, &in.Body.Schedules[i], in.DryRun)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, *r)
	}
	return list(ctx, s, &l, nil)
}

func (s *Server) applyOne(ctx context.Context, a *Applied, dry bool) (*ApplyResult, error) {
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
	if dry {
		return out, nil
	}
	_, err := s.Workflows.Create(ctx, actorOf(ctx), workflow.New{Name: a.Name, Slug: a.Slug, Source: a.Source, Labels: a.Labels, Message: a.Message})
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

func (s *Server) applySchedule(ctx context.Context, a *AppliedSchedule, dry bool) (*ApplyResult, error) {
	out := &ApplyResult{Slug: a.Workflow + "/" + a.Name, Action: "create", Version: 1, Changes: []crawl.Change{}}
	there, err := s.Schedules.Schedules(ctx, a.Workflow, workflow.Page{Limit: 200}) // a workflow has no more
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
	if !dry {
		_, err = s.Schedules.AddSchedule(ctx, actorOf(ctx), a.Workflow, a.Name, a.ScheduleRule)
	}
	return out, err
}
