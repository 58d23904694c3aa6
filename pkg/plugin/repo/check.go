package repo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/expr"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/manifest"
)

// Check finds what is wrong with the nodes of a pipeline, as far as their plug-ins tell it: that they are known and may
// be used, serve the point and take the settings, and that each condition compiles. Its errors are *crawl.KeyError,
// with keys such as pipeline.nodes[2].with.min.
func Check(ctx context.Context, source plugin.Source, pipeline *crawl.Pipeline) (errs []error) {
	for i := range pipeline.Nodes {
		errs = append(errs, checkNode(ctx, source, i, &pipeline.Nodes[i])...)
	}
	return errs
}

func checkNode(ctx context.Context, source plugin.Source, i int, n *crawl.PluginNode) (errs []error) {
	bad := func(key, format string, args ...any) {
		errs = append(errs, &crawl.KeyError{Key: fmt.Sprintf("pipeline.nodes[%d].%s", i, key),
			Problem: fmt.Sprintf(format, args...)})
	}
	if n.When != "" {
		if _, err := expr.Condition(n.At, n.When); err != nil {
			bad("when", "%q: %v", n.When, err)
		}
	}
	p, err := source.Plugin(ctx, n.Use, n.Digest)
	if err != nil {
		var at *keyError
		if errors.As(err, &at) {
			bad(at.key, "%s", at.text)
		} else {
			bad("use", "%v", err)
		}
		return errs
	}
	d := p.Descriptor()
	if _, ok := d.ServesAt(n.At); !ok {
		bad("at", "%q: %s serves %s", n.At, n.Use, servedBy(d))
		return errs
	}
	faults, err := checkSettings(ctx, p, n)
	if err != nil {
		bad("use", "%s: %v", n.Use, err)
	}
	for _, f := range faults {
		key := "with"
		if f.Path != "" {
			key += "." + f.Path
		}
		bad(key, "%s", f.Text)
	}
	return errs
}

func servedBy(d *plugin.Descriptor) string {
	points := make([]string, 0, len(d.Serves))
	for _, s := range d.Serves {
		points = append(points, string(s.Point))
	}
	return strings.Join(points, ", ")
}

// checkSettings asks the schema, and then the plug-in itself. An error is no fault of the settings.
func checkSettings(ctx context.Context, p plugin.Plugin, n *crawl.PluginNode) ([]*plugin.ConfigError, error) {
	schema, err := manifest.SchemaOf(p.Descriptor())
	if err != nil {
		return nil, err
	}
	if faults := schema.Check(n.With); len(faults) > 0 {
		return faults, nil
	}
	instance, err := p.Configure(ctx, n.At, n.With)
	if err == nil {
		err = instance.Close()
	}
	var fault *plugin.ConfigError
	if errors.As(err, &fault) {
		return []*plugin.ConfigError{fault}, nil
	}
	return nil, err
}

// Digests says which bytes a name means.
type Digests interface {
	// Digest returns the digest of a name OWNER/NAME@VERSION.
	Digest(ctx context.Context, use string) (string, error)
}

// Pin gives each node the digest of its plug-in, where it has none: a stored version of a workflow always means the
// same bytes.
func Pin(ctx context.Context, digests Digests, pipeline *crawl.Pipeline) error {
	for i := range pipeline.Nodes {
		n := &pipeline.Nodes[i]
		if n.Digest != "" || strings.HasPrefix(n.Use, "builtin/") {
			continue
		}
		digest, err := digests.Digest(ctx, n.Use)
		if err != nil {
			return &crawl.KeyError{Key: fmt.Sprintf("pipeline.nodes[%d].use", i), Problem: err.Error()}
		}
		n.Digest = digest
	}
	return nil
}
