package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

type keyPath struct {
	ID string `path:"id" maxLength:"40"`
}

func (s *Server) keyRoutes() {
	add(s, route{method: http.MethodGet, path: "/api-keys", id: "listKeys", role: User,
		text: "List API keys: an admin's list has all, others see their own"},
		s.listKeys)
	add(s, route{method: http.MethodPost, path: "/api-keys", id: "createKey", role: User, status: http.StatusCreated,
		text: "Make an API key, of one's own role at most; it is shown once"}, s.createKey)
	add(s, route{method: http.MethodPost, path: "/api-keys/{id}:rotate", id: "rotateKey", role: User,
		text: "Give a key a new secret, which is shown once; the one before is good for 24 hours more"}, s.rotateKey)
	add(s, route{method: http.MethodDelete, path: "/api-keys/{id}", id: "revokeKey", role: User,
		text: "Make an API key worthless"}, s.revokeKey)
}

// owns reports whether somebody may see and change a key.
func owns(who *Identity, owner string) bool {
	return who.Role >= Admin || owner != "" && owner == who.Actor
}

func (s *Server) listKeys(ctx context.Context, _ *struct{}) (*body[workflow.List[Key]], error) {
	keys, err := s.keys(ctx)
	who := identityOf(ctx)
	keys = slices.DeleteFunc(keys, func(k Key) bool { return !owns(&who, k.Owner) })
	return list(ctx, s, &workflow.List[Key]{Items: keys}, err)
}

func (s *Server) createKey(ctx context.Context, in *struct{ Body KeyToMake }) (*body[Key], error) {
	who, role := identityOf(ctx), User
	if in.Body.Role != "" {
		var err error
		if role, err = RoleOf(in.Body.Role); err != nil {
			return nil, err
		}
	}
	if role > who.Role {
		return nil, problem(ctx, http.StatusForbidden,
			fmt.Sprintf("a key has at most its maker's role, and you are signed in as %s", who.Role))
	}
	if err := s.checkScopes(ctx, &who, in.Body.Scopes); err != nil {
		return nil, err
	}
	k := apiKey{Person: who.person,
		Known: Key{Name: in.Body.Name, Role: role.String(), Owner: who.Actor, Scopes: in.Body.Scopes, Rate: in.Body.Rate,
			Burst: in.Body.Burst}}
	k.Account = accountOfKey(&who, role)
	k.OwnAccount = k.Account == ""
	if k.Known.Rate > 0 && k.Known.Burst == 0 {
		k.Known.Burst = max(int(k.Known.Rate), 1)
	}
	if in.Body.Days > 0 {
		k.Known.Expires = s.now().UTC().AddDate(0, 0, in.Body.Days)
	}
	return okOf(s.addKey(ctx, k))
}

// checkScopes refuses scopes that there are not, and those that a key's maker, a key itself, has not.
func (s *Server) checkScopes(ctx context.Context, who *Identity, scopes []string) error {
	known := s.resources()
	for _, scope := range scopes {
		name, how, limited := strings.Cut(scope, ":")
		method := map[bool]string{true: http.MethodGet, false: http.MethodPost}[limited]
		switch {
		case !known[name] || limited && how != "read":
			return &workflow.Invalid{Faults: []workflow.Fault{{Key: "body.scopes",
				Message: fmt.Sprintf("there is no scope %.60q: give a resource such as workflows, or executions:read", scope)}}}
		case !who.within(name, method):
			return problem(ctx, http.StatusForbidden, fmt.Sprintf("your own key does not cover %s", scope))
		}
	}
	if len(scopes) == 0 && len(who.scopes) > 0 {
		return problem(ctx, http.StatusForbidden, "your own key has scopes: name some of them")
	}
	return nil
}

// resources are what scopes can name: the tags of all operations.
func (s *Server) resources() map[string]bool {
	known := map[string]bool{}
	for _, item := range s.api.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				known[op.Tags[0]] = true
			}
		}
	}
	return known
}

// mine finds a key that whoever asks may change.
func (s *Server) mine(ctx context.Context, id string) error {
	k, err := s.getKey(ctx, id)
	who := identityOf(ctx)
	if err == nil && (k == nil || !owns(&who, k.Known.Owner)) {
		err = noKey(id)
	}
	return err
}

func (s *Server) rotateKey(ctx context.Context, in *keyPath) (*body[Key], error) {
	if err := s.mine(ctx, in.ID); err != nil {
		return nil, err
	}
	return okOf(s.RotateKey(ctx, in.ID))
}

func (s *Server) revokeKey(ctx context.Context, in *keyPath) (*none, error) {
	if err := s.mine(ctx, in.ID); err != nil {
		return nil, err
	}
	return &none{}, s.RevokeKey(ctx, in.ID)
}

type auditsIn struct {
	Paged
	Actor   string    `query:"actor" maxLength:"200"`
	Action  string    `query:"action" maxLength:"80" doc:"name of an operation, such as createKey"`
	Refused bool      `query:"refused" doc:"what was refused only"`
	Since   time.Time `query:"since"`
	Until   time.Time `query:"until" doc:"before then"`
}

func (s *Server) peopleRoutes() {
	s.keyRoutes()
	add(s, route{method: http.MethodGet, path: "/users", id: "listUsers", role: Admin, text: "People who have signed in"},
		s.listUsers)
	add(s, route{method: http.MethodPatch, path: "/users/{id}", id: "changeUser", role: Admin,
		text: "Give a person a role, or sign the person out"}, s.changeUser)
	add(s, route{method: http.MethodGet, path: "/audit", id: "listAudit", role: Admin,
		text: "Who did what, or tried to, the newest first"}, s.listAudit)
}

func (s *Server) listUsers(ctx context.Context, _ *struct{}) (*body[workflow.List[Person]], error) {
	all, err := s.people().all(ctx)
	return list(ctx, s, &workflow.List[Person]{Items: all}, err)
}

func (s *Server) changeUser(ctx context.Context, in *struct {
	Condition
	ID   string `path:"id" maxLength:"60"`
	Body PersonChange
}) (*tagged[Person], error) {
	lock, err := in.lock(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.setPerson(ctx, actorOf(ctx), in.ID, lock, in.Body)
	if err != nil {
		return nil, err
	}
	return &tagged[Person]{ETag: etag(p.Lock), Body: *p}, nil
}

func (s *Server) listAudit(ctx context.Context, in *auditsIn) (*body[workflow.List[workflow.Audit]], error) {
	p, err := s.page(ctx, in.Paged)
	if err != nil || s.Audit == nil {
		return list(ctx, s, &workflow.List[workflow.Audit]{}, err)
	}
	l, err := s.Audit.Audits(ctx, workflow.AuditFilter{Actor: in.Actor, Action: in.Action, Refused: in.Refused,
		Since: in.Since, Until: in.Until}, p)
	return list(ctx, s, l, err)
}
