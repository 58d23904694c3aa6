package expr

import (
	"fmt"
	"reflect"

	lang "github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Bounds of an expression's text.
const (
	MaxText  = 4096 // bytes
	maxNodes = 1000 // of its syntax tree
)

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	text  string
	point crawl.Point
	items bool
	code  *vm.Program
}

// Option says what an expression is for.
type Option func(*wanted)

type wanted struct{ bools, items bool }

// AsBool refuses expressions that are never true or false.
func AsBool() Option { return func(w *wanted) { w.bools = true } }

// Each makes the expression be about one part of the message: at links there is "link" besides "links", at provider
// "seed" besides "seeds". It is evaluated by ValueAt and BoolAt. At other points it changes nothing.
func Each() Option { return func(w *wanted) { w.items = true } }

// Compile checks an expression for the messages of a point. Its error is an *Error.
func Compile(point crawl.Point, text string, options ...Option) (*Program, error) {
	var w wanted
	for _, o := range options {
		o(&w)
	}
	sample := sampleOf(point, w.items)
	switch {
	case sample == nil:
		return nil, &Error{Text: fmt.Sprintf("there is no point %q", point)}
	case len(text) > MaxText:
		return nil, &Error{Text: fmt.Sprintf("it has %d bytes; %d are allowed", len(text), MaxText)}
	}
	limits := &meter{}
	settings := append(functions(), lang.Env(sample), lang.MaxNodes(maxNodes), lang.Patch(limits))
	if w.bools {
		settings = append(settings, lang.AsBool())
	}
	code, err := compile(text, settings)
	if err == nil && limits.err != nil {
		err = limits.err
	}
	if err != nil {
		return nil, explain(err, text)
	}
	return &Program{text: text, point: point, items: w.items, code: code}, nil
}

// Condition compiles the "when" of a node at a point. At provider it is about each seed; evaluate it by BoolAt.
func Condition(at crawl.Point, text string) (*Program, error) {
	if at == crawl.AtProvider {
		return Compile(at, text, AsBool(), Each())
	}
	return Compile(at, text, AsBool())
}

// compile turns a panic of the compiler into an error: texts come from users.
func compile(text string, settings []lang.Option) (code *vm.Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it cannot be compiled: %v", r)
		}
	}()
	return lang.Compile(text, settings...)
}

// String returns its text.
func (p *Program) String() string { return p.text }

// Value evaluates it for a message: nil, a bool, int, float64, string, time.Time, []any or map[string]any, and lists of
// these; lists and maps are bounded as the evaluation is.
func (p *Program) Value(m plugin.Message) (any, error) { return p.ValueAt(m, 0) }

// ValueAt evaluates it for a part of a message; see Each.
func (p *Program) ValueAt(m plugin.Message, index int) (any, error) {
	if m == nil || m.Point() != p.point {
		return nil, &Error{Text: fmt.Sprintf("it is for messages at %s", p.point)}
	}
	env, err := envOf(m, p.items, index)
	if err != nil {
		return nil, err
	}
	machine := vm.VM{MemoryBudget: maxElements}
	value, err := machine.Run(p.code, env)
	if err != nil {
		return nil, explain(err, p.text)
	}
	return value, nil
}

// Bool evaluates it for a message; a value that is not true or false is an error.
func (p *Program) Bool(m plugin.Message) (bool, error) { return p.BoolAt(m, 0) }

// BoolAt evaluates it for a part of a message; see Each.
func (p *Program) BoolAt(m plugin.Message, index int) (bool, error) {
	value, err := p.ValueAt(m, index)
	if err != nil {
		return false, err
	}
	b, ok := value.(bool)
	if !ok {
		return false, &Error{Text: fmt.Sprintf("its value is %s, not true or false", kindOf(value))}
	}
	return b, nil
}

// kindOf names the type of a value in words of the language.
func kindOf(value any) string {
	if value == nil {
		return "nil"
	}
	switch reflect.TypeOf(value).Kind() {
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "a map"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a bool"
	case reflect.Func:
		return "a function"
	case reflect.Struct, reflect.Pointer:
		return "an object"
	}
	return "a number"
}
