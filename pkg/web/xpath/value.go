package xpath

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

func (c *context) toBool(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	case nodeSet:
		return len(v.items) > 0
	}
	return false
}

func (c *context) toNumber(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	default:
		return parseNumber(c.toString(v))
	}
}

// numberForm is how the standard writes numbers: no plus sign and no exponent.
var numberForm = regexp.MustCompile(`^-?([0-9]+(\.[0-9]*)?|\.[0-9]+)$`)

func parseNumber(s string) float64 {
	if s = strings.Trim(s, " \t\r\n"); !numberForm.MatchString(s) {
		return math.NaN()
	}
	n, _ := strconv.ParseFloat(s, 64)
	return n
}

func (c *context) toString(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return Number(v)
	case nodeSet:
		if len(v.items) > 0 {
			return c.text(v.items[0])
		}
	}
	return ""
}

// Number writes a number as the function string() does.
func Number(n float64) string {
	switch {
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0:
		return "0" // of minus zero, too
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// compare compares two values (section 3.4): a set of nodes by any of its nodes.
func (c *context) compare(op string, a, b any) bool {
	left, isSet := a.(nodeSet)
	right, both := b.(nodeSet)
	switch {
	case isSet && both:
		return c.compareSets(op, left, right)
	case isSet:
		return c.compareSet(op, left, b)
	case both:
		return c.compareSet(turned[op], right, a)
	}
	return c.compareValues(op, a, b)
}

// turned are the operators with their sides exchanged.
var turned = map[string]string{"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// compareSet compares a set of nodes with a value of another type.
func (c *context) compareSet(op string, set nodeSet, v any) bool {
	if b, ok := v.(bool); ok {
		return c.compareValues(op, len(set.items) > 0, b)
	}
	for _, n := range set.items {
		text := any(c.text(n))
		if _, ok := v.(float64); ok {
			text = c.toNumber(text)
		}
		if c.compareValues(op, text, v) {
			return true
		}
	}
	return false
}

func (c *context) compareSets(op string, left, right nodeSet) bool {
	texts := make([]string, len(right.items))
	known := make(map[string]bool, len(right.items))
	for i, n := range right.items {
		texts[i] = c.text(n)
		known[texts[i]] = true
	}
	for _, n := range left.items {
		text := c.text(n)
		if op == "=" {
			if known[text] {
				return true
			}
			continue
		}
		for _, other := range texts {
			c.spend(1)
			if c.compareValues(op, text, other) {
				return true
			}
		}
	}
	return false
}

// compareValues compares two values that are no sets of nodes.
func (c *context) compareValues(op string, a, b any) bool {
	if op == "=" || op == "!=" {
		return c.equal(a, b) == (op == "=")
	}
	x, y := c.toNumber(a), c.toNumber(b)
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func (c *context) equal(a, b any) bool {
	_, boolA := a.(bool)
	_, boolB := b.(bool)
	if boolA || boolB {
		return c.toBool(a) == c.toBool(b)
	}
	_, numberA := a.(float64)
	_, numberB := b.(float64)
	if numberA || numberB {
		return c.toNumber(a) == c.toNumber(b)
	}
	return c.toString(a) == c.toString(b)
}
