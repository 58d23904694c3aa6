package abi_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
)

var (
	document = &plugin.Document{Text: "text"}
	links    = &plugin.Links{Links: make([]plugin.Link, 2)}
	response = &plugin.Response{}
)

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name string
		m    plugin.Message
		json string
		want string // of the error; empty: none
	}{
		{"pass", document, `{"action":"pass"}`, ""},
		{"an unknown key", document, `{"action":"pass","colour":1}`, ""},
		{"null patch", document, `{"action":"pass","patch":null}`, ""},
		{"drop", document, `{"action":"drop","reason":"too-short"}`, ""},
		{"drop without a reason", document, `{"action":"drop"}`, ""},
		{"patch", document, `{"action":"patch","patch":{"title":"x","fields":{"a":null,"b":[1,{}]}}}`, ""},
		{"links only", response, `{"action":"links"}`, ""},
		{"body", response, `{"action":"patch","patch":{"body":"aGk="}}`, ""},
		{"weights", links, `{"action":"patch","patch":{"change":[{"index":1,"weight":9}],"add":[{"url":"http://a.test/"}]}}`,
			""},
		{"nothing", document, ``, "unexpected end"},
		{"no object", document, `"pass"`, "cannot unmarshal"},
		{"two", document, `{"action":"pass"}{"action":"drop"}`, "after top-level value"},
		{"no action", document, `{}`, `action ""`},
		{"another action", document, `{"action":"explode"}`, `action "explode"`},
		{"links only elsewhere", document, `{"action":"links"}`, "at point document"},
		{"patch without one", document, `{"action":"patch"}`, "there is none"},
		{"pass with a patch", document, `{"action":"pass","patch":{}}`, "a patch, but"},
		{"reason with blanks", document, `{"action":"drop","reason":"too short"}`, "a token"},
		{"long reason", document, `{"action":"drop","reason":"` + strings.Repeat("a", 65) + `"}`, "64 at most"},
		{"number for text", document, `{"action":"patch","patch":{"title":1}}`, "patch"},
		{"list for fields", document, `{"action":"patch","patch":{"fields":[]}}`, "patch"},
		{"text for bool", document, `{"action":"patch","patch":{"noindex":"yes"}}`, "patch"},
		{"no base64", response, `{"action":"patch","patch":{"body":"%"}}`, "patch"},
		{"index out of bounds", links, `{"action":"patch","patch":{"change":[{"index":2}]}}`, "there are 2 links"},
		{"index below", links, `{"action":"patch","patch":{"change":[{"index":-1}]}}`, "there are 2 links"},
		{"weight out of bounds", links, `{"action":"patch","patch":{"change":[{"index":0,"weight":10}]}}`, "1 to 9"},
		{"weight of a new one", links, `{"action":"patch","patch":{"add":[{"url":"x","weight":-1}]}}`, "1 to 9"},
		{"drop with blanks", links, `{"action":"patch","patch":{"change":[{"index":0,"drop":"a b"}]}}`, "a token"},
		{"patch of a delivery", &plugin.Delivery{}, `{"action":"patch","patch":{}}`, "has none"},
		{"deep", document, `{"action":"patch","patch":{"fields":` + strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat("}",
			20002), "depth"},
		{"number too large", document, `{"action":"patch","patch":{"fields":{"a":1e999}}}`, "patch"},
	} {
		a, err := abi.ReadAnswer(c.m, []byte(c.json))
		switch {
		case c.want == "" && (err != nil || a == nil):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (!errors.Is(err, plugin.ErrAnswer) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// No digit of an id is lost.
func TestLongNumbers(t *testing.T) {
	a, err := abi.ReadAnswer(document, []byte(
		`{"action":"patch","patch":{"fields":{"id":1234567890123456789,"all":[{"n":-9007199254740993}],"price":9.5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(a.Patch.(*plugin.DocumentPatch).Fields)
	if want := `{"all":[{"n":"-9007199254740993"}],"id":"1234567890123456789","price":9.5}`; string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An answer that repeats the id of another call is none; one that repeats none, or has a key of its own there, is.
func TestTheAnswerToAnotherCall(t *testing.T) {
	for data, want := range map[string]error{`{"action":"pass","id":"a"}`: nil, `{"action":"pass"}`: nil,
		`{"action":"pass","id":7}`: nil, `{"action":"pass","id":""}`: nil, `{"action":"pass","id":"b"}`: plugin.ErrOrder,
		`{"error":"x","id":"b"}`: plugin.ErrOrder} {
		if _, err := abi.ReadAnswerTo("a", document, []byte(data)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", data, err, want)
		}
	}
	if _, err := abi.ReadAnswerTo("", document, []byte(`{"action":"pass","id":"b"}`)); err != nil {
		t.Error(err)
	}
}

// A plug-in that says that it failed has.
func TestAFailureOfThePlugin(t *testing.T) {
	if _, err := abi.ReadAnswer(document, []byte(`{"error":"no currency"}`)); !errors.Is(err, plugin.ErrTrap) ||
		!strings.Contains(err.Error(), "no currency") {
		t.Errorf("got %v", err)
	}
}

func TestTheLogIsCut(t *testing.T) {
	line := strings.Repeat("ä", 1000)
	data, _ := json.Marshal(map[string]any{"action": "pass", "log": []string{line, line, line, line}})
	a, err := abi.ReadAnswer(document, data)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, l := range a.Log {
		n += len(l)
		if !utf8.ValidString(l) {
			t.Error("a line was cut within a character")
		}
	}
	if n != 4<<10 || len(a.Log) != 3 {
		t.Errorf("%d bytes in %d lines", n, len(a.Log))
	}
}

func TestUnknownKeys(t *testing.T) {
	got := abi.Unknown(crawl.AtLinks,
		[]byte(`{"action":"patch","resaon":"x","patch":{"chnage":[],"change":[{"index":1,"wieght":2}],"add":[{"href":"x"}]}}`))
	want := []string{"patch.add[0].href", "patch.change[0].wieght", "patch.chnage", "resaon"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := abi.Unknown(crawl.AtDocument,
		[]byte(`{"action":"patch","patch":{"title":"x","fields":{"anything":1}},"log":["a"]}`)); len(got) != 0 {
		t.Errorf("got %q of an answer without fault", got)
	}
}

// Only what the plug-in needs is in a frame.
func TestFramesHoldWhatIsNeeded(t *testing.T) {
	call := &plugin.Call{Message: document, Body: func() []byte { return []byte("BODY") }, Now: time.Unix(1, 0), ID: "x"}
	for _, c := range []struct {
		needs      []string
		text, body string
	}{{nil, "", ""}, {[]string{"text"}, "text", ""}, {[]string{"body"}, "", "BODY"},
		{[]string{"body", "text"}, "text", "BODY"}} {
		frame, err := abi.AppendCall([]byte("before"), &plugin.Serves{Needs: c.needs}, call)
		if err != nil {
			t.Fatal(err)
		}
		frame = bytes.TrimPrefix(frame, []byte("before"))
		n := binary.LittleEndian.Uint32(frame)
		var head struct {
			Message plugin.Document
			Text    int
		}
		if err := json.Unmarshal(frame[4:4+n], &head); err != nil {
			t.Fatal(err)
		}
		rest := string(frame[4+n:])
		if text, body := rest[:head.Text], rest[head.Text:]; text != c.text || body != c.body || head.Message.Text != "" {
			t.Errorf("needs %q: text %q, body %q, in the message %q", c.needs, text, body, head.Message.Text)
		}
	}
	if document.Text != "text" {
		t.Error("the message was changed")
	}
}

func TestLimits(t *testing.T) {
	d := &plugin.Descriptor{}
	if l := abi.LimitsOf(d, plugin.Limits{}); l.Memory != 64<<20 || l.Timeout.D() != 50*time.Millisecond ||
		l.Output != 1<<20 {
		t.Errorf("the defaults are %+v", l)
	}
	d.Limits = plugin.Limits{Memory: 1 << 40, Timeout: crawl.Duration(time.Hour), Output: 1 << 40}
	if l := abi.LimitsOf(d, plugin.Limits{}); l.Memory != 256<<20 || l.Timeout.D() != 2*time.Second || l.Output != 16<<20 {
		t.Errorf("the most is %+v", l)
	}
	if l := abi.LimitsOf(d, plugin.Limits{Memory: 1 << 20}); l.Memory != 1<<20 {
		t.Errorf("the server's bound does not hold: %+v", l)
	}
}

// Whatever a plug-in writes, the host reads it or says why not, and what it read fits the point.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"action":"pass"}`, `{"action":"patch","patch":{"change":[{"index":0,"weight":3}]}}`,
		`{"error":"x"}`, `{"action":"patch","patch":{"fields":{"a":1}}}`, `{"action":"drop","reason":"a-b"}`,
		`{"log":["\ud800"]}`} {
		f.Add([]byte(s))
	}
	messages := []plugin.Message{&plugin.Seeds{}, &plugin.Request{}, response, document, links, &plugin.Record{},
		&plugin.Delivery{}}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, m := range messages {
			a, err := abi.ReadAnswer(m, data)
			abi.Unknown(m.Point(), data)
			if err != nil {
				if !errors.Is(err, plugin.ErrAnswer) && !errors.Is(err, plugin.ErrTrap) {
					t.Fatalf("an error of no class: %v", err)
				}
				continue
			}
			if (a.Action == plugin.Patch) != (a.Patch != nil) {
				t.Fatalf("action %q with patch %v", a.Action, a.Patch)
			}
			if p, ok := a.Patch.(*plugin.LinksPatch); ok {
				for _, c := range p.Change {
					_ = links.Links[c.Index]
				}
			}
		}
		_ = abi.ReadConfigured(data)
	})
}
