package cookies

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
)

// MaxFile bounds a file of cookies, in bytes; MaxInFile the cookies that are taken from it.
const (
	MaxFile   = 8 << 20
	MaxInFile = 10_000
)

// ParseFile reads cookies in the format of Netscape, which curl, wget, yt-dlp and browsers' add-ons write: seven
// fields parted by tabs: domain, whether hosts below it get it, path, whether https only, when it ends, name, value.
// Its errors name the line and hold none of its text.
func ParseFile(text string) ([]Cookie, error) {
	var out []Cookie
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.TrimPrefix(line, "#HttpOnly_")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c, problem := parseLine(line)
		switch {
		case problem != "":
			return nil, fmt.Errorf("line %d: %s", number, problem)
		case len(out) >= MaxInFile:
			return nil, fmt.Errorf("line %d: more than %d cookies", number, MaxInFile)
		}
		out = append(out, c)
	}
	return out, nil
}

func parseLine(line string) (c Cookie, problem string) {
	f := strings.Split(line, "\t")
	if len(f) == 6 { // an empty value whose tab an editor took away
		f = append(f, "")
	}
	if len(f) != 7 {
		return c,
			fmt.Sprintf("%d fields parted by tabs, want 7: domain, TRUE or FALSE, path, TRUE or FALSE, end, name, value", len(f))
	}
	ends, err := strconv.ParseFloat(f[4], 64) // some write fractions
	c = Cookie{Domain: strings.ToLower(strings.TrimPrefix(f[0], ".")), Wide: strings.EqualFold(f[1], "TRUE"), Path: f[2],
		Secure: strings.EqualFold(f[3], "TRUE"), Name: f[5], Value: f[6]}
	switch {
	case c.Domain == "" || strings.ContainsAny(c.Domain, " /:") && !isAddress(c.Domain):
		return c, "the first field is no domain"
	case !strings.HasPrefix(c.Path, "/"):
		return c, "the third field is no path"
	case err != nil || !(ends >= -1 && ends < 1e12):
		return c, "the fifth field is no time in seconds"
	case !validName(c.Name) || !validValue(c.Value):
		return c, "a name or value that no cookie can have"
	case c.size() > 2*MaxCookie:
		return c, "too long for a cookie"
	}
	if suffix, _ := publicsuffix.PublicSuffix(c.Domain); isAddress(c.Domain) || suffix == c.Domain {
		c.Wide = false // what is below belongs to strangers
	}
	if ends > 0 {
		c.Expires = time.Unix(int64(ends), 0)
	}
	return c, ""
}

func validName(s string) bool {
	return s != "" && !strings.ContainsFunc(s,
		func(r rune) bool { return r <= ' ' || r == 0x7f || r == '=' || r == ';' || r == ',' })
}

// validValue is looser than RFC 6265: what browsers wrote is sent as they would send it, as long as it is one field.
func validValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == ';' })
}
