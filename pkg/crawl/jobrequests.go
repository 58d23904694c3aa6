package crawl

// HeaderRule is a field of the header of requests.
type HeaderRule struct {
	URL   string `json:"url" yaml:"url"`     // scheme and host that get it, as in https://example.com; empty: all, or those of the seeds where the value is a secret
	Name  string `json:"name" yaml:"name"`   // name of the field
	Value string `json:"value" yaml:"value"` // its value; a secret as ${NAME} or file:PATH
}

// AuthRule says who the crawler is to a site (RFC 7617, RFC 6750).
type AuthRule struct {
	URL      string `json:"url" yaml:"url"`           // scheme and host that get it, and nobody else, as in https://example.com; empty: those of the seeds
	User     string `json:"user" yaml:"user"`         // name, for basic authentication
	Password string `json:"password" yaml:"password"` // password for it: ${NAME}, an environment variable, or file:PATH
	Bearer   string `json:"bearer" yaml:"bearer"`     // token, in the place of name and password: ${NAME} or file:PATH
}

// CookieRule is a cookie that the user gives.
type CookieRule struct {
	URL   string `json:"url" yaml:"url"`     // scheme and host that get it, and nobody else, as in https://example.com; empty: those of the seeds
	Name  string `json:"name" yaml:"name"`   // name of the cookie
	Value string `json:"value" yaml:"value"` // its value: ${NAME}, an environment variable, or file:PATH
}

// Login says how to log in by a form.
type Login struct {
	URL          string            `json:"url" yaml:"url"`                           // page with the form; empty: nobody logs in
	Form         string            `json:"form" yaml:"form"`                         // CSS selector of the form; empty: the first that asks for a password
	Fields       map[string]string `json:"fields,omitempty" yaml:"fields,omitempty"` // what is filled in, by the fields' names; passwords as ${NAME} or file:PATH. The form's other fields keep their values
	Check        LoginCheck        `json:"check" yaml:"check"`                       // what a page shows to whoever is logged in
	IgnoreRobots bool              `json:"ignore_robots" yaml:"ignore_robots"`       // log in where robots.txt forbids the page of the form, or where the form leads
}

// LoginCheck tells the page of somebody who is logged in. What is empty is not asked.
type LoginCheck struct {
	URL     string `json:"url" yaml:"url"`           // page to look at after the form was sent; empty: the one that answers the form
	CSS     string `json:"css" yaml:"css"`           // CSS selector that must match in each HTML page
	Text    string `json:"text" yaml:"text"`         // text that must stand in each HTML page
	NotCSS  string `json:"not_css" yaml:"not_css"`   // CSS selector that must match in none
	NotText string `json:"not_text" yaml:"not_text"` // text that must stand in none
}

// Any reports whether the check asks anything of a page.
func (c *LoginCheck) Any() bool {
	return c.CSS != "" || c.Text != "" || c.NotCSS != "" || c.NotText != ""
}

// What Job.Cookies may be.
const (
	CookiesAuto = ""
	CookiesOn   = "on"
	CookiesOff  = "off"
)

// KeepsCookies reports whether the cookies that servers set are kept and sent back. Where nothing is said, a crawl of
// named sites keeps them, as browsers, wget and Scrapy do; one of the whole Web does not.
func (j *Job) KeepsCookies() bool {
	return j.Cookies == CookiesOn || j.Cookies == CookiesAuto && (j.Scope != ScopeAny || j.Login.URL != "")
}

// Asks reports whether requests have anything of this file in their headers, cookies of servers aside.
func (j *Job) Asks() bool {
	return len(j.Headers)+len(j.Auth)+len(j.Cookie) > 0 || j.AcceptLanguage != "" || j.CookiesFile != "" || j.Login.URL != ""
}

// Authenticates reports whether the crawl is somebody to a site, whom a log-out link would log out.
func (j *Job) Authenticates() bool {
	return len(j.Auth)+len(j.Cookie) > 0 || j.CookiesFile != "" || j.Login.URL != ""
}

// Reasons of credentials.
const (
	ReasonLogin     = "login"      // the log-in takes place, or did not come about
	ReasonLoggedOut = "logged-out" // the answer is that of somebody who is not logged in, right after a log-in
	ReasonLogout    = "logout"     // it looks like a link that logs out
	ReasonSecret    = "secret"     // a secret that its request needs cannot be read
	ReasonCookie    = "cookie"     // it redirects to itself with a cookie: asked again with that
)
