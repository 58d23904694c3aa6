package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// MaxAudits is how many entries of the audit log are kept, the latest: what strangers try must not fill the disk.
const MaxAudits = 1_000_000

// Audit is an entry of the audit log: who did what, or tried to. Secrets never are in it.
type Audit struct {
	ID      int64           `json:"id"` // ascending
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor,omitempty"`   // user or key; empty: nobody was signed in
	Via     string          `json:"via,omitempty"`     // session, key, token or open
	Role    string          `json:"role,omitempty"`    // that the actor had
	From    string          `json:"from,omitempty"`    // address that the request came from
	Method  string          `json:"method,omitempty"`  // of the request; empty: none was made, as at a login
	Path    string          `json:"path,omitempty"`    // of the request, without its query
	Action  string          `json:"action,omitempty"`  // name of the operation, such as createKey
	Status  int             `json:"status,omitempty"`  // of the answer; 401, 403 and 429 are refusals
	Request string          `json:"request,omitempty"` // id of the request, which the server's log has too
	Change  json.RawMessage `json:"change,omitempty"`  // what the request said; secrets are masked
}

// Refused reports whether the entry is of something that was refused.
func (a *Audit) Refused() bool { return a.Status == 401 || a.Status == 403 || a.Status == 429 }

// AuditFilter picks entries; empty: all.
type AuditFilter struct {
	Actor   string
	Action  string
	Refused bool // refusals only
	Since   time.Time
	Until   time.Time // before then
}

// AuditStore keeps the audit log. Nothing in it is changed.
type AuditStore interface {
	// AddAudit stores an entry and sets its number. Entries of changes are stored with them: see WithAudit.
	AddAudit(ctx context.Context, a *Audit) error
	Audits(ctx context.Context, f AuditFilter, p Page) (*List[Audit], error) // the newest first
}

// pendingAudit is an entry that waits for the change that it is about.
type pendingAudit struct {
	mu    sync.Mutex // held while a transaction has the entry
	entry *Audit     // nil: written, or there is none
}

type auditKey struct{}

// WithAudit gives an entry to the first change that a Store makes under the context. Both are one transaction: no
// change is without its entry, and no entry tells of a change that failed. Its number is 0 until it is stored.
func WithAudit(ctx context.Context, a *Audit) context.Context {
	return context.WithValue(ctx, auditKey{}, &pendingAudit{entry: a})
}

// WithoutAudit is for what is stored on the way and is not the change itself, such as the end of a session.
func WithoutAudit(ctx context.Context) context.Context {
	return context.WithValue(ctx, auditKey{}, &pendingAudit{})
}

// TakeAudit is for stores: the entry that a transaction has to write, nil for none. Settle must be called when the
// transaction has ended. Of one that failed, the next transaction gets the entry. Meanwhile others under the same
// context wait.
func TakeAudit(ctx context.Context) (a *Audit, settle func(error)) {
	p, _ := ctx.Value(auditKey{}).(*pendingAudit)
	if p == nil {
		return nil, func(error) {}
	}
	p.mu.Lock()
	return p.entry, func(err error) {
		switch {
		case p.entry == nil:
		case err == nil:
			p.entry = nil
		default:
			p.entry.ID = 0
		}
		p.mu.Unlock()
	}
}

// DropAudit takes the entry back that no change has taken: what is stored from now on is not what it is about.
func DropAudit(ctx context.Context) {
	_, settle := TakeAudit(ctx)
	settle(nil)
}

// AuditWaits reports whether the context has an entry that no change has stored yet.
func AuditWaits(ctx context.Context) bool {
	a, settle := TakeAudit(ctx)
	settle(errNotStored)
	return a != nil
}

var errNotStored = errors.New("nothing was stored")
