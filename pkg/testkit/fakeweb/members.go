package fakeweb

import (
	"crypto/rand"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Members is a site that shows its pages to members only: they log in by a form with a token, get a session that ends
// in the middle of a crawl, and meet links that log out. It is an http.Handler.
type Members struct {
	User, Password string
	Pages          int // /members/0 to /members/Pages-1
	Expire         int // requests for members' pages after which a session ends; 0: never

	mu       sync.Mutex
	tokens   map[string]string // of the form, by visitor
	sessions map[string]int    // requests that are left
	seen     []MembersRequest
	logins   int
	refused  int
	logouts  int
}

// MembersRequest is a request as the site saw it.
type MembersRequest struct {
	Method, Path string
	At           time.Time
	Header       http.Header
}

// NewMembers returns a site.
func NewMembers(user, password string, pages, expire int) *Members {
	return &Members{User: user, Password: password, Pages: pages, Expire: expire, tokens: map[string]string{},
		sessions: map[string]int{}}
}

// ServeHTTP implements http.Handler.
func (m *Members) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, MembersRequest{r.Method, r.URL.RequestURI(), time.Now(), r.Header.Clone()})
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/members/"))
	switch {
	case r.URL.Path == "/login" && r.Method == http.MethodPost:
		m.login(w, r)
	case r.URL.Path == "/login":
		m.form(w)
	case r.URL.Path == "/logout" || r.URL.Path == "/users/sign_out" || r.URL.Query().Get("action") == "logout" ||
		r.URL.Path == "/bye":
		m.logouts++
		clear(m.sessions)
		fmt.Fprint(w, "<p>Good bye</p>")
	case r.URL.Path == "/":
		fmt.Fprint(w,
			`<title>Start</title><p>Welcome. <a class="logout" href="/logout">Log out</a> <a href="/members/0">Members</a></p>`)
	case strings.HasPrefix(r.URL.Path, "/members/") && err == nil && number >= 0 && number < m.Pages:
		m.page(w, r, number)
	default:
		http.NotFound(w, r)
	}
}

// form shows the log-in form to a new visitor, with a token tied to the visitor's cookie. The first form on the page is
// a decoy.
func (m *Members) form(w http.ResponseWriter) {
	visitor, token := rand.Text(), rand.Text()
	m.tokens[visitor] = token
	http.SetCookie(w, &http.Cookie{Name: "visitor", Value: visitor, Path: "/"})
	fmt.Fprintf(w, `<title>Please log in</title><form action="/search"><input name="q"></form>
<form id="in" method="post" action="/login?from=form"><input type="hidden" name="csrf" value="%s">
<input name="name"><input type="password" name="password"><input type="checkbox" name="remember" checked>
<input type="checkbox" name="spam"><button name="go" value="in">Log in</button></form>`, html.EscapeString(token))
}

func (m *Members) login(w http.ResponseWriter, r *http.Request) {
	visitor, err := r.Cookie("visitor")
	ok := err == nil && m.tokens[visitor.Value] != "" && r.PostFormValue("csrf") == m.tokens[visitor.Value] &&
		r.PostFormValue("name") == m.User && r.PostFormValue("password") == m.Password &&
		r.PostFormValue("remember") == "on" && r.PostFormValue("spam") == "" && r.PostFormValue("go") == "in"
	if !ok {
		m.refused++
		m.form(w)
		return
	}
	delete(m.tokens, visitor.Value)
	m.logins++
	session := rand.Text()
	m.sessions[session] = m.Expire
	http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/", HttpOnly: true})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// page shows a page to members. Others are sent away in one of three ways.
func (m *Members) page(w http.ResponseWriter, r *http.Request, number int) {
	session, err := r.Cookie("session")
	left, in := 0, false
	if err == nil {
		left, in = m.sessions[session.Value]
	}
	if in && m.Expire > 0 && left == 0 {
		delete(m.sessions, session.Value)
		in = false
	}
	if !in {
		m.away(w, r, number)
		return
	}
	m.sessions[session.Value] = left - 1
	fmt.Fprintf(w, "<title>Members' page %d</title><a class=\"logout\" href=\"/users/sign_out\">Sign out</a><p>What "+
		"only members read, no. %d: %s</p>",
		number, number, strings.Repeat(fmt.Sprintf("word%d ", number), 60))
	fmt.Fprintf(w, `<a href="/logout">x</a> <a href="/members/0?action=logout">y</a> <a href="/bye">Log out</a>`)
	for _, next := range []int{2*number + 1, 2*number + 2, number + 1} {
		if next < m.Pages {
			fmt.Fprintf(w, ` <a href="/members/%d">page</a>`, next)
		}
	}
}

func (m *Members) away(w http.ResponseWriter, r *http.Request, number int) {
	switch number % 3 {
	case 0:
		http.Redirect(w, r, "/login?next="+r.URL.Path, http.StatusFound)
	case 1:
		fmt.Fprint(w, `<title>Please log in</title><p>For members only. <a href="/login">Log in</a></p>`)
	default:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `<title>Please log in</title>`)
	}
}

// Seen returns the requests so far.
func (m *Members) Seen() []MembersRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]MembersRequest{}, m.seen...)
}

// Counts returns how often somebody logged in, was refused, and logged out.
func (m *Members) Counts() (logins, refused, logouts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.logins, m.refused, m.logouts
}
