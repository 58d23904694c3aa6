// Package abi is the interface whirlpool:1 as bytes: what modules and processes read of a message, and what they write
// of their answer. docs/design/plugins.md has the whole.
//
// What they read is a frame: the length of its head as four bytes, the lowest first; the head, which is JSON; the text
// of the page, of the length that the head says, where the plug-in needs it; the rest is the body of the page, where
// the plug-in needs that. Text is no part of the JSON, because a module takes 0.8 ms a KB to decode that. What they
// write is JSON.
package abi

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// What a frame asks for.
const (
	Configure = "configure" // first of all: the settings of the node
	Handle    = "handle"    // a message
)

// Parts of a message that are given only to a plug-in that needs them.
const (
	NeedsBody = "body"
	NeedsText = "text"
)

// Head is the JSON at the beginning of a frame.
type Head struct {
	Do   string      `json:"do"` // configure or handle
	At   crawl.Point `json:"at"`
	With any         `json:"with,omitempty"` // of configure: the settings
	// ID and Now are the call's: of the message, and the time that it sees.
	ID      string     `json:"id,omitempty"`
	Now     *time.Time `json:"now,omitempty"`
	Message any        `json:"message,omitempty"`
	Text    int        `json:"text,omitempty"` // bytes of the message's text, which follows the head
}

// AppendConfigure appends the frame that gives a plug-in its settings at a point.
func AppendConfigure(dst []byte, at crawl.Point, with map[string]any) ([]byte, error) {
	if with == nil {
		with = map[string]any{}
	}
	return appendFrame(dst, &Head{Do: Configure, At: at, With: with}, "", nil)
}

// AppendCall appends the frame of a call for a plug-in that serves its point so.
func AppendCall(dst []byte, serves *plugin.Serves, call *plugin.Call) ([]byte, error) {
	var body []byte
	if call.Body != nil && needs(serves, NeedsBody) {
		body = call.Body()
	}
	now := call.Now.UTC()
	message, text := apart(call.Message)
	if !needs(serves, NeedsText) {
		text = ""
	}
	head := &Head{Do: Handle, At: call.Message.Point(), ID: call.ID, Now: &now, Message: message}
	return appendFrame(dst, head, text, body)
}

func appendFrame(dst []byte, head *Head, text string, body []byte) ([]byte, error) {
	head.Text = len(text)
	start := len(dst)
	buf := bytes.NewBuffer(append(dst, 0, 0, 0, 0))
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(head); err != nil {
		return dst, err
	}
	out := buf.Bytes()
	out = out[:len(out)-1] // the encoder's line feed
	binary.LittleEndian.PutUint32(out[start:], uint32(len(out)-start-4))
	return append(append(out, text...), body...), nil
}

func needs(serves *plugin.Serves, what string) bool {
	for _, n := range serves.Needs {
		if n == what {
			return true
		}
	}
	return false
}

// apart is a message without its text, and that.
func apart(m plugin.Message) (plugin.Message, string) {
	switch m := m.(type) {
	case *plugin.Document:
		short := *m
		short.Text = ""
		return &short, m.Text
	case *plugin.Record:
		short := *m
		short.Text = ""
		return &short, m.Text
	}
	return m, ""
}

// LimitsOf returns the limits of a plug-in: its own, or the defaults; at most caps, and the most that there is.
func LimitsOf(d *plugin.Descriptor, caps plugin.Limits) plugin.Limits {
	return plugin.Limits{
		Memory:  bound(d.Limits.Memory, 64<<20, caps.Memory, 256<<20),
		Timeout: bound(d.Limits.Timeout, crawl.Duration(50*time.Millisecond), caps.Timeout, crawl.Duration(2*time.Second)),
		Output:  bound(d.Limits.Output, 1<<20, caps.Output, 16<<20),
	}
}

func bound[T crawl.Size | crawl.Duration](own, normal, limit, most T) T {
	if own <= 0 {
		own = normal
	}
	if limit > 0 {
		own = min(own, limit)
	}
	return min(own, most)
}
