package api

import (
	"context"
	"net/http"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow/notify"
)

// NamePath names a rule or a channel.
type NamePath struct {
	Name string `path:"name" maxLength:"48" doc:"a-z, 0-9 and -"`
}

// DeliveryPath names a delivery.
type DeliveryPath struct {
	ID string `path:"id" maxLength:"64" doc:"id of the delivery"`
}

func (s *Server) alertRoutes() {
	add(s, route{method: http.MethodGet, path: "/alerts", id: "listAlerts", role: Viewer,
		text: "List what is pending and firing, the newest first"}, s.listAlerts)
	add(s, route{method: http.MethodGet, path: "/alert-rules", id: "listAlertRules", role: Viewer,
		text: "List rules of alerts"}, s.listAlertRules)
	add(s, route{method: http.MethodPut, path: "/alert-rules/{name}", id: "setAlertRule", role: User,
		text: "Make a rule, or give it another content"},
		s.setAlertRule)
	add(s, route{method: http.MethodDelete, path: "/alert-rules/{name}", id: "removeAlertRule", role: User,
		status: http.StatusNoContent, text: "Delete a rule"}, s.removeAlertRule)
	add(s, route{method: http.MethodGet, path: "/alert-channels", id: "listAlertChannels", role: Operator,
		text: "List where alerts are sent"},
		s.listAlertChannels)
	add(s, route{method: http.MethodPut, path: "/alert-channels/{name}", id: "setAlertChannel", role: Admin,
		text: "Make a channel, or give it another content; secrets are named, not written"}, s.setAlertChannel)
	add(s, route{method: http.MethodDelete, path: "/alert-channels/{name}", id: "removeAlertChannel", role: Admin,
		status: http.StatusNoContent, text: "Delete a channel that no rule names"}, s.removeAlertChannel)
	add(s, route{method: http.MethodPost, path: "/alert-channels/{name}:test", id: "testAlertChannel", role: Operator,
		status: http.StatusAccepted, text: "Send a test to a channel"}, s.testAlertChannel)
	add(s, route{method: http.MethodGet, path: "/deliveries", id: "listDeliveries", role: Operator,
		text: "List what was sent, with its tries, the newest first"},
		s.listDeliveries)
	add(s, route{method: http.MethodPost, path: "/deliveries/{id}:resend", id: "resendDelivery", role: Operator,
		status: http.StatusAccepted, text: "Send a delivery again"}, s.resendDelivery)
}

func (s *Server) listAlerts(ctx context.Context, _ *struct{}) (*body[workflow.List[workflow.Alert]], error) {
	all, err := s.Alerts.Alerts(ctx)
	return ok(workflow.List[workflow.Alert]{Items: full(all)}, err)
}

func (s *Server) listAlertRules(ctx context.Context, _ *struct{}) (*body[workflow.List[workflow.AlertRule]], error) {
	all, err := s.Alerts.Rules(ctx)
	return ok(workflow.List[workflow.AlertRule]{Items: full(all)}, err)
}

func (s *Server) setAlertRule(ctx context.Context, in *struct {
	NamePath
	Body workflow.AlertRule
}) (*body[workflow.AlertRule], error) {
	in.Body.Name = in.Name
	return ok(in.Body, s.Alerts.SetRule(ctx, actorOf(ctx), &in.Body))
}

func (s *Server) removeAlertRule(ctx context.Context, in *NamePath) (*none, error) {
	return &none{}, s.Alerts.RemoveRule(ctx, actorOf(ctx), in.Name)
}

func (s *Server) listAlertChannels(ctx context.Context, _ *struct{}) (*body[workflow.List[notify.Channel]], error) {
	all, err := s.Alerts.Channels(ctx)
	return ok(workflow.List[notify.Channel]{Items: full(all)}, err)
}

func (s *Server) setAlertChannel(ctx context.Context, in *struct {
	NamePath
	Body notify.Channel
}) (*body[notify.Channel], error) {
	in.Body.Name = in.Name
	return ok(in.Body, s.Alerts.SetChannel(ctx, actorOf(ctx), &in.Body))
}

func (s *Server) removeAlertChannel(ctx context.Context, in *NamePath) (*none, error) {
	return &none{}, s.Alerts.RemoveChannel(ctx, actorOf(ctx), in.Name)
}

func (s *Server) testAlertChannel(ctx context.Context, in *NamePath) (*body[workflow.Delivery], error) {
	return okOf(s.Alerts.TestChannel(ctx, actorOf(ctx), in.Name))
}

func (s *Server) listDeliveries(ctx context.Context, in *struct {
	Paged
	Channel string                   `query:"channel" maxLength:"48" doc:"name; empty: all"`
	State   []workflow.DeliveryState `query:"state" maxItems:"3" enum:"due,sent,dead"`
}) (*body[workflow.List[workflow.Delivery]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Alerts.Deliveries(ctx, workflow.DeliveryFilter{Channel: in.Channel, States: in.State}, p)
	return list(ctx, s, l, err)
}

func (s *Server) resendDelivery(ctx context.Context, in *DeliveryPath) (*body[workflow.Delivery], error) {
	return okOf(s.Alerts.Resend(ctx, actorOf(ctx), in.ID))
}
