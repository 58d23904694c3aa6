// Package manifest reads plugin.toml, the descriptor of a plug-in, and the settings of nodes by its schema. Both come
// from others: what is unknown, missing or out of bounds is an error that names the key and says what is wanted.
package manifest
