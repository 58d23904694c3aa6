//go:build wasip1

package whirlpool

import "unsafe"

// in and out are the bytes of the call under way: the host writes and reads them.
var in, out []byte

//go:wasmexport whirlpool_abi
func abi() int32 { return 1 }

//go:wasmexport wp_alloc
func alloc(size int32) int32 {
	if size < 0 {
		return 0
	}
	if cap(in) < int(size) || in == nil {
		in = make([]byte, size, size+size/2+64)
	}
	in = in[:size]
	return address(in)
}

//go:wasmexport wp_configure
func wpConfigure(n int32) int64 { return give(configure(in[:n])) }

//go:wasmexport wp_request
func wpRequest(n int32) int64 { return give(handle("request", in[:n])) }

//go:wasmexport wp_response
func wpResponse(n int32) int64 { return give(handle("response", in[:n])) }

//go:wasmexport wp_document
func wpDocument(n int32) int64 { return give(handle("document", in[:n])) }

//go:wasmexport wp_links
func wpLinks(n int32) int64 { return give(handle("links", in[:n])) }

//go:wasmexport wp_record
func wpRecord(n int32) int64 { return give(handle("record", in[:n])) }

func give(answer []byte) int64 {
	out = answer
	return int64(uint32(address(out)))<<32 | int64(len(out))
}

func address(b []byte) int32 { return int32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

//go:wasmimport whirlpool log
func hostLog(level int32, text unsafe.Pointer, n int32)

//go:wasmimport whirlpool counter_add
func hostCount(name unsafe.Pointer, length int32, n int64)

func logLine(line string) {
	hostLog(0, unsafe.Pointer(unsafe.StringData(line)), int32(len(line)))
}

func count(name string, n int64) {
	hostCount(unsafe.Pointer(unsafe.StringData(name)), int32(len(name)), n)
}
