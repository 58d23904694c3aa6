package client

import (
	"context"
	"net/url"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
)

// Plugins lists what nodes of pipelines can use.
func (c *Client) Plugins(ctx context.Context) (*api.PluginList, error) {
	return get[api.PluginList](ctx, c, "/plugins", nil)
}

// Plugin shows a plug-in, by OWNER/NAME@VERSION.
func (c *Client) Plugin(ctx context.Context, use string) (*api.Plugin, error) {
	return get[api.Plugin](ctx, c, pluginPath(use), nil)
}

// PushPlugin puts a package into the repository. signature is the text of a minisign signature; "": none.
func (c *Client) PushPlugin(ctx context.Context, pack []byte, signature string) (*api.Plugin, error) {
	return post[api.Plugin](ctx, c, "/plugins", api.NewPlugin{Package: pack, Signature: signature})
}

// TakePlugin lets the server take a plug-in from a registry of containers, by oci://HOST/PATH/OWNER/NAME:VERSION.
func (c *Client) TakePlugin(ctx context.Context, source string) (*api.Plugin, error) {
	return post[api.Plugin](ctx, c, "/plugins", api.NewPlugin{Source: source})
}

// ApprovePlugin says that crawls may use a plug-in.
func (c *Client) ApprovePlugin(ctx context.Context, use string) (*api.Plugin, error) {
	return post[api.Plugin](ctx, c, pluginPath(use)+":approve", nil)
}

// DisablePlugin says that a plug-in must not be used any more.
func (c *Client) DisablePlugin(ctx context.Context, use, why string) (*api.Plugin, error) {
	return post[api.Plugin](ctx, c, pluginPath(use)+":disable", api.Disabling{Why: why})
}

func pluginPath(use string) string {
	name, version, _ := strings.Cut(use, "@")
	owner, name, _ := strings.Cut(name, "/")
	return "/plugins/" + url.PathEscape(owner) + "/" + url.PathEscape(name) + "/" + url.PathEscape(version)
}
