package crawl

// HeaderRule is a field of the header of requests.
type HeaderRule struct {
	// scheme and host that get it, as in https://example.com; empty: all, or those of the seeds where the value is a
	// secret
	URL string `json:"url" yaml:"url"`
	// name of the field
	Name string `json:"name" yaml:"name"`
	// its value; a secret as ${NAME} or file:PATH
	Value string `json:"value" yaml:"value"`
}

// AuthRule says who the crawler is to a site (RFC 7617, RFC 6750).
type AuthRule struct {
	// scheme and host that get it, and nobody else, as in https://example.com; empty: those of the seeds
	URL string `json:"url" yaml:"url"`
	// name, for basic authentication
	User string `json:"user" yaml:"user"`
	// password for it: ${NAME}, an environment variable, or file:PATH
	Password string `json:"password" yaml:"password"`
	// token, in the place of name and password: ${NAME} or file:PATH
	Bearer string `json:"bearer" yaml:"bearer"`
}

// CookieRule is a cookie that the user gives.
type CookieRule struct {
	// scheme and host that get it, and nobody else, as in https://example.com; empty: those of the seeds
	URL string `json:"url" yaml:"url"`
	// name of the cookie
	Name string `json:"name" yaml:"name"`
	// its value: ${NAME}, an environment variable, or file:PATH
	Value string `json:"value" yaml:"value"`
}

// Login says how to log in by a form.
type Login struct {
	// page with the form; empty: nobody logs in
	URL string `json:"url" yaml:"url"`
	// CSS selector of the form; empty: the first that asks for a password
	Form string `json:"form" yaml:"form"`
	// what is filled in, by the fields' names; passwords as ${NAME} or file:PATH. The form's other fields keep their
	// values
	Fields map[string]string `json:"fields,omitempty" yaml:"fields,omitempty"`
	// what a page shows to whoever is logged in
	Check LoginCheck `json:"check" yaml:"check"`
	// log in where robots.txt forbids the page of the form, or where the form leads
	IgnoreRobots bool `json:"ignore_robots" yaml:"ignore_robots"`
}

// LoginCheck tells the page of somebody who is logged in. What is empty is not asked.
type LoginCheck struct {
	// page to look at after the form was sent; empty: the one that answers the form
	URL string `json:"url" yaml:"url"`
	// CSS selector that must match in each HTML page
	CSS string `json:"css" yaml:"css"`
	// text that must be in each HTML page
	Text string `json:"text" yaml:"text"`
	// CSS selector that must match in none
	NotCSS string `json:"not_css" yaml:"not_css"`
	// text that must be in none
	NotText string `json:"not_text" yaml:"not_text"`
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
	return len(j.Headers)+len(j.Auth)+len(j.Cookie) > 0 || j.AcceptLanguage != "" || j.CookiesFile != "" ||
		j.Login.URL != ""
}

// Authenticates reports whether the crawl is somebody to a site, whom a log-out link would log out.
func (j *Job) Authenticates() bool {
	return len(j.Auth)+len(j.Cookie) > 0 || j.CookiesFile != "" || j.Login.URL != ""
}

// Reasons of credentials.
const (
	ReasonLogin     = "login"      // the log-in is under way, or has failed
	ReasonLoggedOut = "logged-out" // the answer is that of somebody who is not logged in, right after a log-in
	ReasonLogout    = "logout"     // it looks like a link that logs out
	ReasonSecret    = "secret"     // a secret that its request needs cannot be read
	ReasonCookie    = "cookie"     // asked again with cookies that its redirects set, or without those it refused
)
