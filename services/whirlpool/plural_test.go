package main

import "testing"

func TestPlural(t *testing.T) {
	if one, none := plural(1, "page"), plural(int64(0), "page"); one != "1 page" || none != "0 pages" {
		t.Errorf("%q, %q", one, none)
	}
}
