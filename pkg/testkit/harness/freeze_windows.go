package harness

import "testing"

// Freeze cannot be had here.
func (p *Process) Freeze(t testing.TB) { t.Skip("Windows cannot freeze a program") }

// Thaw is for a program that Freeze has frozen.
func (p *Process) Thaw(testing.TB) {}
