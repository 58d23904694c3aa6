package mongo

import (
	"fmt"
	"hash/crc32"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sumKey is the last key that we write in a document: a CRC-32C checksum of the elements before it. Keys that people
// add come after it.
const sumKey = "checksum"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bodyAt is where the elements of a document begin, behind its length.
const bodyAt = 4

func sumText(elements []byte) string {
	return fmt.Sprintf("crc32c:%08x", crc32.Checksum(elements, castagnoli))
}

// sum appends the checksum of what was appended so far.
func (w *builder) sum() { w.text(sumKey, sumText(w.b[bodyAt:])) }

// sumOf computes the checksum of a document anew; false: it has none.
func sumOf(doc bson.Raw) (sum string, found bool) {
	elements, err := doc.Elements()
	if err != nil {
		return "", false
	}
	at := bodyAt
	for _, e := range elements {
		if key, err := e.KeyErr(); err == nil && key == sumKey {
			_, ok := e.Value().StringValueOK()
			return sumText(doc[bodyAt:at]), ok
		}
		at += len(e)
	}
	return "", false
}
