package api

import (
	"context"
	"net/http"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// Me is who a request is from, and what it may do.
type Me struct {
	Actor    string `json:"actor" doc:"empty: nobody is signed in"`
	Role     string `json:"role" enum:"anyone,viewer,user,operator,admin"`
	Via      string `json:"via" enum:"none,session,key,open" doc:"open: the server asks nobody to sign in"`
	Version  string `json:"version" doc:"of the server"`
	SignedIn bool   `json:"signed_in"`
	Name     string `json:"name,omitempty" doc:"of the person"`
	OIDC     bool   `json:"oidc,omitempty" doc:"people sign in at /api/v1/auth/login"`
}

// KeyToMake is a key to be made.
type KeyToMake struct {
	Name   string   `json:"name" minLength:"1" maxLength:"60"`
	Role   string   `json:"role,omitempty" enum:"viewer,user,operator,admin" default:"user"`
	Days   int      `json:"days,omitempty" minimum:"0" maximum:"3650" doc:"until it expires; 0: never"`
	Scopes []string `json:"scopes,omitempty" maxItems:"40" doc:"resources that it is for, as in workflows or executions:read; none: all"`
	Rate   float64  `json:"rate,omitempty" minimum:"0" maximum:"1000" doc:"requests a second; 0: 50"`
	Burst  int      `json:"burst,omitempty" minimum:"0" maximum:"10000" doc:"requests at once; 0: 200"`
}

// LoginURL is a link that signs a user in once.
type LoginURL struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

func (s *Server) sessionRoutes() {
	add(s, route{method: http.MethodGet, path: "/me", id: "getMe", role: Anyone, text: "Who is signed in"}, s.getMe)
	add(s, route{method: http.MethodPost, path: "/session", id: "signIn", role: Anyone,
		text: "Sign in by the token of a link; the cookie of the answer is the session"},
		s.signIn)
	add(s, route{method: http.MethodDelete, path: "/session", id: "signOut", role: Anyone, text: "Sign out"}, s.signOut)
	add(s, route{method: http.MethodPost, path: "/login-urls", id: "makeLoginURL", role: Admin, status: http.StatusCreated,
		text: "Make a link that signs somebody in once"}, s.makeLogin)
}

func (s *Server) meOf(who Identity) Me {
	me := Me{Actor: who.Actor, Role: who.Role.String(), Via: who.Via, Version: crawl.Version, SignedIn: who.Role >= Viewer,
		Name: who.Name, OIDC: s.OIDC != nil}
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
	role, good, err := s.guard.use(ctx, in.Body.Token)
	if err != nil {
		return nil, err
	}
	if !good {
		return nil, problem(ctx, http.StatusUnauthorized,
			"the link was used, or is older than a quarter of an hour: `whirlpool login-url` prints a new one")
	}
	c, err := s.guard.open(ctx, role, nil)
	if err != nil {
		return nil, err
	}
	who, err := s.guard.bySession(ctx, c.Value)
	noteWho(ctx, who)
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

func (s *Server) makeLogin(ctx context.Context, in *struct {
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
	link, err := s.Login(ctx, role)
	return ok(LoginURL{URL: link, Expires: s.now().Add(loginTime).UTC()}, err)
}
