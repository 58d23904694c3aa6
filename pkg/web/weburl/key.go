package weburl

import "crypto/sha256"

// Key identifies a URL in stores: 8 bytes of the hash of its host key, then 16 bytes of the hash of its whole text.
// Keys of one host are neighbours when sorted, so the links of a page touch few pages of an index (Mercator, section
// 3.6).
//
// Both hashes are SHA-256, cut. Keys are compared across processes, nodes and years, so a per-process secret is out;
// and a secret in public source is none: with its key known, SipHash promises nothing. Authors of pages choose the URLs
// we hash and could otherwise make one of theirs hide another. 128 bits of SHA-256 take 2^64 trials to collide; the 64
// bits of the host decide the order only, never identity.
type Key [24]byte

// Key returns u's key. Canonicalise first: the key covers the text as it is.
func (u URL) Key() Key {
	var k Key
	host, whole := sum(u.HostKey()), sum(u.href)
	copy(k[:8], host[:])
	copy(k[8:], whole[:])
	return k
}

// sum hashes s; the buffer keeps the copy of an ordinary URL off the heap.
func sum(s string) [sha256.Size]byte {
	var buf [256]byte
	return sha256.Sum256(append(buf[:0], s...))
}
