package ring

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// MaxEncoded bounds an encoded table in octets: a node of ZooKeeper holds 1,048,575 with the packet around it (its
// jute.maxbuffer).
const MaxEncoded = 1_000_000

// maxPlain bounds a table before compression: 9 octets a virtual node, the epochs' list, the nodes.
const maxPlain = MaxVnodes*(9+binary.MaxVarintLen64) + MaxNodes*(maxName+maxAddress+32) + 64

// The versions of the format, its first octet. The second has the hash, and is written where it is not XXH3: programs
// before it know no other, and refuse such a ring.
const (
	version       = 1
	versionHashes = 2
)

// Errors of Decode and Encode.
var (
	ErrTooLarge = fmt.Errorf("the table is larger than %d octets: create the ring with fewer virtual nodes", MaxEncoded)
	ErrFormat   = errors.New("not a table of the ring that this build reads")
)

// The format is: the version, then, compressed with Zstandard: epoch, seed, partition, hash, numbers, the nodes, and
// the virtual nodes as columns of bytes (owners, steps, previous owners, the indexes of their epochs in a list of
// epochs). A column of one kind compresses to about log2(nodes) bits for each virtual node. As JSON, 256 virtual nodes
// for each of 1,000 nodes would be 20 times too large.
var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPlain),
			zstd.WithDecoderLowmem(true))
	})
)

// Encode returns the table for Decode. ErrTooLarge where a node of ZooKeeper could not hold it.
func (t *Table) Encode() ([]byte, error) {
	e, err := encoder()
	if err != nil {
		return nil, fmt.Errorf("encode the ring: %w", err)
	}
	v := byte(version)
	if t.hash != XXH3 {
		v = versionHashes
	}
	out := e.EncodeAll(t.plain(), []byte{v})
	if len(out) > MaxEncoded {
		return nil, ErrTooLarge
	}
	return out, nil
}

// plain is the table before compression.
func (t *Table) plain() []byte {
	b := binary.AppendUvarint(nil, t.epoch)
	b = binary.BigEndian.AppendUint64(b, t.seed)
	b = append(b, byte(t.partition))
	if t.hash != XXH3 {
		b = append(b, byte(t.hash))
	}
	b = binary.AppendUvarint(b, uint64(len(t.owner)))
	b = binary.AppendUvarint(b, uint64(len(t.nodes)))
	for _, n := range t.nodes {
		b = codec.AppendText(codec.AppendText(b, n.Name), n.Address)
		b = binary.AppendUvarint(b, uint64(n.Weight))
		b = append(b, byte(n.State))
		b = binary.AppendUvarint(b, n.Incarnation)
	}
	b = appendColumn(b, t.owner)
	for _, s := range t.step {
		b = append(b, byte(s))
	}
	var from []uint16
	for v, s := range t.step {
		if s != Settled {
			from = append(from, t.from[v])
		}
	}
	b = appendColumn(b, from)
	return t.appendSince(b)
}

// appendColumn appends the lower octets of all values, then the upper ones.
func appendColumn(b []byte, column []uint16) []byte {
	for _, shift := range []int{0, 8} {
		for _, x := range column {
			b = append(b, byte(x>>shift))
		}
	}
	return b
}

// appendSince appends the list of epochs, and for each virtual node the place of its own in three columns.
func (t *Table) appendSince(b []byte) []byte {
	list := slices.Clone(t.since)
	slices.Sort(list)
	list = slices.Compact(list)
	place := make(map[uint64]int, len(list))
	b = binary.AppendUvarint(b, uint64(len(list)))
	last := uint64(0)
	for i, e := range list {
		b = binary.AppendUvarint(b, e-last)
		last, place[e] = e, i
	}
	for _, shift := range []int{0, 8, 16} {
		for _, e := range t.since {
			b = append(b, byte(place[e]>>shift))
		}
	}
	return b
}

// Decode reads what Encode wrote. It checks all that the package relies on: whatever the octets are, it returns a sound
// table or ErrFormat.
func Decode(b []byte) (*Table, error) {
	if len(b) == 0 || b[0] != version && b[0] != versionHashes {
		return nil, fmt.Errorf("%w: versions %d and %d are known", ErrFormat, version, versionHashes)
	}
	if len(b) > MaxEncoded {
		return nil, fmt.Errorf("%w: %d octets", ErrFormat, len(b))
	}
	d, err := decoder()
	if err != nil {
		return nil, fmt.Errorf("decode the ring: %w", err)
	}
	plain, err := d.DecodeAll(b[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	r := &reader{Reader: codec.Reader{B: plain}}
	t := r.table(b[0] == versionHashes)
	if !r.Done() {
		return nil, fmt.Errorf("%w: its values do not fit", ErrFormat)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return t, nil
}

type reader struct{ codec.Reader }

// take returns the next n octets; none once the reader is bad.
func (r *reader) take(n int) []byte {
	if r.Bad || n > len(r.B) {
		r.Bad, r.B = true, nil
		return nil
	}
	b := r.B[:n:n]
	r.B = r.B[n:]
	return b
}

// table reads a table, with its hash or with that of the first version.
func (r *reader) table(hashed bool) *Table {
	t := &Table{epoch: r.Uvarint(1 << 62)}
	if b := r.take(8); b != nil {
		t.seed = binary.BigEndian.Uint64(b)
	}
	t.partition = Partition(r.Byte())
	if hashed {
		t.hash = Hash(r.Byte())
	}
	vnodes, nodes := int(r.Uvarint(MaxVnodes)), int(r.Uvarint(MaxNodes))
	for range nodes {
		n := Node{Name: r.Text(), Address: r.Text(), Weight: Weight(r.Uvarint(uint64(MaxWeight))), State: State(r.Byte()),
			Incarnation: r.Uvarint(1<<64 - 1)}
		if r.Bad {
			return t
		}
		t.nodes = append(t.nodes, n)
	}
	if vnodes > len(r.B) {
		r.Bad = true
		return t
	}
	t.owner, t.step, t.from = r.column(vnodes), make([]Step, vnodes), make([]uint16, vnodes)
	moving := 0
	for v, s := range r.take(vnodes) {
		if t.step[v], t.from[v] = Step(s), none; s != 0 {
			moving++
		}
	}
	from := r.column(moving)
	for v, s := range t.step {
		if s != Settled && !r.Bad {
			t.from[v], from = from[0], from[1:]
		}
	}
	t.since = r.since(vnodes)
	return t
}

func (r *reader) column(n int) []uint16 {
	low, high := r.take(n), r.take(n)
	if r.Bad {
		return nil
	}
	out := make([]uint16, n)
	for i := range out {
		out[i] = uint16(low[i]) | uint16(high[i])<<8
	}
	return out
}

func (r *reader) since(vnodes int) []uint64 {
	list := make([]uint64, min(r.Uvarint(uint64(vnodes)), uint64(len(r.B))))
	last := uint64(0)
	for i := range list {
		last += r.Uvarint(1 << 62)
		list[i] = last
	}
	low, middle, high := r.take(vnodes), r.take(vnodes), r.take(vnodes)
	if r.Bad {
		return nil
	}
	out := make([]uint64, vnodes)
	for i := range out {
		place := int(low[i]) | int(middle[i])<<8 | int(high[i])<<16
		if place >= len(list) {
			r.Bad = true
			return nil
		}
		out[i] = list[place]
	}
	return out
}

// check reports what is unsound about a table.
func (t *Table) check() error {
	if t.epoch < 1 || len(t.owner) < 1 {
		return fmt.Errorf("epoch %d, %d virtual nodes", t.epoch, len(t.owner))
	}
	if err := errors.Join(t.partition.validate(), t.hash.validate()); err != nil {
		return err
	}
	takes := false
	for i, n := range t.nodes {
		if n.State == Gone && n.Incarnation == 0 {
			n.Incarnation = 1 // dead: none counts any more
		}
		if err := n.Validate(); err != nil {
			return err
		}
		if n.State > Gone || i > 0 && t.nodes[i-1].Name >= n.Name {
			return fmt.Errorf("node %s: %s, or out of order", n.Name, n.State)
		}
		takes = takes || n.State != Gone
	}
	for v := range t.owner {
		if err := t.checkVnode(v, takes); err != nil {
			return fmt.Errorf("virtual node %d: %w", v, err)
		}
	}
	return nil
}

func (t *Table) checkVnode(v int, takes bool) error {
	o, f, s := t.owner[v], t.from[v], t.step[v]
	switch {
	case o == none && (takes || s != Settled || t.since[v] != 0):
		return errors.New("it has no owner")
	case o == none:
	case int(o) >= len(t.nodes) || t.nodes[o].State > Active:
		return errors.New("its owner is none that owns")
	case s > Recovering || t.since[v] < 1 || t.since[v] > t.epoch:
		return fmt.Errorf("step %d, since epoch %d", s, t.since[v])
	case s == Handing && f == none:
		return errors.New("nobody hands it")
	case f != none && int(f) >= len(t.nodes), s == Handing && t.nodes[f].State == Gone:
		return errors.New("the owner before is no node that hands")
	}
	return nil
}
