package e2e_test

import (
	"bytes"
	"strings"
	"sync"
)

// output is what a process says; it may be read while that runs.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) says(text string) bool { return strings.Contains(o.String(), text) }
