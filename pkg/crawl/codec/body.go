package codec

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxUnpacked is more than limits.max_body can be.
const maxUnpacked = 1 << 30

var packer = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
})

var unpacker = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
})

// ErrBody is wrapped by the errors of bodies that are not what was kept.
var ErrBody = errors.New("the kept body is damaged")

// PackBody compresses the body of a page.
func PackBody(body []byte) ([]byte, error) {
	w, err := packer()
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(body, nil), nil
}

// UnpackBody is the inverse of PackBody. The body must have the SHA-256 under which it was kept.
func UnpackBody(packed []byte, digest [32]byte) ([]byte, error) {
	r, err := unpacker()
	if err != nil {
		return nil, err
	}
	body, err := r.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBody, err)
	}
	if sha256.Sum256(body) != digest {
		return nil, fmt.Errorf("%w: it has another SHA-256", ErrBody)
	}
	return body, nil
}
