package mongo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
)

// maxDocument is how long a document may be, with room for what is beside the record (MongoDB: 16 MiB).
const maxDocument = 16<<20 - 64<<10

// Take implements deliver.Receiver.
func (r *Receiver) Take(ctx context.Context, b *deliver.Batch) error {
	models := make([]mongo.WriteModel, 0, len(b.Rows))
	for i := range b.Rows {
		number := b.First + int64(i)
		doc := bson.D{{Key: "_id", Value: r.id(number)}, {Key: "output", Value: r.output}, {Key: "number", Value: number},
			{Key: "url", Value: b.Rows[i].URL}, {Key: "fetched_at", Value: time.UnixMilli(b.Rows[i].FetchedMS)}}
		if record, err := document(b.Rows[i].JSON); err != nil {
			doc = append(doc, bson.E{Key: "fault", Value: err.Error()})
		} else {
			doc = append(doc, bson.E{Key: "record", Value: record})
		}
		models = append(models, mongo.NewReplaceOneModel().SetFilter(bson.D{{Key: "_id",
			Value: r.id(number)}}).SetReplacement(doc).SetUpsert(true))
	}
	_, err := r.rows.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	return err
}

// document is a record as BSON. It is not read as Extended JSON: what a page says with a key such as $date is text.
func document(row []byte) (bson.Raw, error) {
	dec := json.NewDecoder(bytes.NewReader(row))
	dec.UseNumber()
	v, err := value(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("the record is no JSON: %w", err)
	}
	d, ok := v.(bson.D)
	if !ok {
		return nil, errors.New("the record is no object")
	}
	raw, err := bson.Marshal(d)
	if err == nil && len(raw) > maxDocument {
		err = fmt.Errorf("the record has %d bytes, a document of MongoDB at most %d", len(raw), maxDocument)
	}
	return raw, err
}

// maxNested is how deep documents of MongoDB may be, about.
const maxNested = 80

func value(dec *json.Decoder, deep int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if deep > maxNested {
		return nil, fmt.Errorf("it is nested more than %d deep", maxNested)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return object(dec, deep+1)
		}
		return array(dec, deep+1)
	case json.Number:
		if n, err := token.Int64(); err == nil {
			return n, nil
		}
		if f, err := token.Float64(); err == nil {
			return f, nil
		}
		return token.String(), nil
	}
	return token, nil
}

func array(dec *json.Decoder, deep int) (any, error) {
	out := bson.A{}
	for dec.More() {
		v, err := value(dec, deep)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := dec.Token()
	return out, err
}

// keys are names of fields without what MongoDB gives a meaning: $ at their beginning, dots, NUL.
var keys = strings.NewReplacer("$", "＄", ".", "．", "\x00", "�")

func object(dec *json.Decoder, deep int) (any, error) {
	out := bson.D{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		v, err := value(dec, deep)
		if err != nil {
			return nil, err
		}
		out = append(out, bson.E{Key: keys.Replace(name), Value: v})
	}
	_, err := dec.Token()
	return out, err
}
