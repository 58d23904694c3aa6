// Package webhook delivers rows as signed posts to another program.
//
// A batch is a CloudEvent of the type org.whirlpool.records whose id is told by what it holds: the one that comes
// again,
// after an answer that was lost or a process that was killed, has the same id, and the same rows. So a receiver that
// remembers ids has each batch once; one that keeps rows by their numbers needs not even that.
package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/webhook"
)

// Type is the type of the events.
const Type = "org.whirlpool.records"

// Options say where batches go.
type Options struct {
	URL          string
	Secrets      []string // of the signature
	AllowPrivate bool
	Timeout      time.Duration // of one post; 0: 30 s
}

// Receiver implements deliver.Receiver.
type Receiver struct {
	opt    Options
	client *http.Client
}

var _ deliver.Receiver = (*Receiver)(nil)

// New makes a receiver. Nothing is sent.
func New(opt Options) *Receiver {
	if opt.Timeout <= 0 {
		opt.Timeout = 30 * time.Second
	}
	return &Receiver{opt, webhook.Client(opt.AllowPrivate, opt.Timeout)}
}

// Begin implements deliver.Receiver: nothing can be asked.
func (r *Receiver) Begin(context.Context, *deliver.Remote, int64) (bool, error) { return false, nil }

// End implements deliver.Receiver.
func (r *Receiver) End(context.Context, int64) error { return nil }

// Same implements deliver.Receiver.
func (r *Receiver) Same() bool { return true }

// Close implements deliver.Receiver.
func (r *Receiver) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// Take implements deliver.Receiver.
func (r *Receiver) Take(ctx context.Context, b *deliver.Batch) error {
	content, id := Event(b)
	answer, err := webhook.Post(ctx, r.client, r.opt.URL,
		&webhook.Message{ID: id, Content: content, Secrets: r.opt.Secrets,
			Agent: "Whirlpool/" + crawl.Version, Now: time.Now()})
	if errors.Is(err, webhook.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", deliver.ErrTooLarge, err)
	}
	if err != nil && answer != "" {
		err = fmt.Errorf("%w: %.200q", err, answer)
	}
	return err
}

// Event is what is posted of a batch, and its id.
func Event(b *deliver.Batch) (content []byte, id string) {
	data := []byte(`{"job":`)
	data = append(data, quoted(b.Job)...)
	data = append(append(data, `,"node":`...), quoted(b.Node)...)
	data = strconv.AppendInt(append(data, `,"first":`...), b.First, 10)
	data = append(data, `,"records":[`...)
	for i := range b.Rows {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(data, b.Rows[i].JSON...)
	}
	data = append(data, `]}`...)
	sum := sha256.Sum256(data)
	id = "rb_" + hex.EncodeToString(sum[:16])
	at := time.Time{}
	if len(b.Rows) > 0 {
		at = time.UnixMilli(b.Rows[len(b.Rows)-1].FetchedMS).UTC()
	}
	content = fmt.Appendf(nil,
		`{"specversion":"1.0","id":%q,"source":"whirlpool","type":%q,"time":%q,"subject":%s,"datacontenttype":"application/json","data":`,
		id, Type, at.Format("2006-01-02T15:04:05.000Z"), quoted(b.Job+"/"+b.Node))
	return append(append(content, data...), '}'), id
}

func quoted(text string) []byte {
	out, _ := json.Marshal(text) // a text always can be
	return out
}
