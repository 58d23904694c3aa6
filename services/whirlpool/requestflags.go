package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
	"github.com/whirlpool-crawler/whirlpool/pkg/crawl/secret"
)

// requestFlags are the flags about requests. A secret given literally in a flag stays in the memory of the process that
// crawls, and the job holds a reference to it. No other process gets it.
type requestFlags struct {
	job      *crawl.Job
	literals bool // this process makes the requests
	faults   []error
}

// addRequestFlags declares them. literals: the command crawls itself.
func addRequestFlags(cmd *cobra.Command, job *crawl.Job) *requestFlags {
	r := &requestFlags{job: job, literals: cmd.Name() == "crawl"}
	fl := cmd.Flags()
	fl.Var(setter{r.header, "'K: V'"}, "header", "send this header field (repeatable); secrets as ${NAME} or file:PATH")
	fl.StringVar(&job.AcceptLanguage, "accept-language", "", "`languages` to ask for, as in de,en;q=0.5")
	fl.Var(setter{r.cookiesFile, "FILE"}, "cookies", "send the cookies of this file (Netscape's format)")
	fl.Var(setter{r.cookie, "'k=v'"}, "cookie", "send this cookie to the hosts of the seeds (repeatable)")
	fl.Bool("no-cookies", false, "forget the cookies that servers set")
	fl.Var(setter{r.user, "NAME"}, "user", "name for basic authentication at the hosts of the seeds")
	fl.Var(setter{r.password, "TEXT"}, "password",
		"password for it; better ${NAME} or file:PATH, which no list of processes shows")
	fl.Var(setter{r.bearer, "TOKEN"}, "bearer",
		"token for bearer authentication at the hosts of the seeds; better ${NAME} or file:PATH")
	before := cmd.PreRunE
	cmd.PreRunE = failing(func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		return r.check(cmd)
	})
	return r
}

// setter is a flag that calls a function. It never fails: pflag would print the value, which may be a secret.
type setter struct {
	set  func(string)
	kind string
}

// String implements pflag.Value.
func (s setter) String() string { return "" }

// Set implements pflag.Value.
func (s setter) Set(text string) error {
	s.set(text)
	return nil
}

// Type implements pflag.Value.
func (s setter) Type() string { return s.kind }

// check reports what the flags cannot mean.
func (r *requestFlags) check(cmd *cobra.Command) error {
	if off, _ := cmd.Flags().GetBool("no-cookies"); off {
		r.job.Cookies = crawl.CookiesOff
	}
	for _, a := range r.job.Auth {
		switch {
		case a.Bearer != "" && a.User+a.Password != "":
			r.fault("--bearer and --user: give one of them")
		case a.Bearer == "" && a.Password == "":
			r.fault("--user wants a --password, as in --password '${NAME}'")
		case a.Bearer == "" && a.User == "":
			r.fault("--password wants a --user")
		}
	}
	if err := errors.Join(r.faults...); err != nil {
		return exitStatus{exitUsage, err}
	}
	return nil
}

func (r *requestFlags) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf(format, args...))
}

// reference is what the job says in the place of a value that may be a secret.
func (r *requestFlags) reference(flag, name, value string) string {
	switch path, isFile := secret.Path(value); {
	case isFile:
		return secret.OfFile(absPath(path))
	case secret.IsOnlyReference(value):
		return value
	case !r.literals:
		r.fault("--%s: what it was given would be stored with the job, where others read it: give a reference in its "+
			"place, '${NAME}' for an environment variable of the programs that make the requests, or file:PATH for a file "+
			"that they have", flag)
		return "${UNKNOWN}"
	}
	name = secret.Given + name
	secret.Hold(name, value)
	return "${" + name + "}"
}

// upper makes a part of a variable's name.
func upper(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(s))
}

func absPath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

func (r *requestFlags) header(text string) {
	name, value, ok := strings.Cut(text, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok {
		r.fault("--header: want a name, a colon and a value, as in --header 'X-Client: whirlpool'")
		return
	}
	if crawl.IsSecretName(name) && !secret.IsReference(value) {
		value = r.reference("header "+name, "HEADER_"+upper(name), value)
	}
	r.job.Headers = append(r.job.Headers, crawl.HeaderRule{Name: name, Value: value})
}

func (r *requestFlags) cookie(text string) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		r.fault("--cookie: want a name and a value, as in --cookie 'session=${NAME}'")
		return
	}
	r.job.Cookie = append(r.job.Cookie,
		crawl.CookieRule{Name: name, Value: r.reference("cookie "+name, "COOKIE_"+upper(name), value)})
}

func (r *requestFlags) cookiesFile(path string) { r.job.CookiesFile = absPath(path) }

// auth is the only rule that flags make.
func (r *requestFlags) auth() *crawl.AuthRule {
	if len(r.job.Auth) == 0 {
		r.job.Auth = make([]crawl.AuthRule, 1)
	}
	return &r.job.Auth[0]
}

func (r *requestFlags) user(text string) { r.auth().User = text }

func (r *requestFlags) password(text string) {
	r.auth().Password = r.reference("password", "PASSWORD", text)
}

func (r *requestFlags) bearer(text string) { r.auth().Bearer = r.reference("bearer", "BEARER", text) }

// overlayRequests copies the flags that were given over a job's settings.
func overlayRequests(cmd *cobra.Command, job, flags *crawl.Job) {
	for name, copyFlag := range map[string]func(){
		"header":          func() { job.Headers = flags.Headers },
		"accept-language": func() { job.AcceptLanguage = flags.AcceptLanguage },
		"cookies":         func() { job.CookiesFile = flags.CookiesFile }, "cookie": func() { job.Cookie = flags.Cookie },
		"no-cookies": func() { job.Cookies = flags.Cookies }, "user": func() { job.Auth = flags.Auth },
		"password": func() { job.Auth = flags.Auth }, "bearer": func() { job.Auth = flags.Auth },
	} {
		if cmd.Flags().Changed(name) {
			copyFlag()
		}
	}
}
