package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/whirlpool-crawler/whirlpool/pkg/workflow"
)

// AccountQuota is what a role or an account may use, and what an account uses.
type AccountQuota struct {
	Of    string          `json:"of" doc:"role:user and the like, the id of a person, or key: and the id of a key that is nobody's"`
	Name  string          `json:"name" doc:"for people"`
	Role  string          `json:"role" enum:"user,operator,admin" doc:"whose quota holds where the account has none of its own"`
	Own   bool            `json:"own" doc:"it was set for this one; else it is the role's, or that by which the program begins"`
	Quota workflow.Quota  `json:"quota"`
	Lock  int64           `json:"lock" doc:"another one after each change; the ETag"`
	Usage *workflow.Usage `json:"usage,omitempty" doc:"absent: the server counts nothing"`
}

// QuotaPath names a role or an account.
type QuotaPath struct {
	Of string `path:"of" maxLength:"60" doc:"role:user, role:operator, role:admin, the id of a person, or key: and the id of a key"`
}

func (s *Server) quotaRoutes() {
	add(s, route{method: http.MethodGet, path: "/me/quota", id: "getMyQuota", role: Viewer,
		text: "What whoever asks may use, and uses"}, s.getMyQuota)
	add(s, route{method: http.MethodGet, path: "/quotas", id: "listQuotas", role: Admin,
		text: "What roles and accounts may use, and use: all roles, all people, and keys that have their own"}, s.listQuotas)
	add(s, route{method: http.MethodGet, path: "/quotas/{of}", id: "getQuota", role: Admin,
		text: "What a role or an account may use, and uses"}, s.getQuota)
	add(s, route{method: http.MethodPut, path: "/quotas/{of}", id: "setQuota", role: Admin,
		text: "Set what a role or an account may use"}, s.setQuota)
	add(s, route{method: http.MethodDelete, path: "/quotas/{of}", id: "resetQuota", role: Admin,
		text: "Let the quota hold again that did before one was set"}, s.resetQuota)
}

// quotaOf describes the quota of a role or an account.
func (s *Server) quotaOf(ctx context.Context, of string) (*AccountQuota, error) {
	all := Quotas{s.Vault}
	role, name, err := all.roleOf(ctx, of)
	if err != nil {
		return nil, err
	}
	own, err := s.Vault.Value(ctx, sectionQuotas, of)
	if err != nil {
		return nil, err
	}
	if role == undeclared && own == nil {
		return nil,
			fmt.Errorf("%w: there is no account %.60q: give role:user, the id of a person, or key: and the id of a key",
				workflow.ErrNotFound, of)
	}
	q, err := all.Of(ctx, of)
	if err != nil {
		return nil, err
	}
	out := &AccountQuota{Of: of, Name: name, Role: max(role, User).String(), Own: own != nil, Quota: *q, Lock: lockOf(own)}
	if s.Usage != nil {
		u, err := s.Usage(ctx, of)
		if err != nil {
			return nil, err
		}
		out.Usage = &u
	}
	return out, nil
}

func (s *Server) getMyQuota(ctx context.Context, _ *struct{}) (*body[AccountQuota], error) {
	who := identityOf(ctx)
	if who.account == "" { // the server asks nobody to sign in
		return ok(AccountQuota{Name: who.Actor, Role: who.Role.String(), Quota: defaultQuotas[Admin]}, nil)
	}
	return okOf(s.quotaOf(ctx, who.account))
}

func (s *Server) listQuotas(ctx context.Context, _ *struct{}) (*body[workflow.List[AccountQuota]], error) {
	of := []string{}
	for _, role := range []Role{User, Operator, Admin} {
		of = append(of, roleAccount+role.String())
	}
	all, err := s.people().all(ctx)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for i := range all {
		of = append(of, all[i].ID)
	}
	for _, one := range of {
		listed[one] = true
	}
	err = s.Vault.EachValue(ctx, sectionQuotas, func(one string, _ []byte) error {
		if !listed[one] {
			of = append(of, one)
		}
		return nil
	})
	l := &workflow.List[AccountQuota]{}
	for _, one := range of {
		if err != nil {
			return nil, err
		}
		var q *AccountQuota
		if q, err = s.quotaOf(ctx, one); err == nil {
			l.Items = append(l.Items, *q)
		}
	}
	return list(ctx, s, l, err)
}

func (s *Server) getQuota(ctx context.Context, in *QuotaPath) (*tagged[AccountQuota], error) {
	q, err := s.quotaOf(ctx, in.Of)
	if err != nil {
		return nil, err
	}
	return &tagged[AccountQuota]{ETag: etag(q.Lock), Body: *q}, nil
}

// QuotaCondition is the condition of a change of a quota.
type QuotaCondition struct {
	IfMatch string `header:"If-Match" maxLength:"64" doc:"ETag of the quota as it was read; without one, and with *: whatever it is now"`
}

// put stores a quota, or nil, where what is set is still what the client has read.
func (c QuotaCondition) put(ctx context.Context, v Vault, of string, data []byte) error {
	if c.IfMatch == "" || c.IfMatch == "*" {
		return v.SetValue(ctx, sectionQuotas, of, data)
	}
	was, err := v.Value(ctx, sectionQuotas, of)
	if err == nil && strings.TrimPrefix(c.IfMatch, "W/") != etag(lockOf(was)) {
		err = workflow.ErrStale
	}
	if err != nil {
		return err
	}
	return v.SwapValue(ctx, sectionQuotas, of, was, data)
}

func (s *Server) setQuota(ctx context.Context, in *struct {
	QuotaPath
	QuotaCondition
	Body workflow.Quota
}) (*body[AccountQuota], error) {
	if _, err := s.quotaOf(ctx, in.Of); err != nil {
		return nil, err
	}
	if in.Of == roleAccount+Viewer.String() {
		return nil, problem(ctx, http.StatusUnprocessableEntity, "viewers begin nothing: give user, operator or admin")
	}
	if in.Body.MinDelay < 0 {
		return nil, &workflow.Invalid{Faults: []workflow.Fault{{Key: "body.min_delay", Message: "give 0s or more"}}}
	}
	data, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	if err := in.put(ctx, s.Vault, in.Of, data); err != nil {
		return nil, err
	}
	return okOf(s.quotaOf(ctx, in.Of))
}

func (s *Server) resetQuota(ctx context.Context, in *struct {
	QuotaPath
	QuotaCondition
}) (*none, error) {
	if _, err := s.quotaOf(ctx, in.Of); err != nil {
		return nil, err
	}
	return &none{}, in.put(ctx, s.Vault, in.Of, nil)
}

// quotaProblem says which quota forbids what was asked for, with its bound and the figure that is over it.
func quotaProblem(ctx context.Context, over *workflow.OverQuota) *huma.ErrorModel {
	p := problem(ctx, http.StatusForbidden, over.Error(), &huma.ErrorDetail{Location: "quota." + over.Quota,
		Message: fmt.Sprintf("the bound is %v", over.Limit), Value: over.Have})
	p.Type, p.Title = problemBase+"quota", "Quota"
	return p
}
