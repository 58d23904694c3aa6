package api

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// keyHead begins every API key, so that programs that look for secrets in files find it.
const keyHead = "wpk_"

// localKey stands for the key of commands on the same machine.
const localKey = "local"

// Key is what is known of a key. The key itself is shown once.
type Key struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Role    string    `json:"role" doc:"at most; a person's key has no more than the person has"`
	Owner   string    `json:"owner,omitempty" doc:"who made it"`
	Scopes  []string  `json:"scopes,omitempty" doc:"resources that it is for, as in workflows or executions:read; none: all"`
	Rate    float64   `json:"rate,omitempty" doc:"requests a second; none: 50"`
	Burst   int       `json:"burst,omitempty" doc:"requests at once; none: 200"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero" doc:"last, to the minute"`
	Rotated time.Time `json:"rotated,omitzero" doc:"the key before this one is good for 24 hours from then"`
	Key     string    `json:"key,omitempty" doc:"in the answer that makes it only"`
}

// apiKey is what is stored of a key, under its id.
type apiKey struct {
	Known  Key    `json:"known"`
	Hash   string `json:"hash"`
	Before string `json:"before,omitempty"` // hash of the key that was rotated
	Person string `json:"person,omitempty"` // whose it is
	// Account is whose quota counts what it does; empty: the person's, or where OwnAccount or nobody's, its own.
	Account    string `json:"account,omitempty"`
	OwnAccount bool   `json:"own_account,omitempty"`
}

// rotationOverlap is how long a rotated key is good beside the new one.
const rotationOverlap = 24 * time.Hour

// NewKey makes an API key. It never expires where expires is zero.
func (s *Server) NewKey(ctx context.Context, name string, role Role, expires time.Time) (*Key, error) {
	return s.addKey(ctx, apiKey{Known: Key{Name: name, Role: role.String(), Expires: expires}})
}

// addKey stores a key and returns it with its secret.
func (s *Server) addKey(ctx context.Context, k apiKey) (*Key, error) {
	k.Known.ID, k.Known.Created = secretText(8), s.now().UTC()
	secret := keyHead + k.Known.ID + "_" + secretText(43)
	k.Hash = hashOf(secret)
	if err := s.putKey(ctx, &k); err != nil {
		return nil, err
	}
	k.Known.Key = secret
	return &k.Known, nil
}

func (s *Server) putKey(ctx context.Context, k *apiKey) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return s.safe.put(ctx, sectionKeys, k.Known.ID, data, k.Known.Expires)
}

// getKey finds a key that is good.
func (s *Server) getKey(ctx context.Context, id string) (*apiKey, error) {
	data, err := s.safe.get(ctx, sectionKeys, id, s.now())
	if err != nil || data == nil {
		return nil, err
	}
	k := new(apiKey)
	if err := json.Unmarshal(data, k); err != nil {
		return nil, fmt.Errorf("stored key %s: %w", id, err)
	}
	return k, nil
}

// RotateKey gives a key a new secret. The one before is good for a day more.
func (s *Server) RotateKey(ctx context.Context, id string) (*Key, error) {
	k, err := s.getKey(ctx, id)
	if err == nil && k == nil {
		err = noKey(id)
	}
	if err != nil {
		return nil, err
	}
	secret := keyHead + id + "_" + secretText(43)
	k.Before, k.Hash, k.Known.Rotated = k.Hash, hashOf(secret), s.now().UTC()
	if err := s.putKey(ctx, k); err != nil {
		return nil, err
	}
	k.Known.Key = secret
	return &k.Known, nil
}

func noKey(id string) error { return fmt.Errorf("%w: there is no key %.40s", workflow.ErrNotFound, id) }

// LocalKey makes an admin's key that ends with the process: for commands of the user who runs the server.
func (s *Server) LocalKey() string {
	secret := keyHead + "local000_" + secretText(43)
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	s.guard.local = hashOf(secret)
	return secret
}

func (g *guard) isLocal(hash string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.local != "" && subtle.ConstantTimeCompare([]byte(hash), []byte(g.local)) == 1
}

// byKey says whose an API key is.
func (g *guard) byKey(ctx context.Context, secret string) (Identity, error) {
	id, _, good := strings.Cut(strings.TrimPrefix(secret, keyHead), "_")
	if !good || len(id) != 8 || len(secret) > 100 {
		return Identity{}, nil
	}
	if g.isLocal(hashOf(secret)) {
		return Identity{Actor: "admin", Role: Admin, Via: "key", hash: localKey, account: roleAccount + Admin.String()}, nil
	}
	k, err := g.s.getKey(ctx, id)
	if err != nil || k == nil || !g.matches(k, hashOf(secret)) {
		return Identity{}, err
	}
	role, err := RoleOf(k.Known.Role)
	if err != nil {
		return Identity{}, err
	}
	who := Identity{Actor: "key:" + k.Known.Name, Role: role, Via: "key", hash: k.Known.ID, person: k.Person,
		scopes: k.Known.Scopes, rate: k.Known.Rate, burst: k.Known.Burst, account: k.account()}
	if err := g.asPerson(ctx, &who, nil); err != nil || who.Role < Viewer {
		return Identity{}, err
	}
	return who, g.used(ctx, k)
}

// matches compares a key with the stored one, and with the one before.
func (g *guard) matches(k *apiKey, hash string) bool {
	same := func(stored string) bool { return subtle.ConstantTimeCompare([]byte(hash), []byte(stored)) == 1 }
	return same(k.Hash) || k.Before != "" && g.s.now().Sub(k.Known.Rotated) < rotationOverlap && same(k.Before)
}

// used notes the last use of a key, to the minute.
func (g *guard) used(ctx context.Context, k *apiKey) error {
	now := g.s.now().UTC()
	if now.Sub(k.Known.Used) < seenEvery {
		return nil
	}
	was, err := g.s.Vault.Value(ctx, sectionKeys, k.Known.ID)
	if err != nil || was == nil {
		return err
	}
	k.Known.Used = now.Truncate(time.Second)
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	err = g.s.Vault.SwapValue(ctx, sectionKeys, k.Known.ID, was, append(slices.Clone(was[:8]), data...))
	if errors.Is(err, workflow.ErrStale) {
		return nil // another noted it
	}
	return err
}

// keys lists what is known of all keys, the oldest first.
func (s *Server) keys(ctx context.Context) (out []Key, err error) {
	err = s.safe.each(ctx, sectionKeys, s.now(), func(_ string, data []byte) error {
		var k apiKey
		if err := json.Unmarshal(data, &k); err != nil {
			return err
		}
		out = append(out, k.Known)
		return nil
	})
	slices.SortFunc(out, func(a, b Key) int { return a.Created.Compare(b.Created) })
	return out, err
}

// RevokeKey makes a key worthless.
func (s *Server) RevokeKey(ctx context.Context, id string) error {
	k, err := s.getKey(ctx, id)
	if err == nil && k == nil {
		err = noKey(id)
	}
	if err != nil {
		return err
	}
	return s.Vault.SetValue(ctx, sectionKeys, id, nil)
}

// AdmitKey makes a key that is in the configuration an admin's, as long as the process lives.
func (s *Server) AdmitKey(secret string) {
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	s.guard.local = hashOf(secret)
}
