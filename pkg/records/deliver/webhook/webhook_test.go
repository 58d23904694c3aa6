package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver"
	"github.com/whirlpool-crawler/whirlpool/pkg/records/deliver/webhook"
	"github.com/whirlpool-crawler/whirlpool/pkg/testkit/delivertest"
)

// receiver is a program that takes posts. It fails each third one, before or after it has taken it, and keeps rows by
// their numbers, each batch once by its id.
type receiver struct {
	t     testing.TB
	url   string
	mu    sync.Mutex
	posts int
	ids   map[string]string
	first []string
	rows  map[int64]string
	last  int64
	fails bool
}

func newReceiver(t *testing.T, fails bool) *receiver {
	r := &receiver{t: t, ids: map[string]string{}, rows: map[int64]string{}, fails: fails}
	srv := httptest.NewServer(r)
	t.Cleanup(srv.Close)
	r.url = srv.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	id := req.Header.Get("webhook-id")
	mac := hmac.New(sha256.New, []byte("geheim"))
	mac.Write([]byte(id + "." + req.Header.Get("webhook-timestamp") + "." + string(body)))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); req.Header.Get("webhook-signature") != want {
		r.t.Errorf("signature %q, want %q", req.Header.Get("webhook-signature"), want)
	}
	var e struct {
		ID, Type string
		Data     struct {
			First   int64
			Records []json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &e); err != nil || e.ID != id || e.Type != webhook.Type {
		r.t.Errorf("%v: %.200s", err, body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts++
	if r.fails && r.posts%6 == 3 {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	if before, again := r.ids[id]; again && before != string(body) {
		r.t.Errorf("the id %s came with other rows", id)
	} else if !again {
		r.ids[id] = string(body)
		for i, row := range e.Data.Records {
			r.rows[e.Data.First+int64(i)] = string(row)
		}
		r.last = e.Data.First + int64(len(e.Data.Records)) - 1
		r.first = append(r.first, id)
	}
	if r.fails && r.posts%6 == 0 {
		http.Error(w, "taken, and the answer is lost", http.StatusBadGateway)
	}
}

func (r *receiver) Remote(testing.TB) *deliver.Remote {
	return &deliver.Remote{Receiver: webhook.New(webhook.Options{URL: r.url, Secrets: []string{"geheim"},
		AllowPrivate: true}), Where: r.url}
}

// Rows are those up to the last number of the last batch: what was taken back is overwritten by what came since.
func (r *receiver) Rows(t testing.TB) (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := int64(1); n <= r.last; n++ {
		if r.rows[n] == "" {
			t.Fatalf("there is no row %d", n)
		}
		out = append(out, r.rows[n])
	}
	return out
}

func (r *receiver) Wipe(testing.TB) bool { return false }

// Rows that are taken back and do not come again cannot be told to a receiver; the suite's other promises hold.
func TestSuite(t *testing.T) {
	delivertest.SuiteOfPosts(t, func(t *testing.T) delivertest.Place { return newReceiver(t, false) })
}

// A receiver that fails, or whose answers are lost, has each batch once by its id, in their order.
func TestDeliveredOnceByID(t *testing.T) {
	r := newReceiver(t, true)
	delivertest.Deliver(t, r, 300, 5)
	if rows := r.Rows(t); len(rows) != 300 {
		t.Errorf("%d rows", len(rows))
	}
	if len(r.ids) >= r.posts || len(r.first) != len(r.ids) || len(slices.Compact(slices.Clone(r.first))) != len(r.first) {
		t.Errorf("%d ids in %d posts, %d new", len(r.ids), r.posts, len(r.first))
	}
}

func TestFaults(t *testing.T) {
	gone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		http.Error(w, "why not", http.StatusTeapot)
	}))
	defer gone.Close()
	for want, opt := range map[string]webhook.Options{
		"loopback":       {URL: gone.URL + "/?token=geheim"},
		"answered 418":   {URL: gone.URL + "/?token=geheim", AllowPrivate: true},
		"none of http":   {URL: "ftp://u:geheim@x/", AllowPrivate: true},
		"none of http o": {URL: "http://[geheim", AllowPrivate: true},
	} {
		err := webhook.New(opt).Take(t.Context(), &deliver.Batch{First: 1, Rows: []deliver.Row{{JSON: []byte("{}")}}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("want %s: %v", want, err)
		}
	}
}
