package api

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/pkg/stores/sqlite"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// unwritten is an audit log into which nothing can be written afterwards: what is in it was stored with a change.
type unwritten struct{ workflow.AuditStore }

func (unwritten) AddAudit(context.Context, *workflow.Audit) error {
	return errors.New("the log is written with the change, or not at all")
}

// broken is a vault that stores nothing.
type broken struct{ Vault }

func (broken) SetValue(context.Context, string, string, []byte) error {
	return errors.New("the disk is full")
}

// storedWorld is a world whose keys, sessions and audit log are in a control store.
func storedWorld(t *testing.T) (*world, *sqlite.Store) {
	t.Helper()
	w := newWorld(t)
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "control.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w.s.Vault, w.s.safe, w.s.Audit = store, safe{store}, store
	return w, store
}

func (w *world) log(store workflow.AuditStore) []workflow.Audit {
	w.t.Helper()
	l, err := store.Audits(w.t.Context(), workflow.AuditFilter{}, workflow.Page{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	return l.Items
}

// A change is in the audit log once, also where nothing can be written after it: both are one transaction.
func TestAChangeIsStoredWithItsAuditEntry(t *testing.T) {
	w, store := storedWorld(t)
	w.s.Audit = unwritten{store}
	if got := w.ask("POST", base+"/api-keys", `{"name":"ci","role":"user"}`); got.status != http.StatusCreated {
		t.Fatalf("%d %s", got.status, got.body)
	}
	log := w.log(store)
	if len(log) != 1 || log[0].Action != "createKey" || log[0].Status != http.StatusCreated || log[0].Actor == "" ||
		log[0].From != "127.0.0.1" ||
		string(log[0].Change) != `{"name":"ci","role":"user"}` {
		t.Errorf("the audit log has %+v", log)
	}
	w.s.Audit = store
	if w.ask("POST", base+"/api-keys", `{"name":"ci2","role":"user"}`); len(w.log(store)) != 2 {
		t.Errorf("the audit log has %+v", w.log(store))
	}
	// What is stored on the way is no change: the use of a key, an answer that is kept.
	w.ask("POST", base+"/workflows:validate", `{"source":"seeds: [http://a.test/]"}`, "Idempotency-Key: k")
	if w.ask("GET", base+"/me", ""); len(w.log(store)) != 2 {
		t.Errorf("the audit log has %+v", w.log(store))
	}
}

// A change that fails has an entry that says so, and none that says it was made.
func TestAChangeThatFailsIsNoChangeInTheAuditLog(t *testing.T) {
	w, store := storedWorld(t)
	w.s.safe = safe{broken{store}}
	if got := w.ask("POST", base+"/api-keys",
		`{"name":"ci","role":"user"}`); got.status != http.StatusInternalServerError {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if log := w.log(store); len(log) != 1 || log[0].Status != http.StatusInternalServerError ||
		log[0].Action != "createKey" {
		t.Errorf("the audit log has %+v", log)
	}
	w.s.safe = safe{store}
	if got := w.ask("POST", base+"/api-keys", `{"name":"`); got.status != http.StatusBadRequest &&
		got.status != http.StatusUnprocessableEntity {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if log := w.log(store); len(log) != 2 || succeeded(log[0].Status) {
		t.Errorf("the audit log has %+v", log)
	}
}
