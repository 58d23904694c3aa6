package api

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// api/openapi.yaml is what clients are generated from.
func TestTheDescriptionIsUpToDate(t *testing.T) {
	want, err := Describe()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("api/openapi.yaml is not what the code says (%v): run `go generate ./pkg/api`", err)
	}
}

// A field of an embedded type that is not exported is none for Huma.
func TestEachListHasACursorAndEachPathItsParameters(t *testing.T) {
	s, err := New(t.Context(), Deps{})
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range s.api.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op == nil {
				continue
			}
			has := func(name string) bool {
				return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == name })
			}
			for _, part := range strings.Split(path, "{")[1:] {
				if name := part[:strings.IndexByte(part, '}')]; !has(name) {
					t.Errorf("%s %s: the parameter %s is not declared", op.Method, path, name)
				}
			}
			if answer := op.Responses["200"]; answer != nil && len(answer.Content) == 0 {
				t.Errorf("%s %s: nothing is said of what it answers", op.Method, path)
			}
			changes := op == item.Patch && path != base+"/settings" ||
				op == item.Delete && (strings.HasSuffix(path, "{wf}") || strings.HasSuffix(path, "{ex}"))
			if changes && !has("If-Match") {
				t.Errorf("%s %s has no condition", op.Method, path)
			}
		}
	}
}
