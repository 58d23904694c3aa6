package node

import (
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Waiting returns how many messages wait before each stage, of all jobs, by the stage's name.
func (e *Engine) Waiting() map[string]int {
	out := map[string]int{}
	for _, s := range crawl.Stages() {
		for _, t := range s.Takes {
			out[s.Name] += e.bus.Depth(t.Name)
		}
	}
	return out
}
