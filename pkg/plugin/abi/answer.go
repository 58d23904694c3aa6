package abi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/jsonpointer"
)

// maxLog is how many bytes of log lines a call has.
const maxLog = 4 << 10

// maxReason is how long a reason may be.
const maxReason = 64

// answer is what a plug-in writes of a message.
type answer struct {
	Action plugin.Action   `json:"action"`
	Reason string          `json:"reason"`
	Patch  json.RawMessage `json:"patch"`
	Log    []string        `json:"log"`
	Error  string          `json:"error"` // it failed, and says why; then nothing else counts
	// ID is the call's, where the plug-in repeats it: so nobody takes it for the answer to another.
	ID json.RawMessage `json:"id"`
}

// configured is what a plug-in writes of its settings.
type configured struct {
	Error *struct {
		Path string `json:"path"`
		Text string `json:"text"`
	} `json:"error"`
}

// ReadConfigured reads the answer to a configure frame: nothing, {} or a fault of the settings, a *plugin.ConfigError.
func ReadConfigured(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	var c configured
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: to its settings: %w", plugin.ErrAnswer, err)
	}
	if c.Error != nil {
		return &plugin.ConfigError{Path: c.Error.Path, Text: c.Error.Text}
	}
	return nil
}

// ReadAnswer reads the answer to a message. What does not fit the message's point wraps plugin.ErrAnswer; keys that it
// does not know are left out.
func ReadAnswer(m plugin.Message, data []byte) (*plugin.Answer, error) {
	return ReadAnswerTo("", m, data)
}

// ReadAnswerTo is ReadAnswer where the call has an id. An answer to another call wraps plugin.ErrOrder.
func ReadAnswerTo(id string, m plugin.Message, data []byte) (*plugin.Answer, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, fmt.Errorf("%w: %w", plugin.ErrAnswer, err)
	}
	// An id that is no text was never one of ours: plug-ins may have keys of their own.
	if of := ""; id != "" && json.Unmarshal(a.ID, &of) == nil && of != "" && of != id {
		return nil, fmt.Errorf("%w: it answered the call %s, and %s was asked: each call has one answer", plugin.ErrOrder,
			clip(of, 100), id)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%w: it says: %s", plugin.ErrTrap, clip(a.Error, 500))
	}
	out := &plugin.Answer{Action: a.Action, Log: clipLog(a.Log)}
	hasPatch := len(a.Patch) > 0 && !bytes.Equal(a.Patch, []byte("null"))
	switch at := m.Point(); {
	case a.Action == plugin.Patch && hasPatch:
		patch, err := readPatch(m, a.Patch)
		if err != nil {
			return nil, fmt.Errorf("%w: patch: %w", plugin.ErrAnswer, err)
		}
		out.Patch = patch
		return out, nil
	case hasPatch:
		return nil, fmt.Errorf("%w: a patch, but the action is %q: say \"patch\"", plugin.ErrAnswer, a.Action)
	case a.Action == plugin.Patch:
		return nil, fmt.Errorf("%w: the action is \"patch\", and there is none", plugin.ErrAnswer)
	case a.Action == plugin.Drop:
		out.Reason = a.Reason
		return out, reasonFault(a.Reason)
	case a.Action == plugin.Pass, a.Action == plugin.LinksOnly && at == crawl.AtResponse:
		return out, nil
	}
	return nil, fmt.Errorf("%w: action %q at point %s: say pass, patch or drop", plugin.ErrAnswer, a.Action, m.Point())
}

func reasonFault(reason string) error {
	if len(reason) > maxReason {
		return fmt.Errorf("%w: a reason of %d characters: %d at most", plugin.ErrAnswer, len(reason), maxReason)
	}
	for _, r := range reason {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return fmt.Errorf("%w: reason %q: a token of a-z, 0-9 and - is wanted", plugin.ErrAnswer, reason)
		}
	}
	return nil
}

// newPatch returns an empty patch of a point; nil where there is none.
func newPatch(at crawl.Point) any {
	switch at {
	case crawl.AtProvider:
		return &plugin.SeedsPatch{}
	case crawl.AtRequest:
		return &plugin.RequestPatch{}
	case crawl.AtResponse:
		return &plugin.ResponsePatch{}
	case crawl.AtDocument:
		return &plugin.DocumentPatch{}
	case crawl.AtLinks:
		return &plugin.LinksPatch{}
	case crawl.AtRecord:
		return &plugin.RecordPatch{}
	}
	return nil
}

func readPatch(m plugin.Message, data []byte) (any, error) {
	patch := newPatch(m.Point())
	if patch == nil {
		return nil, fmt.Errorf("point %s has none", m.Point())
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber() // ids of 19 digits keep them
	if err := dec.Decode(patch); err != nil {
		return nil, err
	}
	var fields map[string]any
	switch p := patch.(type) {
	case *plugin.DocumentPatch:
		fields = p.Fields
	case *plugin.RecordPatch:
		fields = p.Fields
	}
	if n := tooLarge(fields); n != "" {
		return nil, fmt.Errorf("fields: no number is as large as %s", clip(n, 50))
	}
	jsonpointer.Plain(fields)
	if links, ok := m.(*plugin.Links); ok {
		return patch, linksFault(patch.(*plugin.LinksPatch), len(links.Links))
	}
	return patch, nil
}

// tooLarge returns a number that is out of range; empty: there is none.
func tooLarge(v any) string {
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Float64(); err != nil {
			return v.String()
		}
	case map[string]any:
		for _, e := range v {
			if n := tooLarge(e); n != "" {
				return n
			}
		}
	case []any:
		for _, e := range v {
			if n := tooLarge(e); n != "" {
				return n
			}
		}
	}
	return ""
}

// linksFault says what of a patch of n links is out of bounds.
func linksFault(p *plugin.LinksPatch, n int) error {
	for i, c := range p.Change {
		if c.Index < 0 || c.Index >= n {
			return fmt.Errorf("change[%d].index: %d, and there are %d links", i, c.Index, n)
		}
		if c.Weight < 0 || c.Weight > 9 {
			return fmt.Errorf("change[%d].weight: %d: 1 to 9 is wanted, or 0", i, c.Weight)
		}
		if err := reasonFault(c.Drop); err != nil {
			return fmt.Errorf("change[%d].drop: %w", i, err)
		}
	}
	for i, l := range p.Add {
		if l.Weight < 0 || l.Weight > 9 {
			return fmt.Errorf("add[%d].weight: %d: 1 to 9 is wanted, or 0", i, l.Weight)
		}
	}
	return nil
}

// clipLog keeps the lines that fit into a call's log.
func clipLog(lines []string) []string {
	left := maxLog
	for i, l := range lines {
		if len(l) > left {
			return append(lines[:i:i], clip(l, left))
		}
		left -= len(l)
	}
	return lines
}

// clip cuts a text at a number of bytes, between characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most]
}
