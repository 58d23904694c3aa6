package crawl_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The table is whole: every topic has one consumer and somebody who publishes to it, and no stage publishes to a topic
// that nobody consumes.
func TestThePipelineIsClosed(t *testing.T) {
	takes, gives, stages := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, s := range crawl.Stages() {
		if stages[s.Name] || s.Name == "" {
			t.Errorf("stage %q stands in the table twice, or has no name", s.Name)
		}
		stages[s.Name] = true
		for _, topic := range s.Takes {
			takes[topic.Name]++
		}
		for _, name := range s.Gives {
			gives[name] = true
		}
		if s.Workers.Min < 1 || s.Workers.Max < s.Workers.Min || s.Limit <= 0 {
			t.Errorf("stage %s: workers %+v, limit %v", s.Name, s.Workers, s.Limit)
		}
	}
	for name, n := range takes {
		if n != 1 || !gives[name] {
			t.Errorf("topic %s: %d stages consume it; published to: %v", name, n, gives[name])
		}
	}
	for name := range gives {
		if takes[name] == 0 {
			t.Errorf("topic %s: nobody consumes it", name)
		}
	}
}

// Each topic carries the events that name it, or those of a stage that the table routes to it.
func TestEachTopicHasItsEvent(t *testing.T) {
	for _, topic := range crawl.Topics() {
		e := topic.Event()
		if e.Topic() == topic.Name {
			continue
		}
		if !slices.ContainsFunc(crawl.Stages(),
			func(s crawl.Stage) bool { return s.Routes()[reflect.TypeOf(e)] == topic.Name }) {
			t.Errorf("topic %s carries %T, which goes to %s", topic.Name, e, e.Topic())
		}
	}
	for _, name := range []string{"", "fetch.retry", "dead"} {
		if e, err := crawl.DecodeEvent(name, nil); err == nil || !crawl.IsPermanent(err) {
			t.Errorf("topic %q gave %v, %v", name, e, err)
		}
	}
}
