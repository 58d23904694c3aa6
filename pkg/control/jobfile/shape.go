package jobfile

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Bounds of a file. The library takes time and memory in proportion to the square of a mapping's keys, and follows what
// a file names of itself again and again: a file of some kilobytes could take all there is.
const (
	maxParts  = 1_000_000 // with those that are named again
	maxKeys   = 10_000    // of a mapping
	maxFaults = 100       // that are told
)

// checkShape refuses a file that is too much to be read into a job, and keys that are in it twice.
func checkShape(data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil //nolint:nilerr // no YAML at all: who reads it says where
	}
	s := shape{parts: map[*yaml.Node]int{}}
	if s.size(&doc) > maxParts {
		s.faults = append(s.faults, faultAt(&doc, "",
			"the file names parts of itself too often: with them it has more than %d", maxParts))
	}
	return errors.Join(s.faults...)
}

// shape measures a file.
type shape struct {
	parts  map[*yaml.Node]int // of what has an anchor
	faults []error
}

// size counts the parts of a part.
func (s *shape) size(n *yaml.Node) int {
	if n.Kind == yaml.AliasNode {
		return 1 + s.parts[n.Alias] // an anchor is before what names it; one that is in itself is refused elsewhere
	}
	if n.Kind == yaml.MappingNode {
		s.keys(n)
	}
	sum := 1
	for _, part := range n.Content {
		sum = min(sum+s.size(part), maxParts+1)
	}
	if n.Anchor != "" {
		s.parts[n] = sum
	}
	return sum
}

func (s *shape) keys(n *yaml.Node) {
	if len(n.Content)/2 > maxKeys {
		s.faults = append(s.faults, faultAt(n, "", "%d keys in one place: want at most %d", len(n.Content)/2, maxKeys))
		return
	}
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content) && len(s.faults) <= maxFaults; i += 2 {
		key := n.Content[i]
		if first, again := lines[key.Value]; again && key.Kind == yaml.ScalarNode {
			s.faults = append(s.faults, faultAt(key, key.Value, "%s stands on line %d already", shortened(key.Value), first))
			continue
		}
		lines[key.Value] = key.Line
	}
}

// shortened is a text of which nobody reads more.
func shortened(text string) string {
	const most = 1000
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%.*s … (%d bytes)", most, text, len(text))
}
