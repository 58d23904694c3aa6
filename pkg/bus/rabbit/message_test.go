package rabbit

import (
	"bytes"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/whirlpool-crawler/whirlpool/pkg/bus"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

func deliveryOf(p amqp.Publishing) *amqp.Delivery {
	return &amqp.Delivery{Headers: p.Headers, MessageId: p.MessageId, Type: p.Type, ContentType: p.ContentType,
		Body: p.Body, DeliveryMode: p.DeliveryMode, Timestamp: p.Timestamp}
}

func TestMessageProperties(t *testing.T) {
	u, err := weburl.Parse("http://example.test/")
	if err != nil {
		t.Fatal(err)
	}
	in := bus.Message{ID: crawl.MessageID{1, 2}, Attempt: 3, Redelivered: true,
		Event: &crawl.Fetch{Task: crawl.Task{Job: "j", URL: u}}}
	p, err := encode(in)
	if err != nil {
		t.Fatal(err)
	}
	if p.MessageId != in.ID.String() || p.Type != crawl.TopicFetch || p.DeliveryMode != amqp.Persistent ||
		p.ContentType != "application/cbor" || time.Since(p.Timestamp).Abs() > time.Minute {
		t.Errorf("properties %+v", p)
	}
	out, err := decode(crawl.TopicFetch, deliveryOf(p))
	if err != nil || out.ID != in.ID || out.Attempt != 3 || !out.Redelivered ||
		out.Event.(*crawl.Fetch).Task != in.Event.(*crawl.Fetch).Task {
		t.Errorf("came out as %+v, %v", out, err)
	}
}

func FuzzDecode(f *testing.F) {
	good, _ := crawl.EncodeEvent(&crawl.Fresh{Tasks: []crawl.Task{{Job: "j"}}})
	f.Add(crawl.TopicFrontierIn, crawl.MessageID{1}.String(), contentType, good, int64(1), "x-attempt", "text")
	f.Add(crawl.TopicFetch, "", "", []byte(nil), int64(-1), "x-due", "")
	f.Fuzz(func(t *testing.T, topic, id, kind string, body []byte, n int64, header, value string) {
		d := &amqp.Delivery{MessageId: id, ContentType: kind, Body: body,
			Headers: amqp.Table{headerAttempt: n, headerRedeliveries: int32(n), headerTopic: []byte(value), header: value}}
		before := bytes.Clone(body)
		m, err := decode(topic, d)
		switch {
		case err != nil && !crawl.IsPermanent(err):
			t.Errorf("the error of bytes that will not get better is not permanent: %v", err)
		case err == nil && (m.Event == nil || m.Event.Topic() != topic || m.Attempt < 0 ||
			!strings.EqualFold(m.ID.String(), id)):
			t.Errorf("decoded %+v", m)
		}
		_, _ = decodeTask(d)
		_ = letterOf("v", d)
		if p := copyOf(d); !bytes.Equal(p.Body, before) || p.MessageId != id || p.ContentType != kind {
			t.Errorf("the copy differs: %+v", p)
		}
	})
}
