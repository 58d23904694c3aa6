package process

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader reads one YAML document into settings and gathers what is wrong with it.
type reader struct {
	name   string // of the file
	all    []setting
	seen   map[string]bool
	faults []error
}

// readYAML reads data, the content of the file name, into the settings. Every fault is named with its line.
func readYAML(name string, data []byte, all []setting) error {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: more than one document: want one configuration a file", name)
	}
	r := &reader{name: name, all: all, seen: map[string]bool{}}
	r.section("", doc.Content[0])
	return errors.Join(r.faults...)
}

func (r *reader) fault(at *yaml.Node, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %s", r.name, at.Line, fmt.Sprintf(format, args...)))
}

// section reads a mapping; "" is the whole file.
func (r *reader) section(path string, n *yaml.Node) {
	switch {
	case isNull(n): // a section without a word in it
		return
	case n.Kind != yaml.MappingNode:
		r.fault(n, "%swant settings as in key: value", prefixed(path, ": "))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		r.entry(prefixed(path, ".")+name.Value, name, value)
	}
}

func (r *reader) entry(key string, name, value *yaml.Node) {
	if r.seen[key] {
		r.fault(name, "%s stands here a second time", key)
		return
	}
	r.seen[key] = true
	if s, ok := find(r.all, key); ok {
		r.leaf(s, value)
		return
	}
	if slices.ContainsFunc(r.all, func(s setting) bool { return strings.HasPrefix(s.key, key+".") }) {
		r.section(key, value)
		return
	}
	r.fault(name, "unknown key %s%s", key, suggest(key, r.near(key)))
}

// near returns the keys and sections that may have been meant by key: those as deep as it is, else the settings.
func (r *reader) near(key string) []string {
	out := make([]string, 0, 2*len(r.all))
	depth := strings.Count(key, ".") + 1
	for _, s := range r.all {
		parts := strings.Split(s.key, ".")
		out = append(out, strings.Join(parts[:min(depth, len(parts))], "."), s.key)
	}
	return out
}

func (r *reader) leaf(s setting, n *yaml.Node) {
	switch {
	case n.Kind == yaml.ScalarNode && s.isList() && !isNull(n):
		r.fault(n, "%s: want a list, as in [a, b]", s.key)
	case n.Kind == yaml.ScalarNode:
		text := n.Value
		if isNull(n) {
			text = ""
		}
		if err := s.set(text); err != nil {
			r.fault(n, "%s: %v", s.key, err)
		}
	case n.Kind == yaml.SequenceNode && s.isList():
		items := make([]string, len(n.Content))
		for i, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				r.fault(item, "%s: want a list of words", s.key)
				return
			}
			items[i] = item.Value
		}
		s.setList(items)
	default:
		r.fault(n, "%s: want one value", s.key)
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// prefixed returns path and sep, or nothing for the file itself.
func prefixed(path, sep string) string {
	if path == "" {
		return ""
	}
	return path + sep
}
