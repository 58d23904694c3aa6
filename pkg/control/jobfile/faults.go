package jobfile

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Fault is something wrong with a job file, and where it stands.
type Fault struct { //nolint:errname // it is an entry of a list too
	Key          string // as in politeness.delay or exclude[2]; empty: none in particular
	Line, Column int    // from 1; 0: not known
	Message      string // for people, with the key and without the line
}

// Error implements error.
func (f *Fault) Error() string {
	if f.Line > 0 {
		return "line " + strconv.Itoa(f.Line) + ": " + f.Message
	}
	return f.Message
}

// Faults takes an error of Parse, or of the validation of a job, apart: the first hundred, and a last one that counts
// the others. data is the file.
func Faults(data []byte, err error) (out []Fault) {
	p := places{}
	_ = yaml.Unmarshal(data, &p.doc) // a file that is none has no places
	all := flat(err)
	for _, e := range all[:min(len(all), maxFaults)] {
		f := p.faultOf(e)
		f.Key, f.Message = shortened(f.Key), shortened(f.Message)
		out = append(out, f)
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, Fault{Message: fmt.Sprintf("there are at least %d more faults: correct these first", more)})
	}
	return out
}

// places finds where in a file its faults are.
type places struct {
	doc   yaml.Node
	seeds map[string]int // that are wrong, by what is said of them; nil: they were not looked for
}

// flat is an error's parts.
func flat(err error) (out []error) {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // its own parts are wanted
		for _, e := range many.Unwrap() {
			out = append(out, flat(e)...)
		}
		return out
	}
	return []error{err}
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line ([0-9]+): `)

func (p *places) faultOf(err error) Fault {
	if f := (*Fault)(nil); errors.As(err, &f) {
		return *f
	}
	out := Fault{Message: err.Error()}
	if e := (*crawl.KeyError)(nil); errors.As(err, &e) {
		out.Key = e.Key
		if n := find(&p.doc, e.Key); n != nil {
			out.Line, out.Column = n.Line, n.Column
		}
	} else if m := yamlLine.FindStringSubmatch(out.Message); m != nil {
		out.Line, _ = strconv.Atoi(m[1])
		out.Message = out.Message[len(m[0]):]
	} else if i, n := p.seedOf(out.Message); n != nil {
		out.Key, out.Line, out.Column = "seeds["+strconv.Itoa(i)+"]", n.Line, n.Column
	}
	return out
}

// seedOf is the seed that a message is about; nil: none.
func (p *places) seedOf(message string) (int, *yaml.Node) {
	if !strings.HasPrefix(message, "seed ") {
		return 0, nil
	}
	all := find(&p.doc, "seeds")
	if all != nil && all.Kind == yaml.AliasNode {
		all = all.Alias
	}
	if all == nil || all.Kind != yaml.SequenceNode {
		return 0, nil
	}
	if p.seeds == nil {
		p.seeds = map[string]int{}
		for i, n := range all.Content {
			if _, err := crawl.ParseSeed(n.Value); err != nil {
				if _, known := p.seeds[err.Error()]; !known {
					p.seeds[err.Error()] = i
				}
			}
		}
	}
	i, known := p.seeds[message]
	if !known {
		return 0, nil
	}
	return i, all.Content[i]
}

var keyPart = regexp.MustCompile(`[^.\[\]]+`)

// find is the part of the file that a key names, else the closest around it; nil: the file does not have it.
func find(n *yaml.Node, key string) (found *yaml.Node) {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, part := range keyPart.FindAllString(key, -1) {
		next := child(n, part)
		if next == nil {
			break
		}
		n, found = next, next
	}
	return found
}

func child(n *yaml.Node, part string) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return n.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(strings.TrimSpace(part)); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}
