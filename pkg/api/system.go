package api

import (
	"context"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/explore"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

type logsIn struct {
	Paged
	Source    string    `query:"source" enum:"server,crawl"`
	Level     string    `query:"level" enum:"DEBUG,INFO,WARN,ERROR" doc:"this and higher ones"`
	Execution string    `query:"execution" maxLength:"80"`
	Host      string    `query:"host" maxLength:"300"`
	Verdict   string    `query:"verdict" maxLength:"40"`
	Reason    string    `query:"reason" maxLength:"100" doc:"why a URL ended so: scope, timeout …"`
	Status    int       `query:"status" minimum:"0" maximum:"999" doc:"HTTP status; 1 to 5: a class of them"`
	Since     time.Time `query:"since" doc:"written then or later"`
	Until     time.Time `query:"until" doc:"written before then"`
	Query     string    `query:"q" maxLength:"500" doc:"part of the message or URL"`
	After     string    `query:"after" maxLength:"200" doc:"id of a line: only newer ones, the oldest first"`
}

// SettingChange changes a setting.
type SettingChange struct {
	Key   string `json:"key" maxLength:"100"`
	Value string `json:"value" maxLength:"10000"`
}

func (s *Server) systemRoutes() {
	add(s, route{method: http.MethodGet, path: "/logs", id: "listLogs", role: Viewer,
		text: "Lines of the server's log and, of an execution, of its crawl.log, the newest first"}, s.listLogs)
	add(s, route{method: http.MethodGet, path: "/logs/{id}", id: "getLogLine", role: Viewer,
		text: "One line, by its permanent id"}, s.getLogLine)
	add(s, route{method: http.MethodGet, path: "/agents", id: "listAgents", role: Viewer, text: "Programs that crawl"},
		s.listAgents)
	add(s, route{method: http.MethodGet, path: "/settings", id: "listSettings", role: Viewer,
		text: "Settings of the server"}, s.listSettings)
	add(s, route{method: http.MethodPatch, path: "/settings", id: "changeSettings", role: Admin,
		text: "Change settings of the server"}, s.changeSettings)
	add(s, route{method: http.MethodGet, path: "/settings/changes", id: "listSettingChanges", role: Viewer,
		text: "What was changed of the settings, the newest first"},
		s.listSettingChanges)
	add(s, route{method: http.MethodPost, path: "/settings/{key}:undo", id: "undoSetting", role: Admin,
		text: "Undo the last change of a setting"}, s.undoSetting)
	for _, w := range []struct {
		wish AgentWish
		id   string
		text string
	}{{AgentStart, "startAgent", "Let a program take messages again"},
		{AgentStop, "stopAgent", "Let a program finish what it has in hand, and take nothing until it is started"},
		{AgentDrain, "drainAgent", "Let a program finish what it has in hand, and end"}} {
		add(s, route{method: http.MethodPost, path: "/agents/{id}:" + string(w.wish), id: w.id, role: Operator,
			status: http.StatusAccepted, text: w.text},
			s.askAgent(w.wish))
	}
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("ok\n")) // the client has gone
	})
}

func (s *Server) listLogs(ctx context.Context, in *logsIn) (*body[explore.List[explore.LogLine]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil {
		return nil, err
	}
	l, err := s.Explore.Logs(ctx, explore.LogFilter{Source: in.Source, Level: in.Level,
		Execution: crawl.JobID(in.Execution), Host: in.Host, Verdict: in.Verdict, Reason: in.Reason, Status: in.Status,
		Since: in.Since, Until: in.Until, Query: in.Query, After: in.After}, p)
	return listed(ctx, s, l, err)
}

func (s *Server) getLogLine(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"200"`
}) (*body[explore.LogLine], error) {
	return okOf(s.Explore.LogLine(ctx, in.ID))
}

func (s *Server) listAgents(ctx context.Context, _ *struct{}) (*body[workflow.List[Agent]], error) {
	agents, err := s.Crawls.Agents(ctx)
	return list(ctx, s, &workflow.List[Agent]{Items: agents}, err)
}

func (s *Server) listSettings(ctx context.Context, _ *struct{}) (*body[workflow.List[Setting]], error) {
	if s.Settings == nil {
		return list(ctx, s, &workflow.List[Setting]{}, nil)
	}
	all, err := s.Settings.Settings(ctx)
	return list(ctx, s, &workflow.List[Setting]{Items: all}, err)
}

func (s *Server) changeSettings(ctx context.Context, in *struct {
	Body struct {
		Changes []SettingChange `json:"changes" minItems:"1" maxItems:"50"`
	}
}) (*body[workflow.List[Setting]], error) {
	for _, c := range in.Body.Changes {
		if s.Settings == nil {
			return nil, problem(ctx, http.StatusUnprocessableEntity, "there are no settings to change")
		}
		if err := s.Settings.Set(ctx, actorOf(ctx), c.Key, c.Value); err != nil {
			return nil, err
		}
	}
	return s.listSettings(ctx, nil)
}

func (s *Server) listSettingChanges(ctx context.Context, _ *struct{}) (*body[workflow.List[SettingChanged]], error) {
	if s.Settings == nil {
		return list(ctx, s, &workflow.List[SettingChanged]{}, nil)
	}
	all, err := s.Settings.Changes(ctx)
	return list(ctx, s, &workflow.List[SettingChanged]{Items: all}, err)
}

func (s *Server) undoSetting(ctx context.Context, in *struct {
	Key string `path:"key" maxLength:"100"`
}) (*body[workflow.List[Setting]], error) {
	if s.Settings == nil {
		return nil, problem(ctx, http.StatusUnprocessableEntity, "there are no settings to change")
	}
	if err := s.Settings.Undo(ctx, actorOf(ctx), in.Key); err != nil {
		return nil, err
	}
	return s.listSettings(ctx, nil)
}

type agentIn struct {
	ID string `path:"id" maxLength:"300"`
}

// askAgent answers with the programs as they are: what was asked of one it does some seconds later.
func (s *Server) askAgent(wish AgentWish) func(context.Context, *agentIn) (*body[workflow.List[Agent]], error) {
	return func(ctx context.Context, in *agentIn) (*body[workflow.List[Agent]], error) {
		if err := s.Crawls.AskAgent(ctx, in.ID, wish); err != nil {
			return nil, err
		}
		return s.listAgents(ctx, nil)
	}
}
