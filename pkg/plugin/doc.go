// Package plugin is what people add to a pipeline, and what the tiers that run it have in common: points, messages,
// answers, descriptors. docs/design/plugins.md has the whole.
package plugin
