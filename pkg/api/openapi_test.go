package api

import (
	"bytes"
	"os"
	"testing"
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
