package mongo

import (
	"errors"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Bounds of a batch. A message of the protocol holds 48 MB, so the last document always fits.
const (
	batchDocs  = 500
	batchBytes = 8 << 20
)

// writer collects documents into batches, one for each collection. A batch accepts documents until its turn to be
// written. So a lone document is written at once, and under load a batch is what arrived while others were written.
type writer struct {
	slots  chan struct{} // has room for the batches under way
	insert func(l life, docs []bson.Raw) (each map[int]error, err error)

	mu     sync.Mutex
	open   map[life]*batch
	closed bool
	flying sync.WaitGroup
}

// batch is a group of documents. each and err may be read once done is closed: err concerns all of them.
type batch struct {
	of    life
	docs  []bson.Raw
	bytes int
	done  chan struct{}
	each  map[int]error
	err   error
}

// errClosed is returned by a Put after Close.
var errClosed = errors.New("the content store is closed")

func (w *writer) init(writers int, insert func(life, []bson.Raw) (map[int]error, error)) {
	w.slots = make(chan struct{}, writers)
	w.insert = insert
	w.open = map[life]*batch{}
}

// join adds a document to the open batch of a job's life, and returns its place there.
func (w *writer) join(l life, doc bson.Raw) (b *batch, place int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, 0, errClosed
	}
	b = w.open[l]
	if b == nil {
		b = &batch{of: l, done: make(chan struct{})}
		w.open[l] = b
		w.flying.Go(func() { w.write(b) })
	}
	b.docs = append(b.docs, doc)
	b.bytes += len(doc)
	if len(b.docs) >= batchDocs || b.bytes >= batchBytes {
		delete(w.open, l) // the next document opens another
	}
	return b, len(b.docs) - 1, nil
}

// write waits for a slot, closes the batch to further documents and writes it.
func (w *writer) write(b *batch) {
	defer close(b.done)
	w.slots <- struct{}{}
	defer func() { <-w.slots }()
	w.mu.Lock()
	if w.open[b.of] == b {
		delete(w.open, b.of)
	}
	w.mu.Unlock()
	b.each, b.err = w.insert(b.of, b.docs)
}

// close lets the batches under way be written and refuses further documents.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.flying.Wait()
}
