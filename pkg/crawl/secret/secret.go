// Package secret resolves references to secrets. Jobs hold references, never the secrets: what is in a job is
// stored, logged and shown.
//
// A reference is file:PATH, which is the first line of a file, or a text with ${NAME}, which is an environment variable
// or what was given to this process under that name (Hold).
package secret

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
)

// MaxSize bounds a secret that is read from a file.
const MaxSize = 64 << 10

const filePrefix = "file:"

var (
	name = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

	mu   sync.RWMutex
	held = map[string]string{}
)

// Hold gives the process a secret that lives in its memory alone. It wins over an environment variable of that name.
func Hold(name, value string) {
	mu.Lock()
	defer mu.Unlock()
	held[name] = value
}

// IsReference reports whether a text refers to a secret.
func IsReference(text string) bool {
	return strings.HasPrefix(text, filePrefix) || name.MatchString(text)
}

// IsOnlyReference reports whether a text holds nothing but references, so that it gives nothing away.
func IsOnlyReference(text string) bool {
	return strings.HasPrefix(text, filePrefix) || text != "" && name.ReplaceAllString(text, "") == ""
}

// References are the references to variables in a text.
func References(text string) []string { return name.FindAllString(text, -1) }

// Path is the file that a reference names; ok is false where it names none.
func Path(text string) (path string, ok bool) { return strings.CutPrefix(text, filePrefix) }

// OfFile is the reference to a file.
func OfFile(path string) string { return filePrefix + path }

// Resolve returns the text with what its references stand for. Its errors name the reference and hold no secret.
func Resolve(text string) (string, error) {
	if path, ok := Path(text); ok {
		return fromFile(path)
	}
	var errs []error
	out := name.ReplaceAllStringFunc(text, func(ref string) string {
		value, err := variable(ref[2 : len(ref)-1])
		errs = append(errs, err)
		return value
	})
	if err := errors.Join(errs...); err != nil {
		return "", err
	}
	return clean(out, "the secret")
}

func variable(name string) (string, error) {
	mu.RLock()
	value, ok := held[name]
	mu.RUnlock()
	if !ok {
		value, ok = os.LookupEnv(name)
	}
	if !ok || value == "" {
		return "", fmt.Errorf("${%s} is not set: set the environment variable %s for the program that makes the requests%s",
			name, name, again(name))
	}
	return value, nil
}

// Given is what the names of secrets begin with that flags gave literally.
const Given = "WHIRLPOOL_GIVEN_"

func again(name string) string {
	if strings.HasPrefix(name, Given) {
		return ", or give the flag again: what it was given is kept nowhere"
	}
	return ""
}

func fromFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%s%s cannot be read: %w", filePrefix, path, reason(err))
	}
	defer func() { _ = f.Close() }()
	buf := make([]byte, MaxSize+1)
	n, err := readFull(f, buf)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s%s cannot be read: %w", filePrefix, path, reason(err))
	case n > MaxSize:
		return "", fmt.Errorf("%s%s is longer than a secret may be", filePrefix, path)
	}
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return clean(strings.TrimSuffix(line, "\r"), filePrefix+path)
}

// clean refuses what can be in no header field.
func clean(value, what string) (string, error) {
	if value == "" {
		return "", fmt.Errorf("%s is empty", what)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return "", fmt.Errorf("%s has a control character in it", what)
	}
	return value, nil
}

// reason is a file's error without its name, which is told already.
func reason(err error) error {
	if path := (*os.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}
