package whirlpool

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/abi"
)

// The kit's types have the keys and types of the host's.
func TestTypesAgreeWithTheHost(t *testing.T) {
	for _, pair := range [][2]any{
		{Request{}, plugin.Request{}}, {RequestPatch{}, plugin.RequestPatch{}}, {Response{}, plugin.Response{}},
		{ResponsePatch{}, plugin.ResponsePatch{}}, {Document{}, plugin.Document{}}, {DocumentPatch{}, plugin.DocumentPatch{}},
		{Links{}, plugin.Links{}}, {Link{}, plugin.Link{}}, {LinksPatch{}, plugin.LinksPatch{}},
		{LinkChange{}, plugin.LinkChange{}}, {Record{}, plugin.Record{}}, {RecordPatch{}, plugin.RecordPatch{}},
	} {
		ours, theirs := reflect.TypeOf(pair[0]), reflect.TypeOf(pair[1])
		if ours.NumField() != theirs.NumField() {
			t.Errorf("%v has %d fields, the host's %d", ours, ours.NumField(), theirs.NumField())
			continue
		}
		for i := range ours.NumField() {
			a, b := ours.Field(i), theirs.Field(i)
			if a.Name != b.Name || a.Tag.Get("json") != b.Tag.Get("json") || a.Type.Kind() != b.Type.Kind() {
				t.Errorf("%v.%s %v %s, the host's is %s %v %s", ours, a.Name, a.Type, a.Tag, b.Name, b.Type, b.Tag)
			}
		}
	}
}

// What the host writes the kit reads, and the other way round.
func TestACallGoesThere(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	OnDocument(func(call *Call, doc *Document) Answer {
		if call.ID != "id-1" || !call.Now.Equal(now) || string(call.Body) != "<p>" || doc.Title != "a <b>" ||
			doc.Text != "long" {
			t.Errorf("got %+v %+v", call, doc)
		}
		Logf("title %s", doc.Title)
		title := "A"
		return Change(&DocumentPatch{Title: &title, Fields: map[string]any{"price": 1.5, "gone": nil}})
	})
	message := &plugin.Document{Title: "a <b>", Text: "long"}
	serves := &plugin.Serves{Point: crawl.AtDocument, Needs: []string{abi.NeedsBody, abi.NeedsText}}
	frame, err := abi.AppendCall(nil, serves,
		&plugin.Call{Message: message, Body: func() []byte { return []byte("<p>") }, Now: now, ID: "id-1"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := abi.ReadAnswer(message, handle("document", frame))
	if err != nil {
		t.Fatal(err)
	}
	patch := got.Patch.(*plugin.DocumentPatch)
	if got.Action != plugin.Patch || *patch.Title != "A" || patch.Fields["price"] != 1.5 || len(patch.Fields) != 2 ||
		got.Log[0] != "title a <b>" {
		t.Errorf("got %+v %+v", got, patch)
	}
	for name, frame := range map[string][]byte{"none": nil, "short": {9, 0, 0, 0, '{'}, "no JSON": {1, 0, 0, 0, '{'},
		"without its text":   append([]byte{10, 0, 0, 0}, `{"text":9}`...),
		"of a negative text": append([]byte{11, 0, 0, 0}, `{"text":-1}`...)} {
		if _, err := abi.ReadAnswer(message, handle("document", frame)); !errors.Is(err, plugin.ErrTrap) {
			t.Errorf("a frame that is %s: %v", name, err)
		}
	}
	if _, err := abi.ReadAnswer(&plugin.Links{}, handle("links", frame)); !errors.Is(err, plugin.ErrTrap) {
		t.Errorf("a point without a function: %v", err)
	}
}

func TestSettings(t *testing.T) {
	frame, err := abi.AppendConfigure(nil, crawl.AtLinks, map[string]any{"word": "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := abi.ReadConfigured(configure(frame)); err != nil {
		t.Errorf("a plug-in without settings: %v", err)
	}
	OnConfigure(func(at string, with []byte) error {
		var c struct{ Word string }
		if err := json.Unmarshal(with, &c); err != nil || c.Word != "x" || at != "links" {
			t.Errorf("got %s %s", at, with)
		}
		return &ConfigError{Path: "word", Text: "it is too short"}
	})
	var fault *plugin.ConfigError
	if err := abi.ReadConfigured(configure(frame)); !errors.As(err, &fault) || fault.Path != "word" {
		t.Errorf("got %v", err)
	}
}
