package crawl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
)

// The ends of a pipeline: nodes at provider give seeds, nodes at output write what was stored. They come with the
// program, for what they read and write outlasts a message.

// At returns the nodes at a point, by their places in the list.
func (p *Pipeline) At(at Point) map[int]*PluginNode {
	var out map[int]*PluginNode
	for i := range p.Nodes {
		if p.Nodes[i].At == at {
			if out == nil {
				out = map[int]*PluginNode{}
			}
			out[i] = &p.Nodes[i]
		}
	}
	return out
}

// Providers returns the names of the nodes that give seeds, in the order of the list.
func (p *Pipeline) Providers() (ids []string) {
	for i := range p.Nodes {
		if p.Nodes[i].At == AtProvider {
			ids = append(ids, p.Nodes[i].ID)
		}
	}
	return ids
}

// SeedFrom gives the job these seeds in the place of all that it had.
func (j *Job) SeedFrom(seeds []string) {
	j.Seeds, j.SeedList = seeds, ""
	if j.Pipeline.Provided() {
		nodes := slices.Clone(j.Pipeline.Nodes)
		j.Pipeline.Nodes = slices.DeleteFunc(nodes, func(n PluginNode) bool { return n.At == AtProvider })
	}
}

// Provided reports whether nodes of the pipeline give seeds.
func (p *Pipeline) Provided() bool { return p.hasAt(AtProvider) }

// Packs reports whether a node of the pipeline packs the archive of the crawl, so that it needs one.
func (p *Pipeline) Packs() bool {
	return slices.ContainsFunc(p.Nodes, func(n PluginNode) bool {
		file, _ := n.With["file"].(string)
		return n.At == AtOutput && strings.HasSuffix(file, ".wacz")
	})
}

// mapSecrets changes the texts in the settings of outputs. It leaves what other pipelines share as it is.
func (p *Pipeline) mapSecrets(change func(text *string)) {
	p.Nodes = slices.Clone(p.Nodes)
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.At != AtOutput {
			continue
		}
		n.With = maps.Clone(n.With)
		for key, value := range n.With {
			switch value := value.(type) {
			case string:
				change(&value)
				n.With[key] = value
			case []any:
				list := slices.Clone(value)
				for k := range list {
					if text, is := list[k].(string); is {
						change(&text)
						list[k] = text
					}
				}
				n.With[key] = list
			}
		}
	}
}

// SecretRefs are the settings of outputs that refer to secrets, by their keys.
func (p *Pipeline) SecretRefs() map[string]string {
	refs := map[string]string{}
	for i, n := range p.At(AtOutput) {
		add := func(key string, value any) {
			if text, is := value.(string); is && secret.IsReference(text) {
				refs[nodeKey(i, "with."+key)] = text
			}
		}
		for key, value := range n.With {
			add(key, value)
			list, _ := value.([]any)
			for k := range list {
				add(fmt.Sprintf("%s[%d]", key, k), list[k])
			}
		}
	}
	return refs
}

// Delivers reports whether nodes of the pipeline write what was stored.
func (p *Pipeline) Delivers() bool { return p.hasAt(AtOutput) }

func (p *Pipeline) hasAt(at Point) bool {
	return slices.ContainsFunc(p.Nodes, func(n PluginNode) bool { return n.At == at })
}

// Listed reports whether seeds stand elsewhere than in the job: in a list, or where a node of its pipeline takes them
// from. They may be any number.
func (j *Job) Listed() bool { return j.SeedList != "" || j.Pipeline.Provided() }

// Unseeded reports whether nothing says where the job begins.
func (j *Job) Unseeded() bool { return len(j.Seeds) == 0 && !j.Listed() }

// providerFiles are the settings of providers that name a file or a directory.
var providerFiles = []string{"file", "dir"}

// MapFiles changes the names of files that providers read, and calls each with the key of the setting. It leaves what
// other pipelines share as it is.
func (p *Pipeline) MapFiles(change func(key, name string) string) {
	cloned := false
	for i := range p.Nodes {
		for _, setting := range providerFiles {
			name, is := p.Nodes[i].With[setting].(string)
			if p.Nodes[i].At != AtProvider || !is || name == "" {
				continue
			}
			next := change(nodeKey(i, "with."+setting), name)
			if next == name {
				continue
			}
			if !cloned {
				p.Nodes, cloned = slices.Clone(p.Nodes), true
			}
			p.Nodes[i].With = maps.Clone(p.Nodes[i].With)
			p.Nodes[i].With[setting] = next
		}
	}
}

// checkEnd finds what nodes at provider and output cannot have.
func (n *PluginNode) checkEnd(i int) (errs []error) {
	if n.At != AtProvider && n.At != AtOutput {
		return nil
	}
	bad := func(cond bool, key, problem string) {
		if cond {
			errs = append(errs, &KeyError{nodeKey(i, key), problem})
		}
	}
	at := " at " + string(n.At)
	bad(!strings.HasPrefix(n.Use, "builtin/"), "use",
		n.Use+": nodes"+at+" come with the program: their names begin with builtin/")
	bad(n.OnError != "", "on_error", "a node"+at+" tries again until it can: leave it out")
	bad(n.Timeout != 0, "timeout", "a node"+at+" takes the time that it needs: leave it out")
	return errs
}
