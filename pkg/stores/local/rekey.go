package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Before format 4 a job's number took two bytes, and the index of pages.jsonl had none. Its kinds had their highest bit
// clear, so a key tells of which format it is: the conversion may be killed anywhere and goes on with what is left.

// pastKinds are the kinds of former formats that began with a job's number, and those that belonged to the one
// pages.jsonl.
const (
	pastKinds     = "bckRvVexwsu"
	pastPageKinds = "pPMWT"
	pastContent   = 'f'
	pastJobLen    = 2
)

// rekeyBatch is how many keys are changed with one commit.
const rekeyBatch = 4096

// rekey gives keys of the formats 2 and 3 the form that they have today.
func (s *Store) rekey(ctx context.Context) error {
	s.log.Info("the state of the crawl is brought up to date", "dir", s.dir)
	if err := s.renumber(ctx); err != nil {
		return err
	}
	for _, kind := range []byte(pastKinds + pastPageKinds + string(pastContent)) {
		for more := true; more; {
			var err error
			if more, err = s.rekeySome(ctx, kind); err != nil {
				return fmt.Errorf("keys %q: %w", kind, err)
			}
		}
	}
	return s.fs.syncAll()
}

// renumber widens the numbers of jobs.
func (s *Store) renumber(ctx context.Context) error {
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }()
	err := s.scan(ctx, []byte{kindJob}, func(k, v []byte) error {
		if len(v) != pastJobLen {
			return nil
		}
		return b.Set(k, binary.BigEndian.AppendUint32(nil, uint32(binary.BigEndian.Uint16(v))), nil)
	})
	return errors.Join(err, b.Commit(pebble.Sync))
}

// rekeySome changes the next keys of a kind, and reports whether there were some.
func (s *Store) rekeySome(ctx context.Context, kind byte) (more bool, err error) {
	b := s.db.NewBatch()
	defer func() { _ = b.Close() }()
	err = s.scan(ctx, []byte{kind}, func(k, v []byte) error {
		now, v, err := rekeyed(k, v)
		if err != nil {
			return err
		}
		if err := errors.Join(b.Set(now, v, nil), b.Delete(k, nil)); err != nil {
			return err
		}
		if more = b.Count() >= 2*rekeyBatch; more {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) || b.Empty() {
		return false, err
	}
	return more, b.Commit(pebble.Sync)
}

// rekeyed is an entry as it is today.
func rekeyed(k, v []byte) (key, value []byte, err error) {
	kind, rest := k[0], k[1:]
	key = []byte{perJob | kind}
	if bytes.IndexByte([]byte(pastPageKinds), kind) >= 0 {
		key = append(appendJob(nil, perJob|kind, 0), rest...)
		if kind == 'M' {
			v, err = rekeyedMove(v)
		}
		return key, v, err
	}
	if kind == pastContent && len(rest) > 0 {
		key, rest = append(key, rest[0]), rest[1:]
	}
	if len(rest) < pastJobLen {
		return nil, nil, fmt.Errorf("key %x is damaged: restore a copy of state/, or start over with --fresh", k)
	}
	key = binary.BigEndian.AppendUint32(key, uint32(binary.BigEndian.Uint16(rest)))
	return append(key, rest[pastJobLen:]...), v, nil
}

// rekeyedMove changes the key that a move of records has come to.
func rekeyedMove(v []byte) ([]byte, error) {
	var m move
	if err := m.decode(v); err != nil {
		return nil, err
	}
	switch {
	case len(m.next) > 0 && m.next[0] == 'p':
		m.next = append(appendJob(nil, kindPage, 0), m.next[1:]...)
	case len(m.next) > 0:
		m.next = afterJob(kindPage, 0)
	}
	return m.encode(), nil
}
