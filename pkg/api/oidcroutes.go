package api

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

const (
	sectionLogins = "api.logins" // sign-ins under way, by the sum of their state
	sectionCodes  = "api.codes"  // of commands that sign in, by their sums
	codeTime      = 2 * time.Minute
	cliKeyDays    = 30
	callbackPath  = base + "/auth/callback"
)

// login is a sign-in under way.
type login struct {
	Verifier string `json:"verifier"`
	Nonce    string `json:"nonce"`
	Return   string `json:"return"`
	Port     int    `json:"port,omitempty"`      // of a command that signs in on the person's machine
	State    string `json:"state,omitempty"`     // of the command
	Proof    string `json:"challenge,omitempty"` // of the command
}

// code is what a command exchanges for a key.
type code struct {
	Person string `json:"person"`
	Proof  string `json:"challenge"`
}

// CodeToUse is what a command has got from the browser.
type CodeToUse struct {
	Code     string `json:"code" minLength:"20" maxLength:"100"`
	Verifier string `json:"verifier" minLength:"20" maxLength:"200"`
	Name     string `json:"name,omitempty" maxLength:"60" doc:"of the key"`
}

func (s *Server) oidcRoutes() {
	s.mux.HandleFunc("GET "+base+"/auth/login", s.beginLogin)
	s.mux.HandleFunc("GET "+callbackPath, s.endLogin)
	add(s, route{method: http.MethodPost, path: "/auth/code", id: "useCode", role: Anyone, status: http.StatusCreated,
		text: "Exchange the code that a browser gave a command for an API key of 30 days"}, s.useCode)
}

// beginLogin sends a browser to the issuer.
func (s *Server) beginLogin(w http.ResponseWriter, r *http.Request) {
	if s.OIDC == nil {
		writeProblem(w, r, http.StatusNotFound,
			"this server has no issuer that signs people in: `whirlpool login-url` prints a link")
		return
	}
	q := r.URL.Query()
	l := login{Verifier: oauth2.GenerateVerifier(), Nonce: secretText(43),
		Return: localPath(strings.TrimPrefix(q.Get("return"), s.Access.prefix()))}
	if port, err := strconv.Atoi(q.Get("port")); err == nil && port > 0 && port < 65536 && len(q.Get("challenge")) == 43 &&
		len(q.Get("state")) <= 100 {
		l.Port, l.State, l.Proof = port, q.Get("state"), q.Get("challenge")
	}
	state := secretText(43)
	data, err := json.Marshal(l)
	if err == nil {
		// deletes those that are too old
		err = s.safe.each(r.Context(), sectionLogins, s.now(), func(string, []byte) error { return nil })
	}
	if err == nil {
		err = s.safe.put(r.Context(), sectionLogins, hashOf(state), data, s.now().Add(loginTime))
	}
	if err != nil {
		s.refuseLogin(w, r, loginTrouble, err)
		return
	}
	p, err := s.OIDC.known(r.Context())
	if err != nil {
		s.refuseLogin(w, r, loginSilent, err)
		return
	}
	http.SetCookie(w, s.loginCookie(state, int(loginTime.Seconds())))
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, s.OIDC.config(p, s.Access.URL+callbackPath).AuthCodeURL(state,
		oauth2.S256ChallengeOption(l.Verifier), oidc.Nonce(l.Nonce)),
		http.StatusFound)
}

// loginCookie ties a sign-in to the browser that began it: a link with another's code would sign in as the other.
func (s *Server) loginCookie(state string, age int) *http.Cookie {
	return &http.Cookie{Name: s.guard.cookieName() + "-login", Value: state, Path: "/", MaxAge: age, HttpOnly: true,
		Secure: s.Access.Secure, SameSite: http.SameSiteLaxMode}
}

// localPath is a path of the studio, and nothing that leads elsewhere.
func localPath(text string) string {
	if u, err := url.Parse(text); err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(text, "/") ||
		strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n") || strings.HasPrefix(text, "/api/") {
		return "/"
	}
	return text
}

// loginFailure is why nobody was signed in: a status, a text, and the word by which the studio knows the text.
type loginFailure struct {
	status     int
	word, text string
}

// What becomes of sign-ins that fail; the studio's sign-in page has the same texts.
var (
	loginTrouble = loginFailure{http.StatusInternalServerError, "trouble",
		"sign-ins cannot be stored or read: try again later"}
	loginSilent = loginFailure{http.StatusBadGateway, "silent", "the issuer does not answer: try again later"}
	loginUsed   = loginFailure{http.StatusUnauthorized, "used",
		"this sign-in was used, was begun by another browser, or is older than a quarter of an hour: sign in again"}
	loginRefused = loginFailure{http.StatusUnauthorized, "refused", "the issuer did not sign you in: sign in again"}
	loginBad     = loginFailure{http.StatusUnauthorized, "bad", "the issuer's answer is not good: sign in again"}
	loginNoRole  = loginFailure{http.StatusForbidden, "no-role",
		"you have no role here: ask an administrator of this server for one"}
)

// refuseLogin tells why nobody was signed in: a browser's page by the studio, anybody else by the answer.
func (s *Server) refuseLogin(w http.ResponseWriter, r *http.Request, f loginFailure, err error) {
	about := []any{"request", requestID(r.Context()), "reason", f.text}
	if err != nil {
		about = append(about, "error", err)
	}
	s.log.Warn("a sign-in failed", about...)
	// Browsers tell http sites of other machines nothing of a request's mode: there the page is the answer itself.
	page := s.Studio != nil && r.Header.Get("Sec-Fetch-Mode") == "navigate"
	if page {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, s.Access.prefix()+"/#/?signin="+f.word, http.StatusSeeOther)
	} else {
		writeProblem(w, r, f.status, f.text)
	}
	a := workflow.Audit{At: s.now().UTC().Truncate(time.Microsecond), From: fromOf(r), Method: r.Method,
		Path: r.URL.Path, Action: "signIn", Status: f.status, Request: requestID(r.Context())}
	if page || !a.Refused() { // answers that refuse are written anyway
		s.writeAudit(r.Context(), &a)
	}
}

// endLogin takes the issuer's answer.
func (s *Server) endLogin(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l, err := s.loginOf(r)
	http.SetCookie(w, s.loginCookie("", -1))
	switch {
	case s.OIDC == nil:
		writeProblem(w, r, http.StatusNotFound, "this server has no issuer that signs people in")
		return
	case err != nil:
		s.refuseLogin(w, r, loginTrouble, err)
		return
	case l == nil:
		s.refuseLogin(w, r, loginUsed, nil)
		return
	case q.Get("error") != "" || q.Get("code") == "":
		s.refuseLogin(w, r, loginRefused, nil)
		return
	}
	c, err := s.OIDC.redeem(r.Context(), s.Access.URL+callbackPath, q.Get("code"), l.Verifier, l.Nonce)
	if err != nil {
		s.refuseLogin(w, r, loginBad, err)
		return
	}
	p, err := s.signedInBy(r.Context(), c)
	if err != nil {
		s.refuseLogin(w, r, loginTrouble, err)
		return
	}
	if p.role() < Viewer {
		noteWho(r.Context(), Identity{Actor: p.actor(), Role: Viewer, Via: "oidc"})
		s.refuseLogin(w, r, loginNoRole, nil)
		return
	}
	s.admit(w, r, p, l)
}

// loginOf takes the sign-in under way that an answer is of; nil: there is none.
func (s *Server) loginOf(r *http.Request) (*login, error) {
	state := r.URL.Query().Get("state")
	c, err := r.Cookie(s.guard.cookieName() + "-login")
	if err != nil || len(state) > 100 || subtle.ConstantTimeCompare([]byte(c.Value), []byte(state)) != 1 {
		return nil, nil //nolint:nilerr,nilnil // it is of no sign-in
	}
	data, good, err := s.safe.take(r.Context(), sectionLogins, hashOf(state), s.now())
	if err != nil || !good {
		return nil, err
	}
	l := new(login)
	return l, json.Unmarshal(data, l)
}

// admit lets a person in: by a session, or by a code for the command that waits.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, p *Person, l *login) {
	who := Identity{Actor: p.actor(), Role: p.role(), Via: "oidc"}
	noteWho(r.Context(), who)
	to := s.Access.prefix() + l.Return
	var err error
	if l.Port > 0 {
		to, err = s.commandLink(r.Context(), p, l)
	} else {
		var c *http.Cookie
		if c, err = s.guard.open(r.Context(), p.role(), p); err == nil {
			http.SetCookie(w, c)
		}
	}
	if err != nil {
		s.refuseLogin(w, r, loginTrouble, err)
		return
	}
	s.writeAudit(r.Context(), &workflow.Audit{At: s.now().UTC().Truncate(time.Microsecond), From: fromOf(r),
		Method: r.Method, Path: r.URL.Path, Action: "signIn", Status: http.StatusFound, Request: requestID(r.Context())})
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, to, http.StatusFound)
}

// commandLink leads to the command that waits on the person's machine, with a code that only the command can use: it
// alone has the verifier.
func (s *Server) commandLink(ctx context.Context, p *Person, l *login) (string, error) {
	secret := secretText(43)
	data, err := json.Marshal(code{Person: p.ID, Proof: l.Proof})
	if err == nil {
		err = s.safe.put(ctx, sectionCodes, hashOf(secret), data, s.now().Add(codeTime))
	}
	return "http://127.0.0.1:" + strconv.Itoa(l.Port) + "/?" + url.Values{"code": {secret}, "state": {l.State}}.Encode(),
		err
}

func (s *Server) useCode(ctx context.Context, in *struct{ Body CodeToUse }) (*body[Key], error) {
	data, good, err := s.safe.take(ctx, sectionCodes, hashOf(in.Body.Code), s.now())
	if err != nil {
		return nil, err
	}
	var c code
	sum := sha256.Sum256([]byte(in.Body.Verifier))
	if !good || json.Unmarshal(data, &c) != nil ||
		subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(c.Proof)) != 1 {
		return nil, problem(ctx, http.StatusUnauthorized,
			"the code was used, is not this command's, or is older than two minutes: `whirlpool login` again")
	}
	p, _, err := s.people().get(ctx, c.Person)
	if err != nil {
		return nil, err
	}
	if p == nil || p.role() < Viewer {
		return nil, problem(ctx, http.StatusForbidden, "you have no role here: ask an administrator of this server for one")
	}
	noteWho(ctx, Identity{Actor: p.actor(), Role: p.role(), Via: "oidc"})
	name := in.Body.Name
	if name == "" {
		name = "login"
	}
	return okOf(s.addKey(ctx, apiKey{Person: p.ID, Known: Key{Name: name, Role: p.role().String(), Owner: p.actor(),
		Expires: s.now().UTC().AddDate(0, 0, cliKeyDays)}}))
}
