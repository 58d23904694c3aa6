package explore

import "testing"

// A source has no character that turns the direction of text, and every other is where it stood.
func TestLevelKeepsPlaces(t *testing.T) {
	in := "a\x00b\u061cc\u0085d\u202ee\u2066f\n\t\x7f<b>é</b>"
	got := level(in)
	if want := "a?b¿c¿d\uFFFDe\uFFFDf\n\t?<b>é</b>"; got != want || len(got) != len(in) {
		t.Errorf("%q of %d bytes, want %q of %d", got, len(got), want, len(in))
	}
}
