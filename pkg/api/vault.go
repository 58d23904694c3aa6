package api

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Vault keeps what the API has to remember: sessions, keys, answers to repeated requests. workflow.Store is one.
type Vault interface {
	// Value returns nil where there is none.
	Value(ctx context.Context, section, key string) ([]byte, error)
	// SetValue stores a value; nil deletes it.
	SetValue(ctx context.Context, section, key string, value []byte) error
	// SwapValue stores value where was is stored; nil is none, in both. workflow.ErrStale where something else is.
	SwapValue(ctx context.Context, section, key string, was, value []byte) error
	// EachValue calls each with all values of a section until it returns an error.
	EachValue(ctx context.Context, section string, each func(key string, value []byte) error) error
}

// safe is a Vault whose values expire: each begins with the time, in seconds since 1970; 0: never.
type safe struct{ Vault }

func (s safe) get(ctx context.Context, section, key string, now time.Time) ([]byte, error) {
	raw, err := s.Value(ctx, section, key)
	value, good := opened(raw, now)
	if err != nil || !good {
		return nil, err
	}
	return value, nil
}

// take takes a value out, for one of all who want it.
func (s safe) take(ctx context.Context, section, key string, now time.Time) (value []byte, good bool, err error) {
	raw, err := s.Value(ctx, section, key)
	if err != nil || raw == nil {
		return nil, false, err
	}
	if err := s.SwapValue(ctx, section, key, raw, nil); err != nil {
		if errors.Is(err, workflow.ErrStale) {
			err = nil // another was quicker
		}
		return nil, false, err
	}
	value, good = opened(raw, now)
	return value, good, nil
}

func opened(raw []byte, now time.Time) (value []byte, good bool) {
	if len(raw) < 8 {
		return nil, false
	}
	end := binary.BigEndian.Uint64(raw)
	return raw[8:], end == 0 || now.Unix() < int64(end)
}

func (s safe) put(ctx context.Context, section, key string, value []byte, expires time.Time) error {
	return s.SetValue(ctx, section, key, sealed(value, expires))
}

// sealed is a value as it is stored.
func sealed(value []byte, expires time.Time) []byte {
	var end uint64
	if !expires.IsZero() {
		end = uint64(expires.Unix())
	}
	return append(binary.BigEndian.AppendUint64(nil, end), value...)
}

// each calls f with the values of a section that have not expired, and deletes the others.
func (s safe) each(ctx context.Context, section string, now time.Time, f func(key string, value []byte) error) error {
	var over []string
	err := s.EachValue(ctx, section, func(key string, raw []byte) error {
		value, good := opened(raw, now)
		if !good {
			over = append(over, key)
			return nil
		}
		return f(key, value)
	})
	for _, key := range over {
		if err == nil {
			err = s.SetValue(workflow.WithoutAudit(ctx), section, key, nil)
		}
	}
	return err
}

// Memory is a Vault that forgets with the process.
type Memory struct {
	mu   sync.Mutex
	kept map[[2]string][]byte
}

// NewMemory makes one.
func NewMemory() *Memory { return &Memory{kept: map[[2]string][]byte{}} }

// Value implements Vault.
func (m *Memory) Value(_ context.Context, section, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[[2]string{section, key}], nil
}

// SetValue implements Vault.
func (m *Memory) SetValue(_ context.Context, section, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value == nil {
		delete(m.kept, [2]string{section, key})
		return nil
	}
	m.kept[[2]string{section, key}] = slices.Clone(value)
	return nil
}

// SwapValue implements Vault.
func (m *Memory) SwapValue(_ context.Context, section, key string, was, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := [2]string{section, key}
	if now, found := m.kept[at]; found != (was != nil) || !bytes.Equal(now, was) {
		return workflow.ErrStale
	}
	if value == nil {
		delete(m.kept, at)
	} else {
		m.kept[at] = slices.Clone(value)
	}
	return nil
}

// EachValue implements Vault.
func (m *Memory) EachValue(_ context.Context, section string, each func(key string, value []byte) error) error {
	m.mu.Lock()
	found := map[string][]byte{}
	for at, v := range m.kept {
		if at[0] == section {
			found[at[1]] = v
		}
	}
	m.mu.Unlock()
	for key, v := range found {
		if err := each(key, v); err != nil {
			return err
		}
	}
	return nil
}
