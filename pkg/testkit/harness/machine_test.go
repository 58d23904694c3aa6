package harness

import (
	"testing"
	"time"
)

func TestSlownessIsAtLeastOne(t *testing.T) {
	s := Slowness(t)
	if s < 1 || Times(s, time.Second) < time.Second {
		t.Errorf("slowness %v makes a second %v", s, Times(s, time.Second))
	}
}
