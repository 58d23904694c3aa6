package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const sectionPeople = "api.people"

// Person is somebody who signs in by an issuer.
type Person struct {
	ID      string    `json:"id"`
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject" doc:"that the issuer knows the person by"`
	Email   string    `json:"email,omitempty"`
	Name    string    `json:"name,omitempty"`
	Role    string    `json:"role,omitempty" enum:"viewer,user,operator,admin" doc:"that counts: manual, else auto; none: the person may not sign in"`
	Auto    string    `json:"auto,omitempty" doc:"what the issuer's claims gave at the last sign-in"`
	Manual  string    `json:"manual,omitempty" doc:"what an administrator gave; it wins over auto, up and down"`
	By      string    `json:"by,omitempty" doc:"who gave manual"`
	Off     bool      `json:"disabled,omitempty" doc:"may not sign in; sessions and keys are worthless meanwhile"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen" doc:"last sign-in"`
	Lock    int64     `json:"lock" doc:"grows with each change; the ETag"`
	Epoch   int       `json:"epoch,omitempty" doc:"sessions that were made in another one have ended"`
}

// actor names a person in logs, events and the audit log.
func (p *Person) actor() string {
	if p.Email != "" {
		return p.Email
	}
	return p.ID
}

// role is what a person may do now.
func (p *Person) role() Role {
	if p.Off {
		return undeclared
	}
	r, err := RoleOf(p.Role)
	if err != nil {
		return undeclared
	}
	return r
}

// settle finds the role that counts.
func (p *Person) settle() {
	if p.Role = p.Manual; p.Role == "" {
		p.Role = p.Auto
	}
}

// personID is the id of whom an issuer knows by a subject.
func personID(issuer, subject string) string { return "u_" + hashOf(issuer + "\x00" + subject)[:20] }

// people keeps persons.
type people struct{ v Vault }

func (p people) get(ctx context.Context, id string) (one *Person, raw []byte, err error) {
	raw, err = p.v.Value(ctx, sectionPeople, id)
	if err != nil || raw == nil {
		return nil, nil, err
	}
	one = new(Person)
	if err := json.Unmarshal(raw, one); err != nil {
		return nil, nil, fmt.Errorf("stored person %s: %w", id, err)
	}
	return one, raw, nil
}

// change makes of a person what f makes of it; nil where there is none. It is tried again where another change came
// between.
func (p people) change(ctx context.Context, id string, f func(*Person) (*Person, error)) (*Person, error) {
	for {
		one, was, err := p.get(ctx, id)
		if err != nil {
			return nil, err
		}
		next, err := f(one)
		if err != nil {
			return nil, err
		}
		next.settle()
		next.Lock++
		data, err := json.Marshal(next)
		if err != nil {
			return nil, err
		}
		if err := p.v.SwapValue(ctx, sectionPeople, id, was, data); !errors.Is(err, workflow.ErrStale) {
			return next, err
		}
	}
}

// all lists everybody, by name.
func (p people) all(ctx context.Context) (out []Person, err error) {
	out = []Person{}
	err = p.v.EachValue(ctx, sectionPeople, func(_ string, raw []byte) error {
		var one Person
		if err := json.Unmarshal(raw, &one); err != nil {
			return err
		}
		out = append(out, one)
		return nil
	})
	slices.SortFunc(out, func(a, b Person) int { return strings.Compare(a.actor(), b.actor()) })
	return out, err
}

// PersonChange is a change of a person; absent: as it was.
type PersonChange struct {
	Manual   *string `json:"manual,omitempty" enum:",viewer,user,operator,admin" doc:"role; empty: what the issuer's claims give"`
	Disabled *bool   `json:"disabled,omitempty"`
	SignOut  bool    `json:"sign_out,omitempty" doc:"end all sessions of the person"`
}

// errLastAdmin keeps somebody there who can give roles.
var errLastAdmin = fmt.Errorf("%w: this is the last admin: make another person one first", workflow.ErrConflict)

// setPerson changes a person. The check for the last admin and the change are one step for this process only: two
// admins who demote each other at the same moment by two copies of a program would both succeed; the configuration's
// key remains then.
func (s *Server) setPerson(ctx context.Context, by, id string, lock int64, c PersonChange) (*Person, error) {
	s.guard.changing.Lock()
	defer s.guard.changing.Unlock()
	admins := 0
	all, err := s.people().all(ctx)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].role() == Admin && all[i].ID != id {
			admins++
		}
	}
	return s.people().change(ctx, id, func(p *Person) (*Person, error) {
		if p == nil {
			return nil, fmt.Errorf("%w: there is no person %.40q", workflow.ErrNotFound, id)
		}
		if lock != 0 && lock != p.Lock {
			return nil, workflow.ErrStale
		}
		was := p.role()
		if c.Manual != nil {
			p.Manual, p.By = *c.Manual, by
		}
		if c.Disabled != nil {
			p.Off = *c.Disabled
		}
		if c.SignOut {
			p.Epoch++
		}
		p.settle()
		if was == Admin && p.role() != Admin && admins == 0 {
			return nil, errLastAdmin
		}
		return p, nil
	})
}

func (s *Server) people() people { return people{s.Vault} }
