package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/file"
)

// Error says what is wrong with an expression, or with its evaluation.
type Error struct {
	Line, Column int // from 1; 0: no place
	Text         string
	cause        error
}

// Error implements error.
func (e *Error) Error() string {
	switch e.Line {
	case 0:
		return e.Text
	case 1:
		return fmt.Sprintf("column %d: %s", e.Column, e.Text)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Text)
}

// Unwrap returns what caused it.
func (e *Error) Unwrap() error { return e.cause }

// maxMessage bounds what an error tells: values of a page may be in it.
const maxMessage = 300

// explain makes an Error of one of the language's.
func explain(err error, text string) *Error {
	out := &Error{Text: err.Error(), cause: err}
	var at *file.Error
	if errors.As(err, &at) {
		if at.Line == 0 {
			at = at.Bind(file.NewSource(text))
		}
		out.Line, out.Column, out.Text = at.Line, at.Column+1, at.Message
	}
	for _, own := range []error{errSteps, errBytes, errTime} {
		if errors.Is(err, own) {
			out.Text = own.Error()
		}
	}
	for _, name := range []string{stepName, grownName} { // what stands around the user's text
		out.Text = strings.ReplaceAll(out.Text, name, "it")
	}
	if len(out.Text) > maxMessage {
		out.Text = strings.ToValidUTF8(out.Text[:maxMessage], "") + " …"
	}
	return out
}
