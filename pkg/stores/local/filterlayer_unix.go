//go:build unix

package local

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bigLayer is from which size on the words of a layer lie outside of Go's heap: its collector would let the heap grow
// by one and a half times as much again.
const bigLayer = 22 // 2^22 words are 32 MiB

// newFilterLayer makes a layer of 2^log words.
func newFilterLayer(log int) *filterLayer {
	l := &filterLayer{shift: 64 - log + blockLog}
	if log < bigLayer {
		l.words = make([]atomic.Uint64, 1<<log)
		return l
	}
	mem, err := unix.Mmap(-1, 0, 8<<log, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil { // then they lie in the heap, as those of small layers
		l.words = make([]atomic.Uint64, 1<<log)
		return l
	}
	l.words = unsafe.Slice((*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(mem))), 1<<log)
	runtime.AddCleanup(l, func(mem []byte) { _ = unix.Munmap(mem) }, mem) // nobody has the layer any more
	return l
}
