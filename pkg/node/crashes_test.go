package node

import "testing"

// A page that crashes again and again is given up; one whose browser is killed from outside has more tries.
func TestPagesThatCrashAreGivenUp(t *testing.T) {
	for _, c := range []struct {
		name  string
		ended func(try int) bool
		tries int
	}{
		{"its process", func(int) bool { return false }, 4},
		{"the browser", func(int) bool { return true }, 12},
		{"both in turn", func(try int) bool { return try%2 == 0 }, 6},
	} {
		l := &lazyBrowser{}
		tries := 1
		for l.triesAgain("http://a.test/", c.ended(tries)) {
			tries++
		}
		if tries != c.tries {
			t.Errorf("%s: given up after %d tries, want %d", c.name, tries, c.tries)
		}
		if !l.triesAgain("http://a.test/other", false) {
			t.Errorf("%s: another page pays for it", c.name)
		}
	}
}
