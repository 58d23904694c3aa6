package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
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
	Role    string    `json:"role"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Key     string    `json:"key,omitempty" doc:"in the answer that makes it only"`
}

// apiKey is what is stored of a key, under its id.
type apiKey struct {
	Known Key    `json:"known"`
	Hash  string `json:"hash"`
}

// NewKey makes an API key. It never expires where expires is zero.
func (s *Server) NewKey(ctx context.Context, name string, role Role, expires time.Time) (*Key, error) {
	k := apiKey{Known: Key{ID: secretText(8), Name: name, Role: role.String(), Created: s.now().UTC(), Expires: expires}}
	secret := keyHead + k.Known.ID + "_" + secretText(43)
	k.Hash = hashOf(secret)
	data, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	if err := s.safe.put(ctx, sectionKeys, k.Known.ID, data, expires); err != nil {
		return nil, err
	}
	k.Known.Key = secret
	return &k.Known, nil
}

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
		return Identity{Actor: "admin", Role: Admin, Via: "key", hash: localKey}, nil
	}
	data, err := g.s.safe.get(ctx, sectionKeys, id, g.s.now())
	if err != nil || data == nil {
		return Identity{}, err
	}
	var k apiKey
	if err := json.Unmarshal(data, &k); err != nil {
		return Identity{}, fmt.Errorf("stored key %s: %w", id, err)
	}
	sum := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare([]byte(hex.EncodeToString(sum[:])), []byte(k.Hash)) != 1 {
		return Identity{}, nil
	}
	role, err := RoleOf(k.Known.Role)
	return Identity{Actor: "key:" + k.Known.Name, Role: role, Via: "key", hash: k.Known.ID}, err
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
	data, err := s.safe.get(ctx, sectionKeys, id, s.now())
	if err == nil && data == nil {
		err = fmt.Errorf("%w: there is no key %s", workflow.ErrNotFound, id)
	}
	if err != nil {
		return err
	}
	return s.Vault.SetValue(ctx, sectionKeys, id, nil)
}

// AdmitKey makes a key that stands in the configuration an admin's, as long as the process lives.
func (s *Server) AdmitKey(secret string) {
	s.guard.mu.Lock()
	defer s.guard.mu.Unlock()
	s.guard.local = hashOf(secret)
}
