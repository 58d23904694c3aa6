package ring

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// versionDone is the first octet of an encoded Done. What follows is compressed with Zstandard: incarnation, number of
// parts, and of each part, in the order of virtual nodes, the distance to the one before, the epoch and the step.
const versionDone = 1

// Encode returns what DecodeDone reads, without the node's name. ErrTooLarge where a node of ZooKeeper could not hold
// it.
func (d *Done) Encode() ([]byte, error) {
	e, err := encoder()
	if err != nil {
		return nil, fmt.Errorf("encode parts of moves: %w", err)
	}
	parts := slices.SortedFunc(slices.Values(d.Parts), func(a, b Part) int { return cmp.Compare(a.Vnode, b.Vnode) })
	b := binary.AppendUvarint(nil, d.Incarnation)
	b = binary.AppendUvarint(b, uint64(len(parts)))
	last := 0
	for _, p := range parts {
		if p.Vnode < 0 || p.Vnode >= MaxVnodes {
			return nil, fmt.Errorf("encode parts of moves: virtual node %d: want 0 to %d", p.Vnode, MaxVnodes-1)
		}
		b = binary.AppendUvarint(b, uint64(p.Vnode-last))
		b = append(binary.AppendUvarint(b, p.Since), byte(p.Step))
		last = p.Vnode
	}
	out := e.EncodeAll(b, []byte{versionDone})
	if len(out) > MaxEncoded {
		return nil, ErrTooLarge
	}
	return out, nil
}

// DecodeDone reads what the node has said by Done.Encode. ErrFormat where it is nothing of the kind.
func DecodeDone(node string, b []byte) (Done, error) {
	out := Done{Node: node}
	if len(b) == 0 || b[0] != versionDone || len(b) > MaxEncoded {
		return out, fmt.Errorf("parts of moves: %w: %d octets, version %d is known", ErrFormat, len(b), versionDone)
	}
	d, err := decoder()
	if err != nil {
		return out, fmt.Errorf("decode parts of moves: %w", err)
	}
	plain, err := d.DecodeAll(b[1:], nil)
	if err != nil {
		return out, fmt.Errorf("parts of moves: %w: %w", ErrFormat, err)
	}
	r := &reader{Reader: codec.Reader{B: plain}}
	out.Incarnation = r.Uvarint(1<<64 - 1)
	vnode := uint64(0)
	for range r.Uvarint(MaxVnodes) {
		vnode += r.Uvarint(MaxVnodes)
		p := Part{Vnode: int(vnode), Since: r.Uvarint(1 << 62), Step: Step(r.Byte())}
		if r.Bad = r.Bad || vnode >= MaxVnodes || p.Step > Recovering; r.Bad {
			break
		}
		out.Parts = append(out.Parts, p)
	}
	if !r.Done() {
		return Done{Node: node}, fmt.Errorf("parts of moves: %w: their values do not fit", ErrFormat)
	}
	return out, nil
}
