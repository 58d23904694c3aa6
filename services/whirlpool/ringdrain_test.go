package main

import (
	"errors"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/cluster/ring"
)

// Where all nodes leave at once, as when a cluster is deleted, a drain ends with that instead of waiting for heirs.
func TestADrainWithoutOtherNodesFails(t *testing.T) {
	table, err := ring.Create(256, ring.ByHost, 1)
	for i, name := range []string{"a", "b", "c"} {
		if err == nil {
			table, err = table.Join(ring.Node{Name: name, Address: name + ":5672", Weight: ring.Unit,
				Incarnation: uint64(i + 1)})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for len(table.Moving()) > 0 { // all have what they own
		for _, v := range table.Moving() {
			for i, name := range []string{"a", "b", "c"} {
				table, _ = table.Finish(ring.Done{Node: name, Incarnation: uint64(i + 1), Parts: []ring.Part{v.Part()}})
			}
		}
	}
	drain := func(name string) {
		t.Helper()
		if table, err = table.Drain(name); err != nil {
			t.Fatal(err)
		}
	}
	drain("a")
	if gone, err := hasLeft(table, "a"); gone || err != nil {
		t.Errorf("with two heirs: gone %v, %v", gone, err)
	}
	drain("b")
	if _, err := table.Drain("c"); !errors.Is(err, ring.ErrLast) {
		t.Errorf("the last one drains: %v", err)
	}
	if gone, err := hasLeft(table, "b"); gone || err != nil {
		t.Errorf("with one heir: gone %v, %v", gone, err)
	}
	if table, err = table.Dead("c", 3); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if gone, err := hasLeft(table, name); gone || !errors.Is(err, ring.ErrLast) {
			t.Errorf("%s without heirs: gone %v, %v; want an end", name, gone, err)
		}
	}
	if gone, err := hasLeft(table, "unknown"); !gone || err != nil {
		t.Errorf("a node that has left: gone %v, %v", gone, err)
	}
}
