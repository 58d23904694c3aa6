package process

import (
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// Print writes the configuration as a file that Load reads, its secrets masked, with the variable of each setting
// beside it.
func (c *Config) Print(w io.Writer) error {
	var doc yaml.Node
	if err := doc.Encode(c); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	annotate("", &doc)
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return fmt.Errorf("print the configuration: %w", err)
	}
	return enc.Close()
}

// annotate puts the name of its variable beside each setting of a mapping.
func annotate(path string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := prefixed(path, ".") + name.Value
		if value.Kind == yaml.MappingNode {
			annotate(key, value)
			continue
		}
		value.Style |= yaml.FlowStyle // lists on one line
		value.LineComment = envOf(key)
	}
}
