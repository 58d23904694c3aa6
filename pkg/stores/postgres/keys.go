package postgres

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// hostOf is the first part of a key as a number whose signed order is that of the bytes.
func hostOf(k weburl.Key) int64 { return signedHost(binary.BigEndian.Uint64(k[:8])) }

// signedHost keeps the order of hosts in a signed number.
func signedHost(host uint64) int64 { return int64(host ^ 1<<63) }

func hashOf(k weburl.Key) pgtype.UUID { return pgtype.UUID{Bytes: [16]byte(k[8:]), Valid: true} }

func keyOf(host int64, hash pgtype.UUID) (k weburl.Key) {
	binary.BigEndian.PutUint64(k[:8], uint64(host)^1<<63)
	copy(k[8:], hash.Bytes[:])
	return k
}

// claimantOf is the first half of a message's id. Ids are hashes, so halves of those that could meet at one URL differ
// but for a chance of 2^-64.
func claimantOf(id crawl.MessageID) int64 { return int64(binary.BigEndian.Uint64(id[:8])) }

// batch is the distinct keys of a call, sorted, as columns for unnest. Sorted rows are locked in the same order by
// every statement, so that statements wait for each other and never in a circle.
type batch struct {
	arg    []int // where each key was in the call's arguments: the first place
	keys   []weburl.Key
	hosts  []int64
	hashes pgtype.FlatArray[pgtype.UUID]
}

func makeBatch(n int, key func(i int) weburl.Key) *batch {
	type slot struct {
		key weburl.Key
		arg int
	}
	slots := make([]slot, n)
	for i := range slots {
		slots[i] = slot{key(i), i}
	}
	slices.SortStableFunc(slots, func(a, b slot) int { return bytes.Compare(a.key[:], b.key[:]) })
	slots = slices.CompactFunc(slots, func(a, b slot) bool { return a.key == b.key })
	b := &batch{arg: make([]int, len(slots)), keys: make([]weburl.Key, len(slots)), hosts: make([]int64, len(slots)),
		hashes: make(pgtype.FlatArray[pgtype.UUID], len(slots))}
	for i, s := range slots {
		b.arg[i], b.keys[i], b.hosts[i], b.hashes[i] = s.arg, s.key, hostOf(s.key), hashOf(s.key)
	}
	return b
}

// column takes what is at the batch's places of the call's arguments.
func column[T any](b *batch, at func(arg int) T) []T {
	out := make([]T, len(b.arg))
	for i, a := range b.arg {
		out[i] = at(a)
	}
	return out
}

func makeHashes(keys []weburl.Key) pgtype.FlatArray[pgtype.UUID] {
	hashes := make(pgtype.FlatArray[pgtype.UUID], len(keys))
	for i, k := range keys {
		hashes[i] = hashOf(k)
	}
	return hashes
}
