package control

import "fmt"

// Misuse is an error of whoever asks: the same cannot be done however often it is tried.
//
//nolint:errname // control.Misuse says it
type Misuse struct{ Err error }

// Error implements error.
func (m *Misuse) Error() string { return m.Err.Error() }

// Unwrap implements errors.
func (m *Misuse) Unwrap() error { return m.Err }

// Misusef makes a Misuse of a text.
func Misusef(format string, args ...any) error { return &Misuse{fmt.Errorf(format, args...)} }
