package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/oci"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/repo"
)

// pluginPlace is where plug-ins are kept: a repository, or a server that has one.
type pluginPlace interface {
	All(ctx context.Context) ([]repo.Item, error)
	Show(ctx context.Context, use string) (repo.Item, error)
	push(ctx context.Context, p *repo.Package, signature []byte) (repo.Trust, error)
	// take pushes what a registry of containers has.
	take(ctx context.Context, artifact string) (use, digest string, t repo.Trust, err error)
	// approve and disable return the digest of what the name means.
	approve(ctx context.Context, use string) (digest string, err error)
	disable(ctx context.Context, use, why string) (digest string, err error)
}

// pluginsHere are those of a repository that this program reads itself.
type pluginsHere struct{ *repo.Repository }

func (h pluginsHere) push(ctx context.Context, p *repo.Package, signature []byte) (repo.Trust, error) {
	if err := h.Push(ctx, p, signature); err != nil {
		return repo.Trust{}, err
	}
	return h.Trust(ctx, p)
}

func (h pluginsHere) take(ctx context.Context, artifact string) (use, digest string, t repo.Trust, err error) {
	from, use, err := oci.Artifact(artifact, oci.Settings{AllowPrivate: true})
	if err != nil {
		return "", "", t, usage("%v", err)
	}
	f, err := repo.Fetch(ctx, from, use)
	if err != nil {
		return "", "", t, err
	}
	if err := h.Keep(ctx, f); err != nil {
		return "", "", t, err
	}
	t, err = h.Trust(ctx, f.Package)
	return use, f.Digest, t, err
}

func (h pluginsHere) approve(ctx context.Context, use string) (string, error) {
	digest, err := digestOf(ctx, h.Repository, use)
	if err != nil {
		return "", err
	}
	return digest, h.Approve(ctx, digest, me())
}

func (h pluginsHere) disable(ctx context.Context, use, why string) (string, error) {
	digest, err := digestOf(ctx, h.Repository, use)
	if err != nil {
		return "", err
	}
	return digest, h.Disable(ctx, digest, me(), why)
}

// digestOf takes a name or a digest.
func digestOf(ctx context.Context, d *repo.Repository, name string) (string, error) {
	if strings.HasPrefix(name, "sha256:") {
		return name, nil
	}
	return d.Digest(ctx, name)
}

// pluginsThere are those of a server.
type pluginsThere struct{ c *client.Client }

// All implements pluginPlace.
func (t pluginsThere) All(ctx context.Context) (items []repo.Item, err error) {
	list, err := t.c.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list.Items {
		items = append(items, itemOf(&list.Items[i]))
	}
	var faults []error
	for _, f := range list.Faults {
		faults = append(faults, errors.New(f))
	}
	return items, errors.Join(faults...)
}

// Show implements pluginPlace.
func (t pluginsThere) Show(ctx context.Context, use string) (repo.Item, error) {
	if err := isUse(use); err != nil {
		return repo.Item{}, err
	}
	p, err := t.c.Plugin(ctx, use)
	if err != nil {
		return repo.Item{}, err
	}
	return itemOf(p), nil
}

func (t pluginsThere) push(ctx context.Context, p *repo.Package, signature []byte) (repo.Trust, error) {
	got, err := t.c.PushPlugin(ctx, p.Bytes, string(signature))
	if err != nil {
		return repo.Trust{}, err
	}
	return got.Trust, nil
}

func (t pluginsThere) take(ctx context.Context, artifact string) (use, digest string, trust repo.Trust, err error) {
	p, err := t.c.TakePlugin(ctx, artifact)
	if err != nil {
		return "", "", trust, err
	}
	return p.Use, p.Digest, p.Trust, nil
}

func (t pluginsThere) approve(ctx context.Context, use string) (string, error) {
	return t.say(use, func() (*api.Plugin, error) { return t.c.ApprovePlugin(ctx, use) })
}

func (t pluginsThere) disable(ctx context.Context, use, why string) (string, error) {
	return t.say(use, func() (*api.Plugin, error) { return t.c.DisablePlugin(ctx, use, why) })
}

func (t pluginsThere) say(use string, what func() (*api.Plugin, error)) (string, error) {
	if err := isUse(use); err != nil {
		return "", err
	}
	p, err := what()
	if err != nil {
		return "", err
	}
	return p.Digest, nil
}

// isUse refuses what a server's address cannot be made of.
func isUse(use string) error {
	name, version, _ := strings.Cut(use, "@")
	if owner, name, _ := strings.Cut(name, "/"); owner == "" || name == "" || version == "" {
		return usage("%q names no plug-in of a server: give OWNER/NAME@VERSION", use)
	}
	return nil
}

// itemOf is a plug-in of a server as a repository lists it.
func itemOf(p *api.Plugin) repo.Item {
	d := &plugin.Descriptor{Name: p.Name, Version: p.Version, Tier: plugin.Tier(p.Tier), Summary: p.Summary,
		Authors: p.Authors, License: p.License, Limits: p.Limits, Config: p.Config}
	for _, s := range p.Serves {
		d.Serves = append(d.Serves, plugin.Serves{Point: crawl.Point(s.Point), Needs: s.Needs, Adds: s.Adds})
	}
	return repo.Item{Descriptor: d, Digest: p.Digest, Pushed: p.Pushed, Trust: p.Trust}
}

// with opens the place that a command is about, this machine's, a cluster's or a server's, for a while.
func (p *pluginFlags) with(ctx context.Context, do func(pluginPlace) error) error {
	cluster, server := p.cluster.asked(), p.server.asked()
	switch {
	case cluster && server:
		return usage("--cluster names a cluster and --server or --context a server: give one of them")
	case p.dir != "" && (cluster || server):
		return usage("--plugins names a directory of this machine, and there is a cluster or a server, too: give one of them")
	case server:
		c, err := p.server.open()
		if err != nil {
			return err
		}
		return do(pluginsThere{c})
	case cluster:
		d, shut, err := p.openCluster(ctx)
		if err != nil {
			return err
		}
		defer shut()
		return errors.Join(do(pluginsHere{d}), d.Close())
	}
	d, err := p.open()
	if err != nil {
		return fmt.Errorf("the repository of this machine: %w", err)
	}
	return errors.Join(do(pluginsHere{d}), d.Close())
}
