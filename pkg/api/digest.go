package api

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// digestOf reads the digest of the body out of a record as it is in pages.jsonl.
func digestOf(record []byte) (d crawl.Digest, err error) {
	var r struct {
		Digest string `json:"digest"`
	}
	if err := json.Unmarshal(record, &r); err != nil {
		return d, fmt.Errorf("record: %w", err)
	}
	sum, err := hex.DecodeString(strings.TrimPrefix(r.Digest, "sha256:"))
	if err != nil || len(sum) != len(d) {
		return d, fmt.Errorf("record: %q is no digest", r.Digest)
	}
	copy(d[:], sum)
	return d, nil
}
