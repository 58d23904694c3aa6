package expr

import (
	"errors"
	"reflect"
	"time"
)

// What an evaluation may take. Steps and bytes are counted, so the same expression over the same message always ends
// the same way; the time stops only what is slow in each of its steps.
const (
	maxSteps    = 200_000     // of the predicates of filter, map, all, …
	maxBytes    = 32 << 20    // of strings and lists that it makes
	maxElements = 1_000_000   // of lists, as the language itself counts them
	maxTime     = time.Second // of an evaluation with steps
	nodeBytes   = 32          // of an element of a list
)

var (
	errSteps = errors.New("it takes more than 200,000 steps")
	errBytes = errors.New("it makes more than 32 MiB of strings and lists")
	errTime  = errors.New("it takes longer than a second")
)

// budget is what is left of one evaluation's bounds.
type budget struct {
	steps int
	bytes int
	until time.Time
}

// step counts one step of a predicate.
func (b *budget) step() error {
	b.steps++
	if b.steps > maxSteps {
		return errSteps
	}
	now := time.Now()
	if b.until.IsZero() {
		b.until = now.Add(maxTime)
	}
	if now.After(b.until) {
		return errTime
	}
	return nil
}

// take takes bytes off the budget.
func (b *budget) take(bytes int) error {
	if bytes < 0 || bytes > maxBytes-b.bytes {
		return errBytes
	}
	b.bytes += bytes
	return nil
}

// grow takes what a value holds off the budget: the whole tree below it, since a list may have the same list in it
// twice, and so hold far more than was made.
func (b *budget) grow(value any) error {
	switch v := value.(type) {
	case nil, bool, int, float64, time.Time, time.Duration:
		return nil
	case string:
		return b.take(len(v))
	case []string:
		for _, s := range v {
			if err := b.take(nodeBytes + len(s)); err != nil {
				return err
			}
		}
		return nil
	case []any:
		return growAll(b, v)
	}
	return b.growOther(reflect.ValueOf(value))
}

func growAll(b *budget, list []any) error {
	for _, e := range list {
		if err := b.take(nodeBytes); err != nil {
			return err
		}
		if err := b.grow(e); err != nil {
			return err
		}
	}
	return nil
}

// growOther is grow for lists of other types and for maps.
func (b *budget) growOther(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k <= reflect.Complex128 || k == reflect.Struct || k == reflect.Pointer {
			return b.take(nodeBytes * v.Len()) // of nothing that holds more than the message does
		}
		for i := range v.Len() {
			if err := b.pair(nil, v.Index(i).Interface()); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if err := b.pair(it.Key().Interface(), it.Value().Interface()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *budget) pair(key, value any) error {
	if err := b.take(nodeBytes); err != nil {
		return err
	}
	if err := b.grow(key); err != nil {
		return err
	}
	return b.grow(value)
}
