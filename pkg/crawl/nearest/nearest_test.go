package nearest

import "testing"

func TestTo(t *testing.T) {
	names := []string{"max_pages", "max_depth", "seeds", "scope"}
	for _, tc := range []struct {
		name string
		most int
		want string
	}{
		{"max_page", 2, "max_pages"},
		{"max_deths", 2, "max_depth"},
		{"seed", 2, "seeds"},
		{"seeds", 0, "seeds"},
		{"seed", 0, ""},
		{"scopes", 2, "scope"},
		{"politeness", 2, ""},
		{"", 2, ""},
		{"", 5, "seeds"},
	} {
		if got := To(tc.name, names, tc.most); got != tc.want {
			t.Errorf("by at most %d letters %q is nearest to %q, want %q", tc.most, tc.name, got, tc.want)
		}
	}
	if got := To("a", nil, 3); got != "" {
		t.Errorf("of no candidates %q is nearest", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"same", "same", 0}, {"ab", "ba", 2}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("from %q to %q: %d letters, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
