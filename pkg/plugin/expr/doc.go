// Package expr evaluates expressions over the messages of a pipeline: "when" of any node, and what built-in nodes
// compute. Types are checked when an expression is compiled; an evaluation has a budget of steps, memory and time, so
// no expression holds up a crawl. The same message gives the same value: there is no clock and no random number.
package expr
