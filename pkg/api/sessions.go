package api

import (
	"context"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// Me is who a request is from, and what it may do.
type Me struct {
	Actor    string `json:"actor" doc:"empty: nobody is signed in"`
	Role     string `json:"role" enum:"anyone,viewer,user,operator,admin"`
	Via      string `json:"via" enum:"none,session,key,open" doc:"open: the server asks nobody to sign in"`
	Version  string `json:"version" doc:"of the server"`
	SignedIn bool   `json:"signed_in"`
}

// KeyToMake is a key to be made.
type KeyToMake struct {
	Name string `json:"name" minLength:"1" maxLength:"60"`
	Role string `json:"role,omitempty" enum:"viewer,user,operator,admin" default:"user"`
	Days int    `json:"days,omitempty" minimum:"0" maximum:"3650" doc:"until it expires; 0: never"`
}

// LoginURL is a link that signs a user in once.
type LoginURL struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

func (s *Server) sessionRoutes() {
	add(s, route{method: http.MethodGet, path: "/me", id: "getMe", role: Anyone, text: "Who is signed in"}, s.getMe)
	add(s, route{method: http.MethodPost, path: "/session", id: "signIn", role: Anyone, text: "Sign in by the token of a link; the cookie of the answer is the session"},
		s.signIn)
	add(s, route{method: http.MethodDelete, path: "/session", id: "signOut", role: Anyone, text: "Sign out"}, s.signOut)
	add(s, route{method: http.MethodPost, path: "/login-urls", id: "makeLoginURL", role: Admin, status: http.StatusCreated,
		text: "Make a link that signs somebody in once"}, s.makeLogin)
	add(s, route{method: http.MethodGet, path: "/api-keys", id: "listKeys", role: Admin, text: "List API keys"}, s.listKeys)
	add(s, route{method: http.MethodPost, path: "/api-keys", id: "createKey", role: Admin, status: http.StatusCreated, text: "Make an API key; it is shown once"},
		s.createKey)
	add(s, route{method: http.MethodDelete, path: "/api-keys/{id}", id: "revokeKey", role: Admin, text: "Make an API key worthless"}, s.revokeKey)
}

func (s *Server) meOf(who Identity) Me {
	me := Me{Actor: who.Actor, Role: who.Role.String(), Via: who.Via, Version: crawl.Version, SignedIn: who.Role >= Viewer}
	if !me.SignedIn {
		me.Role, me.Via = Anyone.String(), "none"
	}
	return me
}

func (s *Server) getMe(ctx context.Context, _ *struct{}) (*body[Me], error) {
	return ok(s.meOf(identityOf(ctx)), nil)
}

type signedIn struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
	Body      Me
}

func (s *Server) signIn(ctx context.Context, in *struct {
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"100"`
	}
}) (*signedIn, error) {
	role, good := s.guard.use(in.Body.Token)
	if !good {
		return nil, problem(ctx, http.StatusUnauthorized, "the link was used, or is older than a quarter of an hour: `whirlpool login-url` prints a new one")
	}
	c, err := s.guard.open(ctx, role)
	if err != nil {
		return nil, err
	}
	who, err := s.guard.bySession(ctx, c.Value)
	return &signedIn{SetCookie: *c, Body: s.meOf(who)}, err
}

type signedOut struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

func (s *Server) signOut(ctx context.Context, _ *struct{}) (*signedOut, error) {
	if who := identityOf(ctx); who.Via == "session" {
		if err := s.Vault.SetValue(ctx, sectionSessions, who.hash, nil); err != nil {
			return nil, err
		}
	}
	return &signedOut{SetCookie: *s.guard.cookie("", -1)}, nil
}

func (s *Server) makeLogin(_ context.Context, in *struct {
	Body *struct {
		Role string `json:"role,omitempty" enum:"viewer,user,operator,admin" default:"admin"`
	}
}) (*body[LoginURL], error) {
	role := Admin
	if in.Body != nil && in.Body.Role != "" {
		var err error
		if role, err = RoleOf(in.Body.Role); err != nil {
			return nil, err
		}
	}
	return ok(LoginURL{URL: s.Login(role), Expires: s.now().Add(loginTime).UTC()}, nil)
}

func (s *Server) listKeys(ctx context.Context, _ *struct{}) (*body[workflow.List[Key]], error) {
	keys, err := s.keys(ctx)
	return list(ctx, s, &workflow.List[Key]{Items: keys}, err)
}

func (s *Server) createKey(ctx context.Context, in *struct{ Body KeyToMake }) (*body[Key], error) {
	role := User
	if in.Body.Role != "" {
		var err error
		if role, err = RoleOf(in.Body.Role); err != nil {
			return nil, err
		}
	}
	var expires time.Time
	if in.Body.Days > 0 {
		expires = s.now().UTC().AddDate(0, 0, in.Body.Days)
	}
	return okOf(s.NewKey(ctx, in.Body.Name, role, expires))
}

func (s *Server) revokeKey(ctx context.Context, in *struct {
	ID string `path:"id" maxLength:"40"`
}) (*none, error) {
	return &none{}, s.RevokeKey(ctx, in.ID)
}
