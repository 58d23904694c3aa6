package deliver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ManifestName is the name of the object that lists the others below a prefix.
const ManifestName = "manifest.json"

// manifestVersion is what is read and written.
const manifestVersion = 1

// Manifest lists the objects of an output. An object that it does not list is none of the output's.
type Manifest struct {
	Version  int       `json:"version"`
	Job      string    `json:"job"`
	Node     string    `json:"node"`
	Owner    string    `json:"owner"` // tells crawls apart whose jobs have the same name
	Format   string    `json:"format"`
	Complete bool      `json:"complete"` // all is here of what was stored when it was written
	Rows     int64     `json:"rows"`
	Bytes    int64     `json:"bytes"`
	Parts    []Part    `json:"parts"`
	Updated  time.Time `json:"updated"`
}

// Part is an object with rows.
type Part struct {
	Key    string `json:"key"` // below the prefix
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hex
	ETag   string `json:"etag"`   // as the store of objects answered
	Rows   int64  `json:"rows"`
}

// cut leaves the first parts alone, and counts them.
func (m *Manifest) cut(parts int64) {
	if int64(len(m.Parts)) > parts {
		m.Parts = m.Parts[:parts]
	}
	m.Rows, m.Bytes = 0, 0
	for i := range m.Parts {
		m.Rows += m.Parts[i].Rows
		m.Bytes += m.Parts[i].Bytes
	}
}

// readManifest reads the manifest of an output; nil: there is none.
func (w *Objects) readManifest(ctx context.Context) (*Manifest, error) {
	data, err := w.o.To.Bucket.Get(ctx, w.o.To.Prefix+ManifestName)
	if err != nil || data == nil {
		return nil, err
	}
	m := new(Manifest)
	if err := json.Unmarshal(data, m); err != nil || m.Version != manifestVersion {
		return nil, errors.Join(err, fmt.Errorf("%s/%s is no manifest of version %d", w.o.To.Where, ManifestName,
			manifestVersion))
	}
	return m, nil
}

// putManifest stores the manifest as it is to be.
func (w *Objects) putManifest(ctx context.Context, m *Manifest) error {
	m.Updated = time.Now().UTC().Truncate(time.Second)
	data, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if _, err := w.o.To.Bucket.Put(ctx, w.o.To.Prefix+ManifestName, strings.NewReader(string(data)), int64(len(data)),
		"application/json"); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	w.manifest, w.sum = *m, hex.EncodeToString(sum[:])
	return nil
}
