package jsonl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A packed line is a record's line in pages.jsonl.zst: a head, and the line as a zstd frame of its own. The head is a
// frame that zstd programs skip, so that `zstd -dc pages.jsonl.zst` prints the lines. A line that is replaced stays,
// and its head grows over it: then they skip the line, too.
//
//	magic number of a skippable frame (4), its size: 20, or 20 and the length of the frame behind it (4),
//	"WPL1" (4), length of the frame behind it (4), length of the line (4), CRC-32C of that frame (4),
//	CRC-32C of the 16 bytes before (4)
//
// All numbers are little-endian, as zstd's are. Each line can be found, read and marked alone, whatever became of the
// others.
const (
	PackedHead = 28
	packedBody = 20 // of the head, behind its size
	// PackedStart begins every packed line.
	PackedStart = "\x57\x2a\x4d\x18"
	packedTag   = "WPL1"
	// MaxPacked bounds a line and its frame.
	MaxPacked = 64 << 20
)

var (
	castagnoli   = crc32.MakeTable(crc32.Castagnoli)
	errNotPacked = errors.New("it is no packed line")
	packer       = sync.OnceValue(newPacker) // made only when something is packed
	unpacker     = sync.OnceValue(newUnpacker)
)

func newPacker() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(false),
		zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

func newUnpacker() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(MaxPacked), zstd.WithDecoderConcurrency(0))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}

// Pack appends a line as it is in pages.jsonl.zst.
func Pack(dst, line []byte) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, PackedHead)...)
	dst = packer().EncodeAll(line, dst)
	head, frame := dst[start:start+PackedHead], dst[start+PackedHead:]
	copy(head, PackedStart)
	copy(head[8:], packedTag)
	binary.LittleEndian.PutUint32(head[4:], packedBody)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(frame)))
	binary.LittleEndian.PutUint32(head[16:], uint32(len(line)))
	binary.LittleEndian.PutUint32(head[20:], crc32.Checksum(frame, castagnoli))
	binary.LittleEndian.PutUint32(head[24:], crc32.Checksum(head[8:24], castagnoli))
	return dst
}

// PackedLength returns the length of a packed line by its head, and whether it is marked as replaced; ok is false where
// that is no head.
func PackedLength(head []byte) (length int, replaced, ok bool) {
	if len(head) < PackedHead || string(head[:4]) != PackedStart || string(head[8:12]) != packedTag ||
		crc32.Checksum(head[8:24], castagnoli) != binary.LittleEndian.Uint32(head[24:]) {
		return 0, false, false
	}
	frame, line, size := binary.LittleEndian.Uint32(head[12:]), binary.LittleEndian.Uint32(head[16:]),
		binary.LittleEndian.Uint32(head[4:])
	if frame > MaxPacked || line > MaxPacked || size != packedBody && size != packedBody+frame {
		return 0, false, false
	}
	return PackedHead + int(frame), size != packedBody, true
}

// PackedMark returns what is written over a packed line's head at an offset from its start when it is replaced.
func PackedMark(head []byte) (offset int64, mark []byte, ok bool) {
	n, replaced, ok := PackedLength(head)
	if !ok || replaced {
		return 0, nil, false
	}
	return 4, binary.LittleEndian.AppendUint32(nil, uint32(packedBody+n-PackedHead)), true
}

// PackedUnmarked returns a packed line as it was before it was marked.
func PackedUnmarked(packed []byte) []byte {
	out := slices.Clone(packed)
	binary.LittleEndian.PutUint32(out[4:], packedBody)
	return out
}

// Unpack appends the line of a whole packed line. One that is replaced begins as it would in pages.jsonl.
func Unpack(dst, packed []byte) ([]byte, error) {
	n, replaced, ok := PackedLength(packed)
	if !ok || n != len(packed) {
		return dst, errNotPacked
	}
	frame := packed[PackedHead:]
	if crc32.Checksum(frame, castagnoli) != binary.LittleEndian.Uint32(packed[20:]) {
		return dst, errors.New("its checksum is another")
	}
	start, size := len(dst), int(binary.LittleEndian.Uint32(packed[16:]))
	out, err := unpacker().DecodeAll(frame, slices.Grow(dst, size))
	if err != nil || len(out)-start != size {
		return dst, fmt.Errorf("unpack %d bytes: %w", size, errors.Join(err, errNotPacked))
	}
	if line := out[start:]; replaced && bytes.HasPrefix(line, recordHead) {
		copy(line, replacedHead)
	}
	return out, nil
}

// LooksPacked reports whether bytes begin as a packed line does, or as far as they go.
func LooksPacked(b []byte) bool {
	n := min(len(b), len(PackedStart))
	return string(b[:n]) == PackedStart[:n]
}
