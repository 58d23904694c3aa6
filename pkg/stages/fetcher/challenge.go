package fetcher

import (
	"net/http"
	"slices"
	"strings"
)

// sayChallenge adds to the detail of a 401 what the server asks for, and whether that can be had.
func (a *attempt) sayChallenge() {
	if a.out.Status != http.StatusUnauthorized {
		return
	}
	schemes := challenges(a.answer.Header)
	sent := a.exchange.Sent().Get("Authorization") != ""
	switch spoken := slices.Contains(schemes, "basic") || slices.Contains(schemes, "bearer"); {
	case len(schemes) == 0:
	case !spoken:
		a.out.Detail += "; it asks for " + cut(strings.Join(schemes, ", ")) + ", and whirlpool knows basic and bearer only"
	case sent:
		a.out.Detail += "; it does not take the credentials that were sent (auth)"
	default:
		a.out.Detail += "; it asks for credentials: auth in the job file, or --user and --password, send them"
	}
}

// challenges are the schemes of authentication that an answer names (RFC 9110, section 11.6.1), in lower case. Several
// may stand in one field, between the parameters of others.
func challenges(h http.Header) (schemes []string) {
	for _, value := range h["Www-Authenticate"] {
		for part := range strings.SplitSeq(value, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			if name = strings.ToLower(name); isToken(name) && !slices.Contains(schemes, name) {
				schemes = append(schemes, name)
			}
		}
	}
	return schemes
}
