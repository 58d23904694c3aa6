package rabbit

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

func some(n, size int) []outgoing {
	out := make([]outgoing, n)
	for i := range out {
		out[i] = outgoing{"urlfilter",
			amqp.Publishing{MessageId: strconv.Itoa(i), Type: "urlfilter", ContentType: contentType,
				Body: bytes.Repeat([]byte{byte(i)}, size)}}
	}
	return out
}

func TestABundleDecodesToItsEvents(t *testing.T) {
	for _, n := range []int{1, 2, maxBundle} {
		packed := pack(some(n, 100))
		d := deliveryOf(packed.msg)
		d.Headers = amqp.Table{headerRedeliveries: int64(1)}
		jobs := jobsOf(*d)
		if packed.queue != "urlfilter" || len(jobs) != n {
			t.Fatalf("%d events to %s came out as %d", n, packed.queue, len(jobs))
		}
		for i, o := range some(n, 100) {
			d := jobs[i].Delivery
			if d.MessageId != o.msg.MessageId || d.ContentType != contentType || d.Type != o.msg.Type ||
				!bytes.Equal(d.Body, o.msg.Body) || number(d.Headers, headerRedeliveries) != 1 {
				t.Errorf("event %d of %d came out as %+v", i, n, d)
			}
		}
	}
}

// A body that is not a bundle is one job with unchanged bytes, so that it is buried as it came.
func TestADamagedBundleIsNotDecoded(t *testing.T) {
	whole := pack(some(3, 40)).msg.Body
	for name, body := range map[string][]byte{
		"nothing":         {},
		"another version": append([]byte{9}, whole[1:]...),
		"cut":             whole[:len(whole)-1],
		"cut in an id":    whole[:2],
		"no event":        {bundleVersion},
		"too many":        pack(some(maxBundle+1, 1)).msg.Body,
	} {
		d := amqp.Delivery{ContentType: bundleType, Body: body}
		if jobs := jobsOf(d); len(jobs) != 1 || !bytes.Equal(jobs[0].Body, body) || jobs[0].of != nil {
			t.Errorf("%s: came out as %d jobs", name, len(jobs))
		}
		if _, err := decode("urlfilter", &d); err == nil {
			t.Errorf("%s: can be decoded as an event", name)
		}
	}
}

// answers records the acknowledgements sent to the broker.
type answers struct {
	mu   sync.Mutex
	said []string
}

func (a *answers) note(s string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.said = append(a.said, s)
	return nil
}

func (a *answers) Ack(uint64, bool) error         { return a.note("ack") }
func (a *answers) Nack(_ uint64, _, b bool) error { return a.note("nack " + strconv.FormatBool(b)) }
func (a *answers) Reject(uint64, bool) error      { return errors.ErrUnsupported }
func (a *answers) bundle(n int) (jobs []*job)     { return a.jobs(pack(some(n, 10))) }
func (a *answers) jobs(packed outgoing) (all []*job) {
	d := deliveryOf(packed.msg)
	d.Acknowledger = a
	return jobsOf(*d)
}

// A bundle is answered once, when none of its events is being handled any more, and acknowledged only if all are
// settled.
func TestABundleIsAnsweredWhenAllEventsAreDone(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends []func(*job)
		want []string
	}{
		{"all settled", []func(*job){(*job).done, (*job).done, (*job).done}, []string{"ack"}},
		{"one in hand", []func(*job){(*job).done, (*job).done, func(*job) {}}, nil},
		{"some given back", []func(*job){(*job).giveBack, (*job).done, (*job).giveBack}, []string{"nack true"}},
		{"all given back", []func(*job){(*job).giveBack, (*job).giveBack, (*job).giveBack}, []string{"nack true"}},
		{"one not settled", []func(*job){(*job).done, (*job).abandon, (*job).done}, nil},
		{"one not settled, one given back", []func(*job){(*job).giveBack, (*job).abandon, (*job).done}, nil},
		{"one settled", []func(*job){(*job).done}, []string{"ack"}},
		{"one given back alone", []func(*job){(*job).giveBack}, []string{"nack true"}},
		{"one not settled alone", []func(*job){(*job).abandon}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &answers{}
			var wg sync.WaitGroup
			for i, j := range a.bundle(len(tt.ends)) {
				wg.Go(func() { tt.ends[i](j) })
			}
			wg.Wait()
			if !slices.Equal(a.said, tt.want) {
				t.Errorf("the broker was told %q, want %q", a.said, tt.want)
			}
		})
	}
}

func TestARedeliveredBundleIsSplitIntoEvents(t *testing.T) {
	d := deliveryOf(pack(some(3, 10)).msg)
	d.Redelivered = true
	if jobs := jobsOf(*d); len(jobs) != 1 {
		t.Fatalf("a bundle that was delivered before is %d jobs, want 1", len(jobs))
	}
	for i, o := range again(d, "urlfilter.retry", amqp.Table{headerRedeliveries: int64(1)}) {
		if o.queue != "urlfilter.retry" || o.msg.MessageId != strconv.Itoa(i) || o.msg.ContentType != contentType ||
			o.msg.DeliveryMode != amqp.Persistent || number(o.msg.Headers, headerRedeliveries) != 1 {
			t.Errorf("copy %d is %+v", i, o)
		}
	}
}
