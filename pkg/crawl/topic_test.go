package crawl_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

func TestRelevance(t *testing.T) {
	for _, c := range []struct {
		p      float64
		text   string
		low    bool
		weight int // of a link that no rule weighs
	}{
		{0, "0", true, 1}, {0.0994, "0.099", true, 1}, {0.1, "0.1", false, 1}, {0.12, "0.12", false, 2},
		{0.5, "0.5", false, 5}, {0.8881, "0.888", false, 8}, {1, "1", false, 9}, {1.5, "1", false, 9}, {-1, "0", true, 1},
	} {
		r := crawl.RelevanceOf(c.p)
		if !r.Known() || r.String() != c.text || r.Low() != c.low || r.Weight(0) != c.weight {
			t.Errorf("P %v: known %v, %s, low %v, weight %d; want %+v", c.p, r.Known(), r, r.Low(), r.Weight(0), c)
		}
	}
	var none crawl.Relevance
	if none.Known() || none.Low() || none.Weight(7) != 7 || none.Weight(0) != 0 {
		t.Error("a job without a topic weighs links by it")
	}
	if crawl.RelevanceOf(0.2).Weight(7) != 7 {
		t.Error("a rule's own weight does not count")
	}
}

func TestHostTrial(t *testing.T) {
	same := func(p float64, n int) (ps []float64) {
		for range n {
			ps = append(ps, p)
		}
		return ps
	}
	for _, c := range []struct {
		name  string
		ps    []float64
		trial int
		want  crawl.HostVerdict
		tried int
	}{
		{"too few", same(0.9, 4), 20, crawl.HostOpen, 0},
		{"on topic", same(0.9, 5), 20, crawl.HostOn, 5},
		{"off topic", same(0.05, 10), 20, crawl.HostOff, 10},
		{"not yet off topic", same(0.05, 9), 20, crawl.HostOpen, 0},
		{"between", same(0.3, 19), 20, crawl.HostOpen, 0},
		{"between, and the trial ends", same(0.3, 20), 20, crawl.HostOff, 20},
		{"better and better", append(same(0.2, 6), same(0.95, 6)...), 20, crawl.HostOn, 11},
		{"a short trial, passed", same(0.9, 2), 2, crawl.HostOn, 2},
		{"a short trial, failed", same(0.4, 2), 2, crawl.HostOff, 2},
	} {
		var h crawl.HostTrial
		for i, p := range c.ps {
			for range 2 { // each message comes twice
				h.Add(crawl.TriedPage{By: uint64(i), Relevance: crawl.RelevanceOf(p)}, c.trial, 0.5)
			}
		}
		if h.Verdict != c.want || h.Tried != c.tried {
			t.Errorf("%s: verdict %v of %d pages, want %v of %d", c.name, h.Verdict, h.Tried, c.want, c.tried)
		}
		if h.Verdict != crawl.HostOpen && h.Add(crawl.TriedPage{By: 1000, Relevance: 1001}, c.trial, 0.5) {
			t.Errorf("%s: a verdict is not final", c.name)
		}
	}
	var h crawl.HostTrial
	if h.Add(crawl.TriedPage{By: 1}, 20, 0.5) || len(h.Pages) != 0 {
		t.Error("a page whose relevance is not known counts")
	}
}

func TestTopicChecks(t *testing.T) {
	for _, c := range []struct {
		key   string // at fault; empty: none
		topic crawl.Theme
	}{
		{"", crawl.Theme{}},
		{"", crawl.Theme{Examples: []string{"http://a.test/"}, Not: []string{"some words here"}, Threshold: 0.7,
			Explore: 0.1}},
		{"topic.examples", crawl.Theme{Not: []string{"http://a.test/"}}},
		{"topic.model", crawl.Theme{Examples: []string{"http://a.test/"}, Model: "m"}},
		{"topic.threshold", crawl.Theme{Examples: []string{"http://a.test/"}, Threshold: 1}},
		{"topic.explore", crawl.Theme{Examples: []string{"http://a.test/"}, Explore: 2}},
		{"topic.host_trial", crawl.Theme{Examples: []string{"http://a.test/"}, HostTrial: -2}},
		{"topic.examples", crawl.Theme{Examples: make([]string, crawl.MaxTopicExamples+1)}},
	} {
		job := crawl.DefaultJob()
		job.ID, job.Seeds, job.Topic = "test", []string{"http://a.test/"}, c.topic
		err := job.Validate()
		var fault *crawl.KeyError
		if (err == nil) != (c.key == "") || err != nil && (!errors.As(err, &fault) || fault.Key != c.key) {
			t.Errorf("%+v: %v, want a fault of %q", c.topic, err, c.key)
		}
	}
}

func TestModelsStayWithTheirTopic(t *testing.T) {
	before := crawl.Job{Topic: crawl.Theme{Examples: []string{"a b c"}}, TopicModel: "learned", TopicExamples: "x",
		TopicSeen: 60, Classify: crawl.Classify{Model: "m"}, ClassModel: "classes"}
	same := crawl.Job{Topic: crawl.Theme{Examples: []string{"a b c"}, Threshold: 0.9}, TopicExamples: "read again",
		Classify: crawl.Classify{Model: "m"}}
	if same.KeepModels(&before); same.TopicModel != "learned" || same.TopicSeen != 60 || same.TopicExamples != "x" ||
		same.ClassModel != "classes" {
		t.Errorf("what was learned is lost: %+v", same)
	}
	other := crawl.Job{Topic: crawl.Theme{Examples: []string{"d e f"}}, TopicExamples: "new"}
	if other.KeepModels(&before); other.TopicModel != "" || other.TopicExamples != "new" || other.ClassModel != "" {
		t.Errorf("a model of another topic stays: %+v", other)
	}
	var none crawl.Job
	if none.KeepModels(&before); none.Topical() {
		t.Error("a job without a topic gets one")
	}
}

// A model is no text for people, and no part of the settings that a job file has.
func TestModelsAreNotShown(t *testing.T) {
	a, b := crawl.DefaultJob(), crawl.DefaultJob()
	b.TopicModel, b.ClassModel = crawl.BlobOf(make([]byte, 1<<20)), crawl.BlobOf([]byte("x"))
	for _, c := range crawl.Changes(&a, &b) {
		if len(c.To) > 60 {
			t.Errorf("%s shows %d bytes", c.Key, len(c.To))
		}
	}
	settings, err := b.Settings()
	if err != nil || strings.Contains(string(settings), "_model") {
		t.Errorf("settings have the model: %v", err)
	}
	stored, err := crawl.EncodeJob(&b)
	if err != nil {
		t.Fatal(err)
	}
	back, err := crawl.DecodeJob(stored, 1)
	if err != nil || back.TopicModel != b.TopicModel {
		t.Errorf("a stored job loses its model: %v", err)
	}
	if got, err := back.TopicModel.Bytes(); err != nil || !reflect.DeepEqual(got, make([]byte, 1<<20)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
