//go:build !unix

package local

import "sync/atomic"

// newFilterLayer makes a layer of 2^log words.
func newFilterLayer(log int) *filterLayer {
	return &filterLayer{shift: 64 - log + blockLog, words: make([]atomic.Uint64, 1<<log)}
}
