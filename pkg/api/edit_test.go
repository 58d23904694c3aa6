package api

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// A key that a patch takes out (null, as RFC 7396 has it) is at its default again, and no other changes.
func TestAKeyThatAPatchTakesOutHasItsDefault(t *testing.T) {
	job := crawl.DefaultJob()
	data, err := crawl.EncodeJob(&job)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	for key := range keys {
		got, err := merged(t.Context(), &job, map[string]any{key: nil})
		if err != nil || !reflect.DeepEqual(got, &job) {
			t.Errorf("without %s the default job is %+v, %v; want %+v", key, got, err, job)
		}
	}
	set := job
	set.MaxDepth, set.Exclude, set.Politeness.Delay = 3, []string{"/x/"}, 0
	got, err := merged(t.Context(), &set, map[string]any{"max_depth": nil, "politeness": map[string]any{"delay": nil}})
	if err != nil || got.MaxDepth != job.MaxDepth || got.Politeness.Delay != job.Politeness.Delay ||
		!reflect.DeepEqual(got.Exclude, set.Exclude) {
		t.Errorf("%+v, %v", got, err)
	}
}
