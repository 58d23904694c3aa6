package crawl

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// checkPatterns finds the regular expressions of a key that are none.
func checkPatterns(key string, patterns []string) (errs []error) {
	for i, p := range patterns {
		at := fmt.Sprintf("%s[%d]", key, i)
		if p == "" {
			errs = append(errs, &KeyError{at, `"": an empty pattern matches every URL; leave it out, or write .*`})
		} else if _, err := regexp.Compile(p); err != nil {
			errs = append(errs, &KeyError{at, fmt.Sprintf("pattern %q: %v%s", p, err, ifGlob(p, err))})
		}
	}
	return errs
}

// ifGlob says what was probably meant by a pattern that is none, since * repeats what is before it.
func ifGlob(pattern string, err error) string {
	var e *syntax.Error
	if !errors.As(err, &e) || e.Code != syntax.ErrMissingRepeatArgument && e.Code != syntax.ErrInvalidRepeatOp ||
		!strings.Contains(pattern, "*") {
		return ""
	}
	return "; it is a regular expression: did you mean " + ofGlob(pattern) + "?"
}

// ofGlob is the regular expression that means what a pattern of file names does.
func ofGlob(pattern string) string {
	return strings.NewReplacer(`\*\*`, ".*", `\*`, "[^/]*").Replace(regexp.QuoteMeta(pattern))
}

// globNotices tells of patterns that can be read as regular expressions and were probably meant as patterns of file
// names: in /docs/*.html the slash is repeated, so that it matches hardly anything.
func globNotices(key string, patterns []string) (list []string) {
	for _, p := range patterns {
		if strings.Contains(p, "/*.") {
			list = append(list, fmt.Sprintf("%s: %q is a regular expression, in which /* is any number of slashes; "+
				"did you mean %s?", key, p, ofGlob(p)))
		}
	}
	return list
}

// topLevelTypes are the registered top-level media types (IANA), and those in use without.
var topLevelTypes = []string{"application", "audio", "chemical", "example", "font", "haptics", "image", "message",
	"model", "multipart", "text", "video"}

var mediaRange = regexp.MustCompile(`^(\*/\*|[A-Za-z0-9!#$&^_.+-]+/(\*|[A-Za-z0-9!#$&^_.+-]+))$`)

// checkMediaTypes finds patterns that no media type can match.
func checkMediaTypes(patterns []string) (errs []error) {
	if len(patterns) == 0 {
		errs = append(errs, &KeyError{"media_types", `[]: name at least one, as in text/html; "*/*" takes all`})
	}
	return append(errs, checkRanges("media_types", patterns)...)
}

// checkRanges finds the patterns of a key that no media type can match.
func checkRanges(key string, patterns []string) (errs []error) {
	const want = "want type/subtype, type/* or */*, without parameters"
	for i, p := range patterns {
		at := fmt.Sprintf("%s[%d]", key, i)
		major, _, _ := strings.Cut(strings.ToLower(p), "/")
		switch {
		case !mediaRange.MatchString(p):
			errs = append(errs, &KeyError{at, fmt.Sprintf("%q: %s", p, want)})
		case major != "*" && !strings.HasPrefix(major, "x-") && !slices.Contains(topLevelTypes, major):
			errs = append(errs, &KeyError{at, fmt.Sprintf("%q: there is no media type %s/…; %s", p, major, want)})
		}
	}
	return errs
}

// userinfo finds user and password in a text that is meant as a URL. The scheme and the slashes before them are
// optional.
var userinfo = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*:)?([/\\]*)[^/?#\\]*@`)

// maskUserinfo leaves user and password out of a text for people.
func maskUserinfo(s string) string { return userinfo.ReplaceAllString(s, "$1$2…@") }
