package delivertest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// Memory is a bucket in memory. The zero value is empty.
type Memory struct {
	mu   sync.Mutex
	kept map[string][]byte
}

var _ deliver.Bucket = (*Memory)(nil)

// Put implements deliver.Bucket.
func (m *Memory) Put(_ context.Context, key string, body io.ReadSeeker, _ int64, _ string) (string, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string][]byte{}
	}
	m.kept[key] = data
	return "etag", nil
}

// Get implements deliver.Bucket.
func (m *Memory) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.kept[key]), nil
}

// Keys implements deliver.Bucket.
func (m *Memory) Keys(_ context.Context, prefix string, limit int) (out []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.kept)) {
		if strings.HasPrefix(key, prefix) && (limit == 0 || len(out) < limit) {
			out = append(out, key)
		}
	}
	return out, nil
}

// Delete implements deliver.Bucket.
func (m *Memory) Delete(_ context.Context, keys []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.kept, key)
	}
	return nil
}

// Tidy implements deliver.Bucket.
func (m *Memory) Tidy(context.Context, string) error { return nil }

// Close implements deliver.Bucket.
func (m *Memory) Close() error { return nil }

// Rows reads all that an output keeps below a prefix by its manifest, which lists every object, with its bytes and sum.
func Rows(t testing.TB, b deliver.Bucket, prefix string) (rows []string) {
	t.Helper()
	keys, err := b.Keys(t.Context(), prefix, 0)
	if err != nil {
		t.Fatal(err)
	}
	text, err := b.Get(t.Context(), prefix+deliver.ManifestName)
	if err != nil {
		t.Fatal(err)
	}
	var m deliver.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatalf("manifest: %v\n%s", err, text)
	}
	want := []string{prefix + deliver.ManifestName}
	for _, p := range m.Parts {
		want = append(want, prefix+p.Key)
		data, err := b.Get(t.Context(), prefix+p.Key)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != p.SHA256 || int64(len(data)) != p.Bytes ||
			int64(bytes.Count(data, []byte("\n"))) != p.Rows {
			t.Fatalf("%s has %d bytes and %d rows; the manifest says %+v", p.Key, len(data), bytes.Count(data, []byte("\n")), p)
		}
		for line := range strings.Lines(string(data)) {
			rows = append(rows, line)
		}
	}
	slices.Sort(want)
	slices.Sort(keys)
	if !slices.Equal(keys, want) {
		t.Fatalf("the objects are %q; the manifest lists %q", keys, want)
	}
	if !m.Complete || m.Rows != int64(len(rows)) {
		t.Fatalf("the manifest says complete %v and %d rows of %d", m.Complete, m.Rows, len(rows))
	}
	return rows
}
