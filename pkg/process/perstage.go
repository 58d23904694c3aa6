package process

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// PerStage is a section of settings with one for each stage, by the stage's name. Copies of a Config share it.
type PerStage[T any] struct {
	names  []string // in the order of the pipeline's table
	values map[string]*T
}

// Of returns the setting of a stage; the zero value where it has none.
func (p PerStage[T]) Of(stage string) (v T) {
	if at := p.values[stage]; at != nil {
		v = *at
	}
	return v
}

// Set sets the setting of a stage.
func (p *PerStage[T]) Set(stage string, v T) {
	if at := p.values[stage]; at != nil {
		*at = v
		return
	}
	if p.values == nil {
		p.values = map[string]*T{}
	}
	p.names, p.values[stage] = append(p.names, stage), &v
}

// section is a group of settings whose names are not those of fields.
type section interface {
	each(do func(name string, value reflect.Value))
}

// each implements section.
func (p PerStage[T]) each(do func(name string, value reflect.Value)) {
	for _, name := range p.names {
		do(name, reflect.ValueOf(p.values[name]).Elem())
	}
}

// MarshalYAML implements yaml.Marshaler: a mapping in the order of the table.
func (p PerStage[T]) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range p.names {
		var key, value yaml.Node
		key.SetString(name)
		if err := value.Encode(p.values[name]); err != nil {
			return nil, fmt.Errorf("setting of stage %s: %w", name, err)
		}
		n.Content = append(n.Content, &key, &value)
	}
	return n, nil
}

// defaultWorkers are those of the pipeline's table, for the stages whose bound has no setting elsewhere.
func defaultWorkers() (p PerStage[int]) {
	for _, s := range crawl.Stages() {
		if s.Workers.Setting == "" {
			p.Set(s.Name, s.Workers.Max)
		}
	}
	return p
}

// defaultLimits are those of the pipeline's table.
func defaultLimits() (p PerStage[crawl.Duration]) {
	for _, s := range crawl.Stages() {
		p.Set(s.Name, crawl.Duration(s.Limit))
	}
	return p
}
