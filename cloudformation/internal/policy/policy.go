// Package policy reads IAM policies and decides by them, as far as the policies of this directory need it: allow and
// deny, wild cards, the conditions StringEquals, StringLike, ArnLike and Bool. A condition that it does not know is an
// error, never a pass.
package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Policy is a policy document.
type Policy struct {
	Version    string
	Statements []Statement `json:"Statement"`
}

// Statement is one statement of a policy.
type Statement struct {
	Sid       string
	Effect    string
	Principal any
	Actions   words                       `json:"Action"`
	Resources words                       `json:"Resource"`
	Condition map[string]map[string]words `json:"Condition"`
}

// words is a string or a list of them.
type words []string

func (w *words) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*w = words{""}
		return json.Unmarshal(b, &(*w)[0])
	}
	return json.Unmarshal(b, (*[]string)(w))
}

var operators = []string{"StringEquals", "StringLike", "ArnLike", "Bool"}

// Parse reads a document. It refuses fields that IAM does not know, other versions, and statements that allow nothing
// or everything.
func Parse(text []byte) (*Policy, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var p Policy
	if err := d.Decode(&p); err != nil {
		return nil, fmt.Errorf("MalformedPolicyDocument: %w", err)
	}
	if p.Version != "2012-10-17" || len(p.Statements) == 0 {
		return nil, fmt.Errorf("MalformedPolicyDocument: version %q, %d statements", p.Version, len(p.Statements))
	}
	seen := map[string]bool{}
	for _, s := range p.Statements {
		switch {
		case s.Effect != "Allow" && s.Effect != "Deny", len(s.Actions) == 0, len(s.Resources) == 0 && s.Principal == nil:
			return nil, fmt.Errorf("MalformedPolicyDocument: statement %s", s.Sid)
		case s.Sid != "" && seen[s.Sid]:
			return nil, fmt.Errorf("MalformedPolicyDocument: two statements are called %s", s.Sid)
		}
		seen[s.Sid] = true
		for op := range s.Condition {
			if !slices.Contains(operators, op) {
				return nil, fmt.Errorf("statement %s: the condition %s is not known here", s.Sid, op)
			}
		}
	}
	return &p, nil
}

// Request is what somebody wants to do.
type Request struct {
	Action   string
	Resource string
	Keys     map[string]string // condition keys, as in aws:RequestedRegion
}

// Allowed decides by all policies of an identity: one must allow, none may deny.
func Allowed(policies []*Policy, r Request) bool {
	allowed := false
	for _, p := range policies {
		for _, s := range p.Statements {
			if !s.matches(r) {
				continue
			}
			if s.Effect == "Deny" {
				return false
			}
			allowed = true
		}
	}
	return allowed
}

func (s Statement) matches(r Request) bool {
	like := func(value string) func(string) bool { return func(pattern string) bool { return Like(pattern, value) } }
	if !slices.ContainsFunc(s.Actions,
		func(a string) bool { return Like(strings.ToLower(a), strings.ToLower(r.Action)) }) ||
		!slices.ContainsFunc(s.Resources, like(r.Resource)) {
		return false
	}
	for op, keys := range s.Condition {
		for key, wanted := range keys {
			have, ok := r.Keys[key]
			if !ok || !slices.ContainsFunc(wanted,
				func(w string) bool { return op == "StringEquals" && w == have || op != "StringEquals" && Like(w, have) }) {
				return false
			}
		}
	}
	return true
}

// Like matches a pattern in which * stands for any text and ? for any character.
func Like(pattern, s string) bool {
	for pattern != "" {
		switch {
		case pattern[0] == '*':
			for i := 0; i <= len(s); i++ {
				if Like(pattern[1:], s[i:]) {
					return true
				}
			}
			return false
		case s == "" || pattern[0] != '?' && pattern[0] != s[0]:
			return false
		}
		pattern, s = pattern[1:], s[1:]
	}
	return s == ""
}
