package fakeweb

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"net/http"
	"sync"
)

// BombBytes is what each decompression bomb unpacks to: 2 GiB of zero bytes.
const BombBytes = 2 << 30

// bombs are bodies of a few KB to 2 MB that unpack to BombBytes.
func (h *Hostile) bombs() []HostileCase {
	bomb := func(name, path, encoding string, pack func(mebis int) []byte) HostileCase {
		body := sync.OnceValue(func() []byte { return pack(BombBytes >> 20) })
		return HostileCase{name, path, "2 GiB of zeros in " + encoding + ": limit the decompressed size", false,
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Encoding", encoding)
				w.Write(body()) // a client that leaves is the aim
			}}
	}
	file := sync.OnceValue(func() []byte { return gzipBomb(BombBytes >> 20) })
	return []HostileCase{
		bomb("gzip bomb", "/bomb/gzip", "gzip", gzipBomb),
		bomb("gzip bomb, packed twice", "/bomb/gzip-twice", "gzip, gzip",
			func(mebis int) []byte { return appendGzip(nil, gzipBomb(mebis)) }),
		bomb("deflate bomb", "/bomb/deflate", "deflate", zlibBomb),
		bomb("brotli bomb", "/bomb/br", "br", brotliBomb),
		bomb("zstd bomb", "/bomb/zstd", "zstd", zstdBomb),
		{"compressed sitemap", "/bomb/sitemap.xml.gz", "a file, not an encoding, of 2 GiB", false,
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/gzip")
				w.Write(file())
			}},
	}
}

// deflateZeros is so many MiB of zeros, at least two, in DEFLATE (RFC 1951). A flush ends at a whole byte, and a unit
// after the first refers to nothing but zeros, so one compressed unit can be repeated.
func deflateZeros(mebis int) []byte {
	var out bytes.Buffer
	z, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil // the level is a constant
	}
	zeros := make([]byte, 1<<20)
	z.Write(zeros)
	z.Flush()
	first := out.Len()
	z.Write(zeros)
	z.Flush()
	unit := bytes.Clone(out.Bytes()[first:])
	for range mebis - 2 {
		out.Write(unit)
	}
	return append(out.Bytes(), 3, 0) // an empty last block
}

// gzipBomb wraps the zeros as RFC 1952 says, with their true checksum.
func gzipBomb(mebis int) []byte {
	out := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, deflateZeros(mebis)...)
	zeros, sum := make([]byte, 1<<20), uint32(0)
	for range mebis {
		sum = crc32.Update(sum, crc32.IEEETable, zeros)
	}
	out = binary.LittleEndian.AppendUint32(out, sum)
	return binary.LittleEndian.AppendUint32(out, uint32(mebis<<20))
}

// zlibBomb wraps the zeros as RFC 1950 says, which is what HTTP calls deflate. The Adler-32 sum of n zeros is n
// modulo 65521 in its upper half and 1 in its lower.
func zlibBomb(mebis int) []byte {
	out := append([]byte{0x78, 0x9c}, deflateZeros(mebis)...)
	return binary.BigEndian.AppendUint32(out, uint32(mebis<<20%65521)<<16|1)
}

// A brotli stream (RFC 7932) of zeros, one flush a MiB, as an encoder writes it: the first MiB, each further one, the
// end.
const (
	brotliFirst = "abffff074002201e0b24f7fec100"
	brotliUnit  = "faff7f002400e2b00074ef1f0c"
	brotliEnd   = "03"
)

func brotliBomb(mebis int) []byte {
	out := unhex(brotliFirst)
	out = append(out, bytes.Repeat(unhex(brotliUnit), mebis-1)...)
	return append(out, unhex(brotliEnd)...)
}

func unhex(s string) []byte {
	b, _ := hex.DecodeString(s) // of constants; the tests unpack them
	return b
}

// zstdBomb is a frame (RFC 8878) of run-length blocks, 128 KiB in four bytes each.
func zstdBomb(mebis int) []byte {
	const block = 128 << 10
	const window = (17 - 10) << 3 // 128 KiB
	out := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window}
	blocks := mebis << 20 / block
	for i := range blocks {
		header := uint32(block)<<3 | 1<<1 // run-length
		if i == blocks-1 {
			header |= 1 // last
		}
		out = append(out, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return out
}
