package workflow

import (
	"context"
	"encoding/json"
	"time"
)

// MaxAudits is how many entries of the audit log are kept, the latest: what strangers try must not fill the disk.
const MaxAudits = 1_000_000

// Audit is an entry of the audit log: who did what, or tried to. Secrets never stand in it.
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
	// AddAudit stores an entry and sets its number.
	AddAudit(ctx context.Context, a *Audit) error
	Audits(ctx context.Context, f AuditFilter, p Page) (*List[Audit], error) // the newest first
}
