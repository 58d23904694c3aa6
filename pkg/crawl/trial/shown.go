package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/plaintext"
)

// Bounds of what is told.
const (
	MaxShown  = 2_000 // bytes of a text in a step
	maxText   = 20_000
	maxListed = 100 // parts of a list, or keys of an object
	maxLinks  = 2_000
)

// Shown is an object as an answer gives it: as JSON has it, and bounded.
func Shown(o map[string]any) map[string]any {
	data, err := json.Marshal(o)
	if err != nil {
		return map[string]any{"error": err.Error()}
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		return map[string]any{"error": err.Error()}
	}
	bounded, _ := Bound(out, MaxShown).(map[string]any)
	return bounded
}

// Bound bounds a value that JSON was read into: its texts to so many bytes, without what turns the text around them,
// and its lists and objects.
func Bound(v any, text int) any {
	switch v := v.(type) {
	case string:
		return plaintext.Of(v, text)
	case []any:
		out := make([]any, 0, min(len(v), maxListed+1))
		for _, inner := range v[:min(len(v), maxListed)] {
			out = append(out, Bound(inner, text))
		}
		if more := len(v) - maxListed; more > 0 {
			out = append(out, fmt.Sprintf("… %d more", more))
		}
		return out
	case map[string]any:
		out := make(map[string]any, min(len(v), maxListed))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if len(out) == maxListed {
				break
			}
			out[plaintext.Of(key, maxListed)] = Bound(v[key], text)
		}
		return out
	}
	return v
}

// Fit bounds the trial for an answer to a program: what is cut, Notes say. Texts have nothing that turns the text
// around them.
func (t *Trial) Fit() {
	if p := t.Parse; p != nil {
		if len(p.Text) > maxText {
			t.Notes = append(t.Notes, fmt.Sprintf("the text has %d bytes, of which the first %d are told", len(p.Text), maxText))
		}
		p.Text, p.Title, p.Canonical = plaintext.Of(p.Text, maxText), plaintext.Of(p.Title, MaxShown),
			plaintext.Of(p.Canonical, MaxShown)
		for i := range p.Fields {
			p.Fields[i].Value = Bound(p.Fields[i].Value, MaxShown)
		}
		p.Fields = p.Fields[:min(len(p.Fields), maxListed)]
	}
	if len(t.Links) > maxLinks {
		t.Notes = append(t.Notes, fmt.Sprintf("it has %d links, of which the first %d are told", len(t.Links), maxLinks))
		t.Links = t.Links[:maxLinks]
	}
	for i := range t.Links {
		t.Links[i].Text = plaintext.Of(t.Links[i].Text, MaxShown)
	}
	t.fitRecord()
	if f := t.Fetch; f != nil {
		f.Detail, f.ContentType = plaintext.Of(f.Detail, MaxShown), plaintext.Of(f.ContentType, MaxShown)
	}
	t.Given, t.Answer, t.Stopped = plaintext.Of(t.Given, MaxShown), plaintext.Of(t.Answer, MaxShown),
		plaintext.Of(t.Stopped, MaxShown)
}

// fitRecord bounds the texts and lists of the record.
func (t *Trial) fitRecord() {
	var whole map[string]any
	if t.Record == nil || json.Unmarshal(t.Record, &whole) != nil {
		return
	}
	if data, err := json.Marshal(Bound(whole, maxText)); err == nil {
		t.Record = data
	}
}
