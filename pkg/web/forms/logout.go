package forms

import (
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// logoutWords are what a URL calls logging out, without marks between the words.
var logoutWords = map[string]bool{"logout": true, "logoff": true, "signout": true, "signoff": true, "userlogout": true,
	"dologout": true, "logmeout": true, "sessiondestroy": true, "destroysession": true, "endsession": true,
	"abmelden": true, "ausloggen": true, "deconnexion": true, "cerrarsesion": true, "uitloggen": true, "wyloguj": true,
	"invalidatesession": true, "killsession": true, "ssologout": true, "memberlogout": true,
	"customerlogout": true, "accountlogout": true}

// IsLogout reports whether a URL looks like one that logs out: /logout, /users/sign_out, /account/log-off.php,
// ?action=logout, ?logout=1. An article about logging out, /help/how-to-log-out, does not.
func IsLogout(u weburl.URL) bool {
	segments := strings.Split(strings.ToLower(u.Path()), "/")
	for i, s := range segments {
		s, params, _ := strings.Cut(s, ";")
		for _, end := range []string{".php", ".asp", ".aspx", ".jsp", ".do", ".action", ".html", ".htm", ".cgi", ".pl"} {
			s = strings.TrimSuffix(s, end)
		}
		word := bare(s)
		if logoutWords[word] || logoutWords[bare(params)] || i > 0 && word == "destroy" &&
			strings.HasPrefix(segments[i-1], "session") {
			return true
		}
	}
	for pair := range strings.SplitSeq(strings.ToLower(u.Query()), "&") {
		key, value, _ := strings.Cut(pair, "=")
		if logoutWords[bare(value)] && verbs[key] || logoutWords[bare(key)] && value != "0" && value != "false" {
			return true
		}
	}
	return false
}

// IsLogoutText reports whether the text of a link says that it logs out.
func IsLogoutText(text string) bool {
	const most = 40
	return len(text) < most && logoutWords[strings.ReplaceAll(bare(strings.ToLower(text)), " ", "")]
}

// verbs are the keys of a query that say what to do; "q=logout" searches.
var verbs = map[string]bool{"action": true, "act": true, "a": true, "do": true, "mode": true, "cmd": true,
	"command": true, "op": true, "task": true, "page": true, "p": true, "r": true, "route": true, "view": true,
	"method": true, "func": true, "function": true, "title": true, "event": true, "target": true}

func bare(s string) string {
	if unescaped := strings.NewReplacer("%2d", "", "%5f", "", "%c3%a9", "e", "%c3%b3", "o", "special%3a", "", "special:",
		"").Replace(s); len(unescaped) < 40 {
		return strings.NewReplacer("-", "", "_", "", ".", "", "!", "").Replace(unescaped)
	}
	return ""
}
