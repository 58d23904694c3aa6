package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// OIDC is an issuer of OpenID Connect that signs people in: authorization code with PKCE, state and nonce. The server
// is a confidential client; browsers never see a token.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret string
	// DefaultRole is of people to whom Groups gives none; undeclared: they may not sign in.
	DefaultRole Role
	GroupsClaim string          // of the ID token
	Scopes      []string        // besides openid, email and profile
	Groups      map[string]Role // the highest counts

	mu       sync.Mutex
	provider *oidc.Provider // nil: not asked yet
}

// discoverTime bounds how long the issuer is asked.
const discoverTime = 10 * time.Second

// known asks the issuer where it does what, once.
func (o *OIDC) known(ctx context.Context) (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil {
		return o.provider, nil
	}
	// The provider keeps the context, to fetch new keys of the issuer.
	client := &http.Client{Timeout: discoverTime}
	p, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), client), o.Issuer)
	if err == nil {
		o.provider = p
	}
	return p, err
}

// config is that of the code flow.
func (o *OIDC) config(p *oidc.Provider, callback string) *oauth2.Config {
	return &oauth2.Config{ClientID: o.ClientID, ClientSecret: o.ClientSecret, Endpoint: p.Endpoint(),
		RedirectURL: callback, Scopes: append([]string{oidc.ScopeOpenID, "email", "profile"}, o.Scopes...)}
}

// claims are those of an ID token that count here.
type claims struct {
	Subject  string `json:"sub"`
	Email    string `json:"email"`
	Verified *bool  `json:"email_verified"`
	Name     string `json:"name"`
	Nonce    string `json:"nonce"`
	groups   []string
}

// redeem exchanges a code for the claims of the person.
func (o *OIDC) redeem(ctx context.Context, callback, code, verifier, nonce string) (*claims, error) {
	p, err := o.known(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: discoverTime})
	token, err := o.config(p, callback).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return nil, errors.New("the issuer did not take the code") // the error may hold the answer
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := p.Verifier(&oidc.Config{ClientID: o.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("the issuer's ID token is not good: %w", err)
	}
	if id.Nonce != nonce {
		return nil, errors.New("the issuer's ID token is of another sign-in")
	}
	c := new(claims)
	if err := id.Claims(c); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := id.Claims(&all); err != nil {
		return nil, err
	}
	c.groups = groupsOf(all[o.GroupsClaim])
	return c, nil
}

// groupsOf reads a claim that is a list of texts, or one text.
func groupsOf(raw json.RawMessage) (list []string) {
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return strings.Fields(one)
	}
	return nil
}

// role is what claims give; empty: nothing.
func (o *OIDC) role(c *claims) string {
	best := o.DefaultRole
	for _, g := range c.groups {
		best = max(best, o.Groups[g])
	}
	if best < Viewer {
		return ""
	}
	return best.String()
}

// signedInBy stores who has signed in.
func (s *Server) signedInBy(ctx context.Context, c *claims) (*Person, error) {
	now := s.now().UTC()
	return s.people().change(ctx, personID(s.OIDC.Issuer, c.Subject), func(p *Person) (*Person, error) {
		if p == nil {
			p = &Person{ID: personID(s.OIDC.Issuer, c.Subject), Issuer: s.OIDC.Issuer, Subject: c.Subject, Created: now}
		}
		p.Name, p.Seen, p.Auto = c.Name, now, s.OIDC.role(c)
		if p.Email = ""; c.Verified == nil || *c.Verified { // anybody could claim another's address
			p.Email = c.Email
		}
		return p, nil
	})
}

// RolesOf reads GROUP=ROLE pairs that were validated.
func RolesOf(pairs []string) map[string]Role {
	out := map[string]Role{}
	for _, pair := range slices.Clone(pairs) {
		group, name, _ := strings.Cut(pair, "=")
		if r, err := RoleOf(name); err == nil {
			out[group] = r
		}
	}
	return out
}
