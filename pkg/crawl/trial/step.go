package trial

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// The steps of every dry run, by their ids. Between them are the nodes of plug-ins, by theirs.
const (
	StepURL     = "url"
	StepScope   = "scope"
	StepRobots  = "robots"
	StepFetch   = "fetch"
	StepParse   = "parse"
	StepRules   = "rules"
	StepLinks   = "links"
	StepContent = "content"
	StepRecord  = "record"
)

// Verdict says how a step ended.
type Verdict string

// The verdicts.
const (
	OK      Verdict = "ok"
	Against Verdict = "against" // a crawl would not do it; the dry run goes on
	Stopped Verdict = "stopped" // nothing comes after it
	Skipped Verdict = "skipped" // it was not done, as the text says
	Failed  Verdict = "failed"  // a plug-in failed
)

// NoTurn is the reason where a host is not asked because it rests, or others are to ask it.
const NoTurn = "no-turn"

// Step is one step of the pipeline: what went in and came out, both as objects, and how they differ.
type Step struct {
	ID      string         `json:"id"`
	Point   crawl.Point    `json:"point,omitempty"` // of a node of a plug-in
	Use     string         `json:"use,omitempty"`   // its plug-in
	Verdict Verdict        `json:"verdict"`
	Text    string         `json:"text"` // what happened, in a sentence
	In      map[string]any `json:"in,omitempty"`
	Out     map[string]any `json:"out,omitempty"`
	Diff    []Change       `json:"diff"`
	Took    int64          `json:"took_us"`             // of the step itself
	Waited  int64          `json:"waited_us,omitempty"` // for the host's turn, before it
	Log     []string       `json:"log,omitempty"`
}

// Change is a key whose value differs before and after a step; nil: it was, or is, not there.
type Change struct {
	Key    string `json:"key"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// maxChanges bounds the differences that are told of a step.
const maxChanges = 100

// Compare tells how two objects differ, in the order of their keys; objects within them key by key.
func Compare(before, after map[string]any) []Change {
	out := compare([]Change{}, "", before, after)
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Key, b.Key) })
	return out[:min(len(out), maxChanges)]
}

func compare(out []Change, under string, before, after map[string]any) []Change {
	for key, was := range before {
		is, there := after[key]
		name := under + key
		inner, isObject := was.(map[string]any)
		other, too := is.(map[string]any)
		switch {
		case !there:
			out = append(out, Change{Key: name, Before: was})
		case isObject && too:
			out = compare(out, name+".", inner, other)
		case objects(was) && objects(is):
			out = compare(out, name, byPlace(was), byPlace(is))
		case !reflect.DeepEqual(was, is):
			out = append(out, Change{Key: name, Before: was, After: is})
		}
	}
	for key, is := range after {
		if _, was := before[key]; was {
			continue
		}
		if inner, isObject := is.(map[string]any); isObject && len(inner) > 0 {
			out = compare(out, under+key+".", nil, inner)
			continue
		}
		out = append(out, Change{Key: under + key, After: is})
	}
	return out
}

// objects reports whether a value is a list of objects, such as links.
func objects(v any) bool {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return false
	}
	_, ok = list[0].(map[string]any)
	return ok
}

// byPlace is a list as an object, so that what differs in a part of it is told.
func byPlace(v any) map[string]any {
	list, _ := v.([]any)
	out := make(map[string]any, len(list))
	for i, part := range list {
		out[fmt.Sprintf("[%d]", i)] = part
	}
	return out
}
