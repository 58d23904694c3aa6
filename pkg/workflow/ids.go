package workflow

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"net/url"
	"regexp"
	"strings"
	"time"
)

var slugRule = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$`)

const maxSlug = 48

// crockford is the alphabet of ULIDs: without letters that look like digits.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// newID returns a new id: wf_ and a ULID.
func newID(now time.Time) ID { return ID("wf_" + ulid(now)) }

// ulid returns a new ULID. They sort by their times.
func ulid(now time.Time) string {
	var b [20]byte // 32 zero bits, of which the encoding needs 2 before the 128 of the ULID
	binary.BigEndian.PutUint64(b[2:], uint64(now.UnixMilli()))
	_, _ = rand.Read(b[10:]) // never fails
	// 48 bits of time and 80 bits of chance: bytes 4 to 19, in 26 letters of 5 bits.
	var n [17]byte
	copy(n[1:], b[4:])
	return encode130(n)
}

// encode130 writes 128 bits as 26 letters, the first of which has 3 of them.
func encode130(n [17]byte) string {
	// Shift by 6 bits to the left: 130 bits then begin at the second bit of the first byte.
	var s [17]byte
	for i := range 17 {
		s[i] = n[i] << 6
		if i+1 < 17 {
			s[i] |= n[i+1] >> 2
		}
	}
	return crockford.EncodeToString(s[:])[:26]
}

// slugOf makes a slug of a text; empty where nothing of it can be in one.
func slugOf(text string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
			b.WriteByte('-')
		}
		if b.Len() == maxSlug {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

// hostOf is the host of a seed, without www.
func hostOf(seed string) string {
	if !strings.Contains(seed, "://") {
		seed = "http://" + seed
	}
	u, err := url.Parse(seed)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}
