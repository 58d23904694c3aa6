package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// Role says what an identity may do: each role has all rights of those before it.
type Role int

// The roles.
const (
	undeclared Role = iota
	Anyone          // without a session
	Viewer          // looks
	User            // makes and runs workflows
	Operator        // interferes with crawls that run
	Admin           // settings, keys
)

var roleNames = map[Role]string{Anyone: "anyone", Viewer: "viewer", User: "user", Operator: "operator", Admin: "admin"}

// String returns the role's name.
func (r Role) String() string { return roleNames[r] }

// RoleOf finds a role that people can have by its name.
func RoleOf(name string) (Role, error) {
	for r, n := range roleNames {
		if n == name && r != Anyone {
			return r, nil
		}
	}
	return undeclared, fmt.Errorf("there is no role %q: viewer, user, operator or admin", name)
}

// checkRole lets a request pass whose session or key has the operation's role.
func (s *Server) checkRole(ctx huma.Context, next func(huma.Context)) {
	need, _ := ctx.Operation().Metadata[metaRole].(Role)
	who := identityOf(ctx.Context())
	if op, _ := ctx.Context().Value(keyOperation).(*string); op != nil {
		*op = ctx.Operation().OperationID
	}
	switch {
	case need == Anyone || need != undeclared && who.Role >= need:
		if scope := ctx.Operation().Tags; need != Anyone && !who.within(scope[0], ctx.Method()) {
			_ = huma.WriteErr(s.api, ctx, http.StatusForbidden,
				fmt.Sprintf("the key's scopes do not cover %s: make one with that scope", scope[0]))
			return
		}
		next(ctx)
	case who.Role < Viewer:
		ctx.SetHeader("WWW-Authenticate", `Bearer realm="whirlpool"`)
		_ = huma.WriteErr(s.api, ctx, http.StatusUnauthorized,
			"sign in: `whirlpool login-url` prints a link for a browser; programs send an API key "+
				"as Authorization: Bearer (`whirlpool key` makes one)")
	default:
		_ = huma.WriteErr(s.api, ctx, http.StatusForbidden,
			fmt.Sprintf("this needs the role %s, and you are signed in as %s: use a link or key with more rights",
				need, who.Role))
	}
}

// once lets a request pass whose parameters are in its address once. Of several only the first would count, and who
// asks for two states would get one without a word.
func (s *Server) once(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	query := u.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if n := len(query[name]); n > 1 {
			_ = huma.WriteErr(s.api, ctx, http.StatusUnprocessableEntity, "validation failed", &huma.ErrorDetail{
				Location: "query." + name,
				Message:  fmt.Sprintf("it is there %d times: several values have commas between them", n)})
			return
		}
	}
	next(ctx)
}

// timed gives a handler its time.
func timed(ctx huma.Context, next func(huma.Context)) {
	if unending, _ := ctx.Operation().Metadata[metaStream].(bool); unending {
		_, w := humago.Unwrap(ctx)
		next(huma.WithValue(ctx, keyConnection, http.NewResponseController(w)))
		return
	}
	within, cancel := context.WithTimeout(ctx.Context(), handlerTime)
	defer cancel()
	next(huma.WithContext(ctx, within))
}

// mayTake gives a handler without a limit of its own so much time. The server's limits of a connection would end it
// sooner: the one for reading, by which it notices that the client has gone, would cancel ctx.
func mayTake(ctx context.Context, d time.Duration) {
	c, _ := ctx.Value(keyConnection).(*http.ResponseController)
	if c == nil {
		return
	}
	_ = c.SetReadDeadline(time.Time{}) // where there are no limits, none is lifted
	_ = c.SetWriteDeadline(time.Now().Add(d))
}

func unwrap(ctx huma.Context) (*http.Request, http.ResponseWriter) {
	r, w := humago.Unwrap(ctx)
	return r.WithContext(ctx.Context()), w
}
