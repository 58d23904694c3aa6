// Package experiment repeats experiments of papers about crawlers, for `whirlpool experiment`: each gives tables, which
// are printed, written as CSV and drawn. What the papers say is in docs/experiments.md.
package experiment
