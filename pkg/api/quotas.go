package api

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/control"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const sectionQuotas = "api.quotas"

// Heads of accounts. The account of a person is the person's id.
const (
	roleAccount = "role:" // all who signed in by links as a role
	keyAccount  = "key:"  // a key that is nobody's, by its id
)

// defaultQuotas are those of roles for which nobody set one. Viewers begin nothing.
var defaultQuotas = map[Role]workflow.Quota{
	User:     {Running: 2},
	Operator: {Running: 5},
	Admin:    {IgnoreRobots: true},
}

// Quotas are those of roles, and of accounts that have their own.
type Quotas struct{ Vault Vault }

// Of is the quota that bounds an account: its own, or its role's. An account that is not known any more has a user's.
func (q Quotas) Of(ctx context.Context, account string) (*workflow.Quota, error) {
	own, err := q.stored(ctx, account)
	if err != nil || own != nil {
		return own, err
	}
	role, _, err := q.roleOf(ctx, account)
	if err != nil {
		return nil, err
	}
	return q.ofRole(ctx, max(role, User))
}

func (q Quotas) ofRole(ctx context.Context, role Role) (*workflow.Quota, error) {
	own, err := q.stored(ctx, roleAccount+role.String())
	if err != nil || own != nil {
		return own, err
	}
	byDefault := defaultQuotas[role]
	return &byDefault, nil
}

// stored is what was set for a role or an account; nil: nothing was.
func (q Quotas) stored(ctx context.Context, of string) (*workflow.Quota, error) {
	raw, err := q.Vault.Value(ctx, sectionQuotas, of)
	if err != nil || raw == nil {
		return nil, err
	}
	return quotaOfRaw(of, raw)
}

// lockOf tells what is set apart from what was: a number for JSON, so of 53 bits; nil: nothing is set.
func lockOf(raw []byte) int64 {
	if raw == nil {
		return 1
	}
	sum := sha256.Sum256(raw)
	return int64(binary.BigEndian.Uint64(sum[:8])>>12) + 2
}

func quotaOfRaw(of string, raw []byte) (*workflow.Quota, error) {
	own := new(workflow.Quota)
	if err := json.Unmarshal(raw, own); err != nil {
		return nil, fmt.Errorf("stored quota of %s: %w", of, err)
	}
	return own, nil
}

// roleOf is the role that an account has now, and what people call it; undeclared: there is no such account.
func (q Quotas) roleOf(ctx context.Context, account string) (role Role, name string, err error) {
	if text, is := strings.CutPrefix(account, roleAccount); is {
		role, err := RoleOf(text)
		if err != nil {
			return undeclared, "", nil //nolint:nilerr // there is none
		}
		return role, text, nil
	}
	if id, is := strings.CutPrefix(account, keyAccount); is {
		raw, err := q.Vault.Value(ctx, sectionKeys, id)
		if err != nil || len(raw) < 8 {
			return undeclared, "", err
		}
		var k apiKey
		if err := json.Unmarshal(raw[8:], &k); err != nil {
			return undeclared, "", fmt.Errorf("stored key %s: %w", id, err)
		}
		role, _ := RoleOf(k.Known.Role) // none is none
		return role, "key:" + k.Known.Name, nil
	}
	p, _, err := people{q.Vault}.get(ctx, account)
	if err != nil || p == nil {
		return undeclared, "", err
	}
	return p.role(), p.actor(), nil
}

// accountOfKey is whose quota a new key counts for: its maker's. An admin's key of a lower role has one of its own.
func accountOfKey(who *Identity, role Role) string {
	if who.Role >= Admin && role < Admin {
		return ""
	}
	return who.account
}

// account is whose quota counts what a key does.
func (k *apiKey) account() string {
	switch {
	case k.Account != "":
		return k.Account
	case k.Person != "" && !k.OwnAccount:
		return k.Person
	}
	return keyAccount + k.Known.ID
}

// permit refuses a definition that whoever asks may not write. before is what it changes; nil: nothing.
func (s *Server) permit(ctx context.Context, next, before *crawl.Job) error {
	account := identityOf(ctx).account
	if account == "" {
		return nil
	}
	q, err := Quotas{s.Vault}.Of(ctx, account)
	if err != nil {
		return err
	}
	if over := q.Permits(next, before); over != nil {
		return over
	}
	return nil
}

// permitted is a change of a job that whoever asks may make.
func (s *Server) permitted(ctx context.Context, change control.Change) control.Change {
	return func(job *crawl.Job) (*crawl.Job, error) {
		next, err := change(job)
		if err == nil {
			err = s.permit(ctx, next, job)
		}
		return next, err
	}
}

// overQuota is an *workflow.OverQuota; nil: the error is none.
func overQuota(err error) *workflow.OverQuota {
	var over *workflow.OverQuota
	errors.As(err, &over)
	return over
}
