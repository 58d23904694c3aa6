// Package whirlpool is what a plug-in for Whirlpool, written in Go, uses: register a function for each point that it
// serves, in func init of package main, and build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o plugin.wasm .
//
// The clock (package time) says when the page was fetched, and crypto/rand gives bytes that are made of the message:
// the same message has the same answer. Files, network and environment are not there.
package whirlpool

import (
	"encoding/json"
	"fmt"
	"time"
)

// Call is what came with a message.
type Call struct {
	ID   string    // of the message
	Now  time.Time // when the page was fetched
	Body []byte    // of the page, where plugin.toml says needs = ["body"]; it is another's after the call
}

// Answer is what a plug-in says of a message: Pass, Change, Drop or LinksOnly make one.
type Answer struct {
	Action string   `json:"action"`
	Reason string   `json:"reason,omitempty"`
	Patch  any      `json:"patch,omitempty"`
	Log    []string `json:"log,omitempty"`
}

// ConfigError is a fault of the settings; Path says where, as in currency or rules[2].name.
type ConfigError struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Error implements error.
func (e *ConfigError) Error() string { return e.Path + ": " + e.Text }

// Pass leaves the message as it is.
func Pass() Answer { return Answer{Action: "pass"} }

// Change changes the message: by a *RequestPatch, *ResponsePatch, *DocumentPatch, *LinksPatch or *RecordPatch,
// whichever is of the point.
func Change(patch any) Answer { return Answer{Action: "patch", Patch: patch} }

// Drop lets the message go no further. The reason is a token of a-z, 0-9 and -.
func Drop(reason string) Answer { return Answer{Action: "drop", Reason: reason} }

// LinksOnly follows the links of an answer, which has no record then.
func LinksOnly() Answer { return Answer{Action: "links"} }

// Logf adds a line to the log: of the dry run, and of the program at debug. A call has 4 KiB.
func Logf(format string, args ...any) { logLine(fmt.Sprintf(format, args...)) }

// Count adds to a counter of the plug-in; it may have 32.
func Count(name string, n int64) { count(name, n) }

// OnConfigure registers what reads the settings of the node, once, before any message. with is JSON; a *ConfigError
// says which setting is wrong.
func OnConfigure(f func(at string, with []byte) error) { settings = f }

// OnRequest registers what handles requests.
func OnRequest(f func(*Call, *Request) Answer) { on("request", f) }

// OnResponse registers what handles answers before they are parsed.
func OnResponse(f func(*Call, *Response) Answer) { on("response", f) }

// OnDocument registers what handles parsed pages.
func OnDocument(f func(*Call, *Document) Answer) { on("document", f) }

// OnLinks registers what handles the links of a page.
func OnLinks(f func(*Call, *Links) Answer) { on("links", f) }

// OnRecord registers what handles records before they are stored.
func OnRecord(f func(*Call, *Record) Answer) { on("record", f) }

func on[T any](point string, f func(*Call, *T) Answer) {
	points[point] = func(call *Call, message []byte, text string) (Answer, error) {
		var m T
		if err := json.Unmarshal(message, &m); err != nil {
			return Answer{}, err
		}
		switch m := any(&m).(type) {
		case *Document:
			m.Text = text
		case *Record:
			m.Text = text
		}
		return f(call, &m), nil
	}
}
