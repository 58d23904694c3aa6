package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Agents lists the programs that run.
func (c *Client) Agents(ctx context.Context) ([]api.Agent, error) {
	l, err := get[workflow.List[api.Agent]](ctx, c, "/agents", nil)
	return l.Items, err
}

// AskAgent asks a program to work, to stop or to end.
func (c *Client) AskAgent(ctx context.Context, id string, wish api.AgentWish) error {
	_, err := post[workflow.List[api.Agent]](ctx, c, "/agents/"+url.PathEscape(id)+":"+string(wish), nil)
	return err
}

// Settings lists the settings of the server.
func (c *Client) Settings(ctx context.Context) ([]api.Setting, error) {
	l, err := get[workflow.List[api.Setting]](ctx, c, "/settings", nil)
	return l.Items, err
}

// ChangeSetting changes a setting.
func (c *Client) ChangeSetting(ctx context.Context, key, value string) error {
	in := map[string][]api.SettingChange{"changes": {{Key: key, Value: value}}}
	return c.do(ctx, call{method: http.MethodPatch, path: "/settings", in: in}, new(workflow.List[api.Setting]))
}

// UndoSetting makes the value hold that did before the last change.
func (c *Client) UndoSetting(ctx context.Context, key string) error {
	_, err := post[workflow.List[api.Setting]](ctx, c, "/settings/"+url.PathEscape(key)+":undo", nil)
	return err
}

// SettingChanges lists what was changed of the settings, the newest first.
func (c *Client) SettingChanges(ctx context.Context) ([]api.SettingChanged, error) {
	l, err := get[workflow.List[api.SettingChanged]](ctx, c, "/settings/changes", nil)
	return l.Items, err
}
