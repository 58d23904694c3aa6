package local

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// DeadLetters keeps messages that could not be handled until a user replays or drops them.
type DeadLetters struct{ s *Store }

// DeadLetters returns the dead letters.
func (s *Store) DeadLetters() DeadLetters { return DeadLetters{s} }

type deadLetter struct {
	Topic   string    `cbor:"1,keyasint"`
	Reason  string    `cbor:"2,keyasint,omitempty"`
	At      time.Time `cbor:"3,keyasint"`
	Message []byte    `cbor:"4,keyasint"`
}

// Bury stores a dead letter; it is durable when it returns. A letter with the id of a former one replaces it.
func (d DeadLetters) Bury(ctx context.Context, l bus.DeadLetter) error {
	msg, err := appendMessage(nil, &l.Message)
	if err != nil {
		return fmt.Errorf("bury message %s: %w", l.Message.ID, err)
	}
	v, err := crawl.EncodeValue(&deadLetter{Topic: l.Topic, Reason: l.Reason, At: l.At, Message: msg})
	if err != nil {
		return fmt.Errorf("bury message %s: %w", l.Message.ID, err)
	}
	return d.s.do(ctx, func(b *pebble.Batch) { _ = b.Set(deadKey(l.Message.ID), v, nil) })
}

// List yields the dead letters in the order of their ids.
func (d DeadLetters) List(ctx context.Context, yield func(bus.DeadLetter) error) error {
	return d.s.scan(ctx, []byte{kindDead}, func(k, v []byte) error {
		l, err := decodeDead(k, v)
		if err != nil {
			return err
		}
		return yield(l)
	})
}

// ListReadable is List without the letters that cannot be read.
func (d DeadLetters) ListReadable(ctx context.Context, yield func(bus.DeadLetter) error) error {
	return d.s.scan(ctx, []byte{kindDead}, func(k, v []byte) error {
		l, err := decodeDead(k, v)
		if err != nil {
			return nil //nolint:nilerr // its job is unknown; an audit reports it
		}
		return yield(l)
	})
}

func decodeDead(k, v []byte) (out bus.DeadLetter, err error) {
	var l deadLetter
	if err = crawl.DecodeValue(v, &l); err == nil {
		out = bus.DeadLetter{Topic: l.Topic, Reason: l.Reason, At: l.At}
		out.Message, err = decodeMessage(l.Message)
	}
	if err != nil {
		err = fmt.Errorf("dead letter %x: %w", k[1:], err)
	}
	return out, err
}

// Remove forgets dead letters.
func (d DeadLetters) Remove(ctx context.Context, ids ...crawl.MessageID) error {
	return d.s.do(ctx, func(b *pebble.Batch) {
		for _, id := range ids {
			_ = b.Delete(deadKey(id), nil)
		}
	})
}

// Count returns the number of dead letters.
func (d DeadLetters) Count(ctx context.Context) (n int64, err error) {
	err = d.s.scan(ctx, []byte{kindDead}, func([]byte, []byte) error { n++; return nil })
	return n, err
}
