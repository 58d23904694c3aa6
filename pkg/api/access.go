package api

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Access says who may reach the API, and from where.
type Access struct {
	URL     string   // of the studio, such as http://127.0.0.1:8711, or https://example.org/crawler behind a proxy
	Hosts   []string // that a request may be for, with their ports
	NoAuth  bool     // everybody is an admin; for loopback addresses only
	Secure  bool     // browsers reach it by https: cookies are for that alone
	Mark    string   // tells its cookies from those of others behind the same proxy; empty: the port in URL does
	Version string
}

// Identity is who a request is from.
type Identity struct {
	Actor string // such as admin, or key:ci
	Role  Role
	Via   string // session, key, or open: no sign-in is needed
	Name  string // for people
	hash  string // of the session, or id of the key

	person  string   // id; empty: none
	account string   // whose quota counts; empty: nobody's
	scopes  []string // of the key; empty: all
	rate    float64  // requests a second; 0: as all have
	burst   int
}

// within reports whether the scopes of a key cover an operation: by its resource, as in workflows, or workflows:read.
func (i *Identity) within(resource, method string) bool {
	if len(i.scopes) == 0 {
		return true
	}
	reads := method == http.MethodGet || method == http.MethodHead
	for _, scope := range i.scopes {
		name, how, _ := strings.Cut(scope, ":")
		if name == resource && (how == "" || how == "read" && reads) {
			return true
		}
	}
	return false
}

func identityOf(ctx context.Context) Identity {
	who, _ := ctx.Value(keyIdentity).(Identity)
	return who
}

func actorOf(ctx context.Context) string { return identityOf(ctx).Actor }

// Lifetimes of sessions and links.
const (
	loginTime   = 15 * time.Minute
	sessionIdle = 12 * time.Hour
	sessionTime = 7 * 24 * time.Hour
	seenEvery   = time.Minute // a session's last use is noted
)

// Sections of the vault.
const (
	sectionSessions = "api.sessions"
	sectionKeys     = "api.keys"
	sectionLinks    = "api.links"
)

// guard knows who may come in.
type guard struct {
	s        *Server
	buckets  buckets
	changing sync.Mutex // persons
	mu       sync.Mutex
	local    string // hash of the key for commands on this machine; empty: there is none
}

// session is what is stored of one, under the hash of its cookie.
type session struct {
	Actor   string    `json:"actor"`
	Role    Role      `json:"role"`
	Created time.Time `json:"created"`
	Seen    time.Time `json:"seen"`
	Person  string    `json:"person,omitempty"` // who signed in by an issuer: their role counts as it is now
	Epoch   int       `json:"epoch,omitempty"`  // of the person
}

func newGuard(s *Server) *guard {
	return &guard{s: s, buckets: buckets{copies: s.Copies, of: map[string]*rate.Limiter{}}}
}

// secretText is a random text of so many letters and digits: 43 have 256 bits.
func secretText(n int) string {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var b strings.Builder
	for range n {
		i, _ := rand.Int(rand.Reader, big.NewInt(int64(len(letters)))) // it never fails
		b.WriteByte(letters[i.Int64()])
	}
	return b.String()
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Login makes a link that signs a user in once, within a quarter of an hour. The token is in the fragment, which
// browsers do not send and logs do not hold.
func (s *Server) Login(ctx context.Context, role Role) (string, error) {
	token := secretText(43)
	// deletes those that are too old
	err := s.safe.each(ctx, sectionLinks, s.now(), func(string, []byte) error { return nil })
	if err == nil {
		err = s.safe.put(ctx, sectionLinks, hashOf(token), []byte(role.String()), s.now().Add(loginTime))
	}
	return s.Access.URL + "/#token=" + token, err
}

// use takes a token that is good, once, over all copies of the program.
func (g *guard) use(ctx context.Context, token string) (Role, bool, error) {
	value, good, err := g.s.safe.take(ctx, sectionLinks, hashOf(token), g.s.now())
	if err != nil || !good {
		return undeclared, false, err
	}
	role, err := RoleOf(string(value))
	return role, err == nil, err
}

// open makes a session, and returns its cookie.
func (g *guard) open(ctx context.Context, role Role, person *Person) (*http.Cookie, error) {
	secret, now := secretText(43), g.s.now()
	v := session{Actor: map[bool]string{true: "admin", false: role.String()}[role == Admin], Role: role, Created: now,
		Seen: now}
	if person != nil {
		v.Actor, v.Person, v.Epoch = person.actor(), person.ID, person.Epoch
	}
	if err := g.store(ctx, hashOf(secret), v); err != nil {
		return nil, err
	}
	return g.cookie(secret, int(sessionTime.Seconds())), nil
}

func (g *guard) cookie(value string, age int) *http.Cookie {
	return &http.Cookie{Name: g.cookieName(), Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		Secure: g.s.Access.Secure, SameSite: http.SameSiteStrictMode}
}

// cookieName has the port in it: browsers do not tell the ports of a host apart, and so whoever signs in at one server
// would be signed out of the other.
func (g *guard) cookieName() string {
	a := g.s.Access
	u, err := url.Parse(a.URL)
	if err != nil {
		u = new(url.URL)
	}
	if !a.Secure {
		return "whirlpool-" + cmp.Or(u.Port(), u.Hostname())
	}
	mark := cmp.Or(a.Mark, u.Port())
	return strings.TrimSuffix("__Host-whirlpool-"+mark, "-")
}

func (g *guard) store(ctx context.Context, hash string, v session) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	ends := v.Seen.Add(sessionIdle)
	if last := v.Created.Add(sessionTime); last.Before(ends) {
		ends = last
	}
	return g.s.safe.put(ctx, sectionSessions, hash, data, ends)
}

// identify returns the identity behind a request. A request without one is no error.
func (g *guard) identify(r *http.Request) (Identity, error) {
	if g.s.Access.NoAuth {
		return Identity{Actor: "admin", Role: Admin, Via: "open"}, nil
	}
	bearer, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	c, err := r.Cookie(g.cookieName())
	switch {
	case given && err == nil:
		return Identity{}, fmt.Errorf("the request has a session and a key: send one of them")
	case given:
		return g.byKey(r.Context(), strings.TrimSpace(bearer))
	case err == nil:
		return g.bySession(r.Context(), c.Value)
	}
	return Identity{}, nil
}

func (g *guard) bySession(ctx context.Context, secret string) (Identity, error) {
	if len(secret) > 100 {
		return Identity{}, nil
	}
	return g.byHash(ctx, hashOf(secret))
}

func (g *guard) byHash(ctx context.Context, hash string) (Identity, error) {
	now := g.s.now()
	data, err := g.s.safe.get(ctx, sectionSessions, hash, now)
	if err != nil || data == nil {
		return Identity{}, err
	}
	var v session
	if err := json.Unmarshal(data, &v); err != nil {
		return Identity{}, fmt.Errorf("stored session: %w", err)
	}
	if now.Sub(v.Seen) > seenEvery {
		v.Seen = now
		if err := g.store(ctx, hash, v); err != nil {
			return Identity{}, err
		}
	}
	who := Identity{Actor: v.Actor, Role: v.Role, Via: "session", hash: hash, person: v.Person, account: v.Person}
	if who.account == "" {
		who.account = roleAccount + v.Role.String()
	}
	return who, g.asPerson(ctx, &who, &v.Epoch)
}

// asPerson gives an identity that is a person's the role that the person has now, and no more. epoch is that of a
// session; nil: of a key, which ends with its own time.
func (g *guard) asPerson(ctx context.Context, who *Identity, epoch *int) error {
	if who.person == "" {
		return nil
	}
	p, _, err := g.s.people().get(ctx, who.person)
	if err != nil || p == nil || epoch != nil && p.Epoch != *epoch {
		who.Role = undeclared
		return err
	}
	if who.Name = p.Name; epoch != nil {
		who.Role = p.role()
	}
	who.Role = min(who.Role, p.role())
	return nil
}

// still reports whether an identity that was accepted would be accepted now.
func (g *guard) still(ctx context.Context, who Identity) (bool, error) {
	switch who.Via {
	case "session":
		now, err := g.byHash(ctx, who.hash)
		return now.Role >= Viewer, err
	case "key":
		if who.hash == localKey {
			return true, nil
		}
		data, err := g.s.safe.get(ctx, sectionKeys, who.hash, g.s.now())
		if err == nil && data != nil {
			err = g.asPerson(ctx, &who, nil)
		}
		return data != nil && who.Role >= Viewer, err
	}
	return g.s.Access.NoAuth, nil
}
