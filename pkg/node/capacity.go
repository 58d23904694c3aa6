package node

import (
	"maps"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
)

// Capacity is how many messages each stage of a program may handle at once, changed while it runs.
type Capacity struct {
	bounds   map[Role]*bus.Bound
	standard map[Role]int // without a change
}

// Adjust lets the workers of all stages be changed while they run.
func (c *Config) Adjust() *Capacity {
	out := &Capacity{bounds: map[Role]*bus.Bound{}, standard: map[Role]int{}}
	c.Workers = maps.Clone(c.Workers)
	for role, w := range c.Workers {
		out.bounds[role], out.standard[role] = bus.NewBound(w.Max), w.Max
		c.Workers[role] = out.of(role, w)
	}
	return out
}

// of are workers that follow the capacity.
func (c *Capacity) of(role Role, w bus.Workers) bus.Workers {
	w.Bound = c.bounds[role]
	return w
}

// Set bounds the messages that a stage handles at once; below 0: as it was configured. Those in hand are finished. At 0
// the stage takes nothing: of a directory's stages none may have that, because their handlers end with it.
func (c *Capacity) Set(role Role, n int) {
	b := c.bounds[role]
	switch {
	case b == nil:
	case n < 0:
		b.Set(c.standard[role])
	default:
		b.Set(n)
	}
}

// Standard is the bound of a stage without a change.
func (c *Capacity) Standard(role Role) int { return c.standard[role] }

// Workers are the bounds of stages now, by their names.
func (c *Capacity) Workers(roles ...Role) map[string]int {
	out := map[string]int{}
	for _, r := range roles {
		out[string(r)] = c.bounds[r].Get()
	}
	return out
}
