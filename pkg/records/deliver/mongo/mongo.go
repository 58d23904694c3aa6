// Package mongo delivers rows into a collection of a MongoDB database.
//
// A document is known by the output that delivered it and its number, so what comes again replaces itself. The
// collection NAME_outputs says whose each output is, how many documents it has, and whether these are all.
package mongo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/netguard"
)

// Options say where documents go.
type Options struct {
	URL          string // mongodb://USER:PASSWORD@HOST/
	Database     string
	Collection   string
	AllowPrivate bool
}

// Receiver implements deliver.Receiver.
type Receiver struct {
	client *mongo.Client
	rows   *mongo.Collection
	of     *mongo.Collection
	output string
}

var _ deliver.Receiver = (*Receiver)(nil)

// askTime is how long one command may take.
const askTime = time.Minute

// New makes a receiver. It asks nothing.
func New(opt Options) (*Receiver, error) {
	o := options.Client().ApplyURI(opt.URL).SetAppName("whirlpool output").SetServerSelectionTimeout(
		15 * time.Second).SetTimeout(askTime)
	if err := o.Validate(); err != nil {
		return nil, errors.New("the address of the database is none: want mongodb://USER:PASSWORD@HOST/")
	}
	if !opt.AllowPrivate {
		o.SetDialer(&net.Dialer{Timeout: 15 * time.Second, ControlContext: netguard.Control})
	}
	client, err := mongo.Connect(o)
	if err != nil {
		return nil, errors.New("the address of the database is none: want mongodb://USER:PASSWORD@HOST/")
	}
	db := client.Database(opt.Database)
	return &Receiver{client: client, rows: db.Collection(opt.Collection), of: db.Collection(opt.Collection + "_outputs")},
		nil
}

// Same implements deliver.Receiver.
func (r *Receiver) Same() bool { return false }

// Close implements deliver.Receiver.
func (r *Receiver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := r.client.Disconnect(ctx); err != nil && !errors.Is(err, mongo.ErrClientDisconnected) {
		return err
	}
	return nil
}

// Begin implements deliver.Receiver.
func (r *Receiver) Begin(ctx context.Context, to *deliver.Remote, rows int64) (lost bool, err error) {
	r.output = to.Job + "/" + to.Node
	var is struct{ Owner string }
	err = r.of.FindOne(ctx, bson.D{{Key: "_id", Value: r.output}}).Decode(&is)
	switch {
	case err != nil && !errors.Is(err, mongo.ErrNoDocuments):
		return false, err
	case is.Owner != "" && is.Owner != to.Owner && !to.Replace:
		return false, deliver.ErrOther
	case is.Owner != to.Owner:
		lost, rows = rows > 0, 0
	}
	if err := r.state(ctx, to.Owner, rows, false); err != nil {
		return false, err
	}
	if _, err := r.rows.Indexes().CreateOne(ctx,
		mongo.IndexModel{Keys: bson.D{{Key: "output", Value: 1}, {Key: "number", Value: 1}}}); err != nil {
		return false, err
	}
	behind := bson.D{{Key: "output", Value: r.output}, {Key: "number", Value: bson.D{{Key: "$gt", Value: rows}}}}
	if _, err := r.rows.DeleteMany(ctx, behind); err != nil || rows == 0 {
		return lost, err
	}
	err = r.rows.FindOne(ctx, bson.D{{Key: "_id", Value: r.id(rows)}}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return true, nil
	}
	return false, err
}

// state stores what is known of the output.
func (r *Receiver) state(ctx context.Context, owner string, rows int64, complete bool) error {
	set := bson.D{{Key: "rows", Value: rows}, {Key: "complete", Value: complete}, {Key: "updated", Value: time.Now()}}
	if owner != "" {
		set = append(set, bson.E{Key: "owner", Value: owner})
	}
	_, err := r.of.UpdateOne(ctx, bson.D{{Key: "_id", Value: r.output}}, bson.D{{Key: "$set", Value: set}},
		options.UpdateOne().SetUpsert(true))
	return err
}

// End implements deliver.Receiver.
func (r *Receiver) End(ctx context.Context, rows int64) error { return r.state(ctx, "", rows, true) }

func (r *Receiver) id(number int64) string { return fmt.Sprintf("%s/%012d", r.output, number) }
