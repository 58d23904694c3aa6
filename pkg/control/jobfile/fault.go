package jobfile

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// explain finds the keys for which a file cannot be read into a job, with their lines. What the library said, which
// names Go's types, is the answer only where nothing better is found.
func explain(data []byte, err error) error {
	var doc yaml.Node
	if e := yaml.Unmarshal(data, &doc); e != nil || len(doc.Content) == 0 {
		return err // no YAML at all: err says where
	}
	var s seeker
	s.seek(doc.Content[0], reflect.TypeFor[crawl.Job](), "")
	if len(s.faults) == 0 {
		return err
	}
	return errors.Join(s.faults...)
}

// seeker looks for the parts of a file that cannot be read.
type seeker struct{ faults []error }

func (s *seeker) add(fault error) { s.faults = append(s.faults, fault) }

// seek compares a part of the file with the type that its key has.
func (s *seeker) seek(n *yaml.Node, t reflect.Type, path string) {
	if len(s.faults) > maxFaults {
		return
	}
	fault := func(format string, args ...any) { s.add(faultAt(n, path, format, args...)) }
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		s.seekKeys(n, t, path)
	case t.Kind() == reflect.Struct:
		fault("%s: want keys with values, not %s", shown(path), text(n))
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			s.seek(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case t.Kind() == reflect.Slice:
		fault("%s: want a list, as in [a, b], not %s", shown(path), text(n))
	case t.Kind() == reflect.Int && n.Tag == "!!float": // which the library would cut to a whole number
		fault("%s: want a whole number, not %s", shown(path), text(n))
	case t.Kind() == reflect.Int && isOctal(n):
		s.octal(n, path)
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Interface: // the settings of a plug-in
		s.seekOctal(n, path)
		fallthrough
	default:
		if err := n.Decode(reflect.New(t).Interface()); err != nil {
			fault("%s: %v", shown(path), plain(err, n, t))
		}
	}
}

// octalLike is how YAML 1.1 writes an octal number. YAML 1.2 takes it for a decimal one, and so does who writes it.
var octalLike = regexp.MustCompile(`^[-+]?0[0-7_]*[0-7]$`)

func isOctal(n *yaml.Node) bool { return n.Tag == "!!int" && octalLike.MatchString(n.Value) }

func (s *seeker) octal(n *yaml.Node, path string) {
	s.add(faultAt(n, path, "%s: %s would be an octal number: write it without its first 0, or a text in quotation marks",
		shown(path), text(n)))
}

// seekOctal looks for octal numbers where values have any type.
func (s *seeker) seekOctal(n *yaml.Node, path string) {
	if isOctal(n) && len(s.faults) <= maxFaults {
		s.octal(n, path)
	}
	for i, part := range n.Content {
		switch n.Kind {
		case yaml.MappingNode:
			if i%2 == 1 {
				s.seekOctal(part, path+"."+n.Content[i-1].Value)
			}
		case yaml.SequenceNode:
			s.seekOctal(part, fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// faultAt is a fault at a part of the file.
func faultAt(n *yaml.Node, key, format string, args ...any) error {
	return &Fault{Key: key, Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...)}
}

// seekKeys looks at the keys of a mapping.
func (s *seeker) seekKeys(n *yaml.Node, t reflect.Type, path string) {
	types, names := map[string]reflect.Type{}, []string{}
	for i := range t.NumField() {
		if name := crawl.KeyOf(t.Field(i)); name != "" {
			types[name], names = t.Field(i).Type, append(names, name)
		}
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content) && len(s.faults) <= maxFaults; i += 2 {
		key, at := n.Content[i], n.Content[i].Value
		if path != "" {
			at = path + "." + at
		}
		switch first, again := lines[key.Value]; {
		case again:
			s.add(faultAt(key, at, "%s stands on line %d already", at, first))
		case types[key.Value] != nil:
			s.seek(n.Content[i+1], types[key.Value], at)
		case key.Tag == "!!merge":
			s.seekMerged(n.Content[i+1], t, path)
		case key.Kind != yaml.ScalarNode:
			s.add(faultAt(key, path, "a key of %s is a word, not %s", shown(path), text(key)))
		default:
			s.add(faultAt(key, at, "there is no key %s; %s", at, suggest(key.Value, path, names)))
		}
		lines[key.Value] = key.Line
	}
}

// seekMerged looks at keys that are taken from elsewhere in the file: "<<: *name", or a list of these.
func (s *seeker) seekMerged(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.SequenceNode {
		s.seek(n, t, path)
		return
	}
	for _, part := range n.Content {
		s.seek(part, t, path)
	}
}

// plain says in the words of a job file what is wrong with a value.
func plain(err error, n *yaml.Node, t reflect.Type) error {
	if e := (*yaml.TypeError)(nil); !errors.As(err, &e) {
		return err // of a type of ours
	}
	want := "a whole number"
	switch t {
	case reflect.TypeFor[crawl.Duration]():
		return fmt.Errorf("want a time, as in 500ms, 1s or 2m, not %s", text(n))
	case reflect.TypeFor[crawl.Size]():
		return fmt.Errorf("want a size, as in 1048576, 64k or 10MiB, not %s", text(n))
	}
	switch t.Kind() {
	case reflect.Bool:
		want = "true or false"
	case reflect.Float64:
		want = "a number"
	case reflect.String:
		want = "a text"
	}
	return fmt.Errorf("want %s, not %s", want, text(n))
}

func shown(path string) string {
	if path == "" {
		return "the file"
	}
	return path
}

// text shows a part of the file.
func text(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	if len(n.Value) > 60 {
		return fmt.Sprintf("%q …", n.Value[:60])
	}
	return fmt.Sprintf("%q", n.Value)
}
