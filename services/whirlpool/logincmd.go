package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"

	"github.com/whirlpool-crawler/whirlpool/pkg/api"
	"github.com/whirlpool-crawler/whirlpool/pkg/api/client"
)

// loginWait is how long a person has to sign in.
const loginWait = 10 * time.Minute

func newLogin() *cobra.Command {
	var address, name string
	var noBrowser bool
	cmd := &cobra.Command{
		Use:   "login --server URL",
		Short: "Sign in to a server in the browser, and keep an API key of 30 days as a context",
		Long: `Login opens the browser at the server, whose issuer (OpenID Connect) signs you in, and gets an API key of 30
days with your role. The key is kept as a context, which becomes the current one: see "whirlpool context".

The browser brings a code back to this command, at a port of this machine's loopback; the code is of use to this command
alone.`,
		Example: "  whirlpool login --server https://crawl.example.org", Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&address, "server", "", "`address` of the server")
	cmd.Flags().StringVar(&name, "name", "", "of the context (default: the server's host)")
	cmd.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address, and open nothing")
	_ = cmd.MarkFlagRequired("server") // it was declared above
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		c, err := client.New(address, "")
		if err != nil {
			return exitStatus{exitUsage, err}
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), loginWait)
		defer cancel()
		open := openBrowser
		if noBrowser {
			open = func(context.Context, string) {}
		}
		key, err := signIn(ctx, c, func(link string) {
			cmd.PrintErrf("sign in at %s\n", link)
			open(ctx, link)
		})
		if err != nil {
			return err
		}
		return keepLogin(cmd, c, name, key)
	})
	return cmd
}

// keepLogin keeps a key as the current context.
func keepLogin(cmd *cobra.Command, c *client.Client, name string, key *api.Key) error {
	if name == "" {
		u, err := url.Parse(c.Server())
		if err != nil {
			return err
		}
		name = u.Hostname()
	}
	known, err := readContexts()
	if err != nil {
		return err
	}
	known.Servers[name], known.Current = &server{URL: c.Server(), Key: key.Key}, name
	if err := known.write(); err != nil {
		return err
	}
	cmd.Printf("signed in as %s, %s, until %s; the current context is %s\n", key.Owner, key.Role, timeText(key.Expires),
		name)
	return nil
}

// signIn has a person sign in at a link, and returns the key that the server gave.
func signIn(ctx context.Context, c *client.Client, show func(link string)) (*api.Key, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	state, verifier := oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	codes := make(chan string, 1)
	srv := &http.Server{Handler: catchCode(state, codes), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(l) }() // it ends with the command
	defer srv.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	show(strings.TrimRight(c.Server(), "/") + "/api/v1/auth/login?" + url.Values{"port": {port}, "state": {state},
		"challenge": {oauth2.S256ChallengeFromVerifier(verifier)}}.Encode())
	select {
	case code := <-codes:
		return c.UseCode(ctx, api.CodeToUse{Code: code, Verifier: verifier, Name: "login"})
	case <-ctx.Done():
		return nil, errors.New("nobody signed in: try again, and open the link in a browser on this machine")
	}
}

// catchCode takes the code that the browser brings.
func catchCode(state string, codes chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		q := r.URL.Query()
		if r.URL.Path != "/" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 ||
			q.Get("code") == "" {
			http.Error(w, "this is no sign-in of the command that waits here", http.StatusBadRequest)
			return
		}
		select {
		case codes <- q.Get("code"):
		default: // it came twice
		}
		fmt.Fprintln(w, "You are signed in. Close this page and go back to the command.")
	})
}

// openBrowser shows a page in the browser, where there is one.
func openBrowser(ctx context.Context, link string) {
	program, args := "xdg-open", []string{link}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", link}
	}
	_ = exec.CommandContext(ctx, program, args...).Start() // the link is printed, too
}

// scopesText is what a key is for.
func scopesText(k *api.Key) string {
	if len(k.Scopes) == 0 {
		return "all"
	}
	return strings.Join(k.Scopes, ",")
}

// rateText is how often a key may ask.
func rateText(k *api.Key) string {
	if k.Rate == 0 {
		return "-"
	}
	return strconv.FormatFloat(k.Rate, 'g', -1, 64) + "/s"
}
