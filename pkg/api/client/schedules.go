package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

func schedulePath(id workflow.ScheduleID) string { return "/schedules/" + url.PathEscape(string(id)) }

// Schedules lists the schedules of a workflow (id or slug); empty: of all.
func (c *Client) Schedules(ctx context.Context, of string) ([]workflow.Schedule, error) {
	q := url.Values{}
	if of != "" {
		q.Set("workflow", of)
	}
	return all[workflow.Schedule](ctx, c, "/schedules", q, 0)
}

// AddSchedule makes a schedule of a workflow.
func (c *Client) AddSchedule(ctx context.Context, of string, n api.NewSchedule) (*workflow.Schedule, error) {
	return post[workflow.Schedule](ctx, c, workflowPath(of)+"/schedules", n)
}

// ChangeSchedule gives a schedule another rule.
func (c *Client) ChangeSchedule(ctx context.Context, id workflow.ScheduleID,
	r workflow.ScheduleRule) (*workflow.Schedule, error) {
	out := new(workflow.Schedule)
	return out, c.do(ctx, call{method: http.MethodPut, path: schedulePath(id), in: r, ifMatch: "*"}, out)
}

// PauseSchedule lets nothing begin by a schedule.
func (c *Client) PauseSchedule(ctx context.Context, id workflow.ScheduleID, reason string) (*workflow.Schedule, error) {
	return post[workflow.Schedule](ctx, c, schedulePath(id)+":pause", map[string]string{"reason": reason})
}

// ResumeSchedule lets a schedule go on.
func (c *Client) ResumeSchedule(ctx context.Context, id workflow.ScheduleID) (*workflow.Schedule, error) {
	return post[workflow.Schedule](ctx, c, schedulePath(id)+":resume", nil)
}

// RemoveSchedule deletes a schedule.
func (c *Client) RemoveSchedule(ctx context.Context, id workflow.ScheduleID) error {
	return c.do(ctx, call{method: http.MethodDelete, path: schedulePath(id), ifMatch: "*"}, nil)
}

// Upcoming tells the next slots of a schedule.
func (c *Client) Upcoming(ctx context.Context, id workflow.ScheduleID, slots int) ([]workflow.Slot, error) {
	l, err := get[workflow.List[workflow.Slot]](ctx, c, schedulePath(id)+"/upcoming",
		url.Values{"slots": {strconv.Itoa(slots)}})
	return l.Items, err
}

// Forecast tells what a rule is, and its next slots.
func (c *Client) Forecast(ctx context.Context, r workflow.ScheduleRule) (*workflow.Forecast, error) {
	return post[workflow.Forecast](ctx, c, "/schedules:forecast", r)
}

// Slots lists slots of a schedule, up to most, the latest first.
func (c *Client) Slots(ctx context.Context, id workflow.ScheduleID, most int) ([]workflow.Slot, error) {
	return all[workflow.Slot](ctx, c, "/slots", url.Values{"schedule": {string(id)}}, most)
}
