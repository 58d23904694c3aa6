package crawl

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zeebo/xxh3"
)

// Theme says what a crawl is about. Pages get a probability of being about it, the better ones' links come first, and
// what leads nowhere is left out; docs/topical.md.
type Theme struct {
	// pages that are about the topic: URLs, which are fetched when the job begins, files (.html, .txt, pages.jsonl), or
	// texts of some words
	Examples []string `json:"examples,omitempty" yaml:"examples,omitempty"`
	// pages that are not, named likewise
	Not []string `json:"not,omitempty" yaml:"not,omitempty"`
	// directory or pages.jsonl of a crawl, whose pages stand for what is not the topic; empty, and no "not": the first
	// pages of this crawl, a tenth of max_pages, 60 to 400
	Background string `json:"background,omitempty" yaml:"background,omitempty"`
	// file of a model, made by "whirlpool tool topic train", instead of examples
	Model string `json:"model,omitempty" yaml:"model,omitempty"`
	// probability from which the pages of a host count as about the topic
	Threshold float64 `json:"threshold,omitempty" yaml:"threshold,omitempty"`
	// part of the draws that take from the least promising URLs
	Explore float64 `json:"explore,omitempty" yaml:"explore,omitempty"`
	// how long a host waits while others have pages that promise more
	Patience Duration `json:"patience,omitempty" yaml:"patience,omitempty"`
	// pages by which a host of no seed is judged, with scope any
	HostTrial int `json:"host_trial,omitempty" yaml:"host_trial,omitempty"`
}

// Classify says by which classes pages are told apart.
type Classify struct {
	// file of a model of several classes, made by "whirlpool tool topic train"
	Model string `json:"model,omitempty" yaml:"model,omitempty"`
}

// The defaults of a topic, and what does not change.
const (
	DefaultThreshold = 0.5
	DefaultExplore   = 0.1
	DefaultHostTrial = 20
	DefaultPatience  = 30 * time.Second
	// TopicLow is the probability below which a page is off the topic: links of two such pages in a row are left out.
	TopicLow = 0.1
	// MaxTopicExamples bounds examples and not, each.
	MaxTopicExamples = 1000
	maxTrial         = 1000
)

// Topical reports whether the crawl has a topic. Its model may be still to come: see TopicExamples.
func (j *Job) Topical() bool { return j.TopicModel != "" || j.TopicExamples != "" }

// LearnsTopic reports whether the job has examples and no model yet: its first pages make it.
func (j *Job) LearnsTopic() bool { return j.TopicExamples != "" && j.TopicModel == "" }

// Limit is the probability from which the pages of a host count as about the topic.
func (t *Theme) Limit() float64 {
	if t.Threshold <= 0 {
		return DefaultThreshold
	}
	return t.Threshold
}

// Exploring is the part of the draws that take from the least promising URLs.
func (t *Theme) Exploring() float64 {
	if t.Explore == 0 {
		return DefaultExplore
	}
	return max(t.Explore, 0)
}

// Waiting is how long a host waits while others have pages that promise more; 0: hosts take turns by time alone.
func (t *Theme) Waiting() time.Duration {
	if t.Patience == 0 {
		return DefaultPatience
	}
	return max(t.Patience.D(), 0)
}

// Trial is by how many pages a host is judged; 0: hosts are not judged.
func (t *Theme) Trial() int {
	if t.HostTrial == 0 {
		return DefaultHostTrial
	}
	return max(t.HostTrial, 0)
}

// JudgesHosts reports whether the job judges hosts by their pages.
func (j *Job) JudgesHosts() bool { return j.Topical() && j.Scope == ScopeAny && j.Topic.Trial() > 0 }

// Wanted reports whether a job file asks for a topic.
func (t *Theme) Wanted() bool { return t.Model != "" || len(t.Examples) > 0 }

// IsURL reports whether an example is a URL.
func IsURL(example string) bool {
	return strings.HasPrefix(example, "http://") || strings.HasPrefix(example, "https://")
}

// leastWords is how many words a text has at least; what has fewer is taken for the name of a file.
const leastWords = 3

// IsText reports whether an example is a text itself.
func IsText(example string) bool {
	return !IsURL(example) && len(strings.Fields(example)) >= leastWords
}

// MapTopicFiles changes the names of the files that the topic and the classes name.
func (j *Job) MapTopicFiles(change func(string) string) {
	file := func(name string) string {
		if name == "" || IsURL(name) || IsText(name) {
			return name
		}
		return change(name)
	}
	t := &j.Topic
	t.Background, t.Model, j.Classify.Model = file(t.Background), file(t.Model), file(j.Classify.Model)
	for _, list := range []*[]string{&t.Examples, &t.Not} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i] = file((*list)[i])
		}
	}
}

func checkTopic(j *Job) (errs []error) {
	t := &j.Topic
	bad := func(cond bool, key, format string, args ...any) {
		if cond {
			errs = append(errs, &KeyError{"topic." + key, fmt.Sprintf(format, args...)})
		}
	}
	named := len(t.Not) > 0 || t.Background != ""
	bad(named && len(t.Examples) == 0, "examples", "[]: not and background mean nothing without examples of the topic")
	bad(t.Model != "" && len(t.Examples) > 0, "model", "%q: name a model or examples, not both", t.Model)
	bad(len(t.Examples) > MaxTopicExamples, "examples", "%d of them: at most %d", len(t.Examples), MaxTopicExamples)
	bad(len(t.Not) > MaxTopicExamples, "not", "%d of them: at most %d", len(t.Not), MaxTopicExamples)
	return errs
}

// Blob is a model as part of a job: its compact form in base64.
type Blob string

// BlobOf makes a blob of bytes.
func BlobOf(b []byte) Blob { return Blob(base64.StdEncoding.EncodeToString(b)) }

// Bytes are what the blob is made of.
func (b Blob) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(string(b)) }

// String says for people what the blob is: its size and a hash, so that two can be told apart.
func (b Blob) String() string {
	if b == "" {
		return "none"
	}
	return fmt.Sprintf("%d bytes, %016x", base64.StdEncoding.DecodedLen(len(b)), xxh3.HashString(string(b)))
}

// Relevance is a probability of being about the topic, in thousandths and 1 more; 0: it is not known.
type Relevance int

// RelevanceOf is the relevance of a probability.
func RelevanceOf(p float64) Relevance { return 1 + Relevance(math.Round(1000*min(max(p, 0), 1))) }

// Known reports whether there is one.
func (r Relevance) Known() bool { return r > 0 }

// P is the probability, in thousandths; 0 where it is not known.
func (r Relevance) P() float64 { return float64(max(r-1, 0)) / 1000 }

// Low reports whether it is known to be off the topic.
func (r Relevance) Low() bool { return r.Known() && r.P() < TopicLow }

// String is the probability as it is in records and logs.
func (r Relevance) String() string { return strconv.FormatFloat(r.P(), 'g', -1, 64) }

// Weight is what a link of a page weighs, 1 to 9, where own is what a site rule says (0: nothing).
func (r Relevance) Weight(own int) int {
	if !r.Known() {
		return own
	}
	return max(own, 1, int(math.Ceil(9*r.P())))
}
