package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/codec"
)

// Journal keeps the in-process bus's messages.
type Journal struct {
	s    *Store
	next uint64 // guarded by the committer's lock: it moves in fills
}

// Journal returns the journal of the in-process bus.
func (s *Store) Journal() *Journal { return s.journal }

func openJournal(s *Store) (*Journal, error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kindJournal}, UpperBound: []byte{kindJournal + 1}})
	if err != nil {
		return nil, err
	}
	j := &Journal{s: s, next: 1}
	if it.Last() && len(it.Key()) == 9 {
		j.next = binary.BigEndian.Uint64(it.Key()[1:]) + 1
	}
	return j, errors.Join(it.Error(), it.Close())
}

// Append stores messages under the numbers first, first+1, …; they are durable when it returns.
func (j *Journal) Append(ctx context.Context, msgs ...bus.Message) (first uint64, err error) {
	var buf []byte
	ends := make([]int, len(msgs))
	for i := range msgs {
		if buf, err = appendMessage(buf, &msgs[i]); err != nil {
			return 0, fmt.Errorf("append message %s to the journal: %w", msgs[i].ID, err)
		}
		ends[i] = len(buf)
	}
	err = j.s.do(ctx, func(b *pebble.Batch) {
		first = j.next
		from := 0
		for _, end := range ends {
			_ = b.Set(seqKey(kindJournal, j.next), buf[from:end], nil)
			j.next++
			from = end
		}
	})
	return first, err
}

// Remove forgets messages, within a second.
func (j *Journal) Remove(_ context.Context, seqs ...uint64) error {
	return j.s.later(func(b *pebble.Batch) {
		for _, seq := range seqs {
			_ = b.SingleDelete(seqKey(kindJournal, seq), nil)
		}
	})
}

// Load calls yield for every message that was not removed, in the order of their numbers, marked as redelivered.
func (j *Journal) Load(ctx context.Context, yield func(seq uint64, m bus.Message) error) error {
	return j.s.scan(ctx, []byte{kindJournal}, func(k, v []byte) error {
		seq, m, err := decodeJournal(k, v)
		if err != nil {
			return fmt.Errorf("journal of %s: %w", j.s.dir, err)
		}
		return yield(seq, m)
	})
}

func decodeJournal(k, v []byte) (seq uint64, m bus.Message, err error) {
	if len(k) != 9 {
		return 0, m, fmt.Errorf("key %x is damaged", k)
	}
	seq = binary.BigEndian.Uint64(k[1:])
	if m, err = decodeMessage(v); err != nil {
		return seq, m, fmt.Errorf("message %d: %w", seq, err)
	}
	m.Redelivered = true
	return seq, m, nil
}

// A message on disk: id(16), uvarint attempt, uvarint length of the topic, topic, event as crawl encodes it.
func appendMessage(dst []byte, m *bus.Message) ([]byte, error) {
	event, err := crawl.EncodeEvent(m.Event)
	if err != nil {
		return dst, err
	}
	topic := m.Topic()
	dst = binary.AppendUvarint(append(dst, m.ID[:]...), uint64(m.Attempt))
	return append(codec.AppendText(dst, topic), event...), nil
}

func decodeMessage(b []byte) (m bus.Message, err error) {
	if len(b) < len(m.ID) {
		return m, errors.New("the message is damaged: too short")
	}
	m.ID = crawl.MessageID(b[:16])
	r := codec.Reader{B: b[16:]}
	m.Attempt = int(r.Uvarint(math.MaxInt32))
	topic := r.Text()
	if r.Bad {
		return m, errors.New("the message is damaged: bad envelope")
	}
	if m.Event, err = crawl.DecodeEvent(topic, r.B); err == nil {
		m.Arrived(topic)
	}
	return m, err
}
