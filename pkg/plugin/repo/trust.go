package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jedisct1/go-minisign"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin"
)

// Level says how far a plug-in is trusted.
type Level string

// The levels.
const (
	Unsigned Level = "unsigned" // nobody vouches for it: dry runs only
	Signed   Level = "signed"   // by a key of the settings
	Approved Level = "approved" // by an administrator
	Disabled Level = "disabled" // by an administrator: it runs nowhere
	OwnCode  Level = "builtin"  // it comes with the program
)

// Trust is how far a plug-in is trusted, and who said so.
type Trust struct {
	Level  Level     `json:"level"`
	By     string    `json:"by,omitempty"` // who approved or disabled it, or the id of the key
	At     time.Time `json:"at,omitzero"`
	Why    string    `json:"why,omitempty"`    // of a disabled one
	Usable bool      `json:"usable"`           // by crawls, with the settings of this program
	Wants  string    `json:"wants,omitempty"`  // what would make it usable
	Signer string    `json:"signer,omitempty"` // id of the key that signed it
}

// word is what a file of trust/ says.
type word struct {
	Level Level     `json:"level"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Why   string    `json:"why,omitempty"`
}

type key struct{ minisign.PublicKey }

func (k key) id() string {
	var b strings.Builder
	for i := len(k.KeyId) - 1; i >= 0; i-- { // as the minisign program writes it
		fmt.Fprintf(&b, "%02X", k.KeyId[i])
	}
	return b.String()
}

// parseKey reads a public key: the line of the key alone, or the file with its comment.
func parseKey(text string) (key, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	k, err := minisign.NewPublicKey(strings.TrimSpace(lines[len(lines)-1]))
	if err != nil {
		return key{}, errors.New("it is no public key of minisign: want the line that begins with RW")
	}
	return key{k}, nil
}

// sign keeps a signature of a package, after it was verified.
func (d *Repository) sign(ctx context.Context, p *Package, signature []byte) error {
	if len(d.keys) == 0 {
		return faultOf(ErrSignature, "the signature cannot be verified: give the public key that made it (--plugin-key, or "+
			"WHIRLPOOL_PLUGIN_KEYS)")
	}
	if _, err := d.signer(p, signature); err != nil {
		return err
	}
	return d.store.Set(ctx, signatureName(p.Digest), signature)
}

// signer returns the id of the key that signed a package.
func (d *Repository) signer(p *Package, signature []byte) (string, error) {
	s, err := minisign.DecodeSignature(string(signature))
	if err != nil {
		return "", faultOf(ErrSignature, "the signature is none of minisign: %v", err)
	}
	for _, k := range d.keys {
		if k.KeyId != s.KeyId {
			continue
		}
		if ok, err := k.Verify(p.Bytes, s); !ok {
			return "", faultOf(ErrSignature, "the signature does not fit the package: %v", err)
		}
		return k.id(), nil
	}
	return "", faultOf(ErrSignature, "the signature is of a key that is not in the settings")
}

// knows reports whether a signature says that it is of one of the keys.
func (d *Repository) knows(signature []byte) bool {
	s, err := minisign.DecodeSignature(string(signature))
	return err == nil && slices.ContainsFunc(d.keys, func(k key) bool { return k.KeyId == s.KeyId })
}

// Approve says that a plug-in may be used.
func (d *Repository) Approve(ctx context.Context, digest, by string) error {
	return d.say(ctx, digest, word{Approved, by, d.set.Now().UTC(), ""})
}

// Disable says that a plug-in must not be used. Crawls that use it call it no more within a few seconds.
func (d *Repository) Disable(ctx context.Context, digest, by, why string) error {
	return d.say(ctx, digest, word{Disabled, by, d.set.Now().UTC(), why})
}

func (d *Repository) say(ctx context.Context, digest string, w word) error {
	if _, err := d.Package(ctx, digest); err != nil {
		return err
	}
	text, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return d.store.Set(ctx, trustName(digest), text)
}

// word returns what an administrator said of a plug-in; the zero value: nothing.
func (d *Repository) word(ctx context.Context, digest string) (w word, err error) {
	if err = d.get(ctx, trustName(digest), &w); errors.Is(err, fs.ErrNotExist) {
		return word{}, nil
	}
	return w, err
}

// Trust says how far a plug-in is trusted.
func (d *Repository) Trust(ctx context.Context, p *Package) (Trust, error) {
	w, err := d.word(ctx, p.Digest)
	if err != nil {
		return Trust{}, err
	}
	t := Trust{Level: w.Level, By: w.By, At: w.At, Why: w.Why}
	signature, err := d.store.Get(ctx, signatureName(p.Digest))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Trust{}, away(d.store, err)
	}
	if err == nil {
		if t.Signer, err = d.signer(p, signature); err == nil && t.Level == "" {
			t.Level, t.By = Signed, t.Signer
		}
	}
	if t.Level == "" {
		t.Level = Unsigned
	}
	t.Wants = d.wants(p.Descriptor, t.Level)
	t.Usable = t.Wants == ""
	return t, nil
}

// wants says what is missing for a plug-in to be usable; empty: nothing.
func (d *Repository) wants(desc *plugin.Descriptor, level Level) string {
	approve := fmt.Sprintf("`whirlpool plugin approve %s`", desc.Use())
	switch {
	case level == Disabled:
		return "it was disabled: " + approve + " allows it again"
	case desc.Tier == plugin.Process && !d.set.Processes:
		return "programs are not allowed here: --plugin-processes allows those that are approved"
	case d.set.Unsigned:
		return ""
	case desc.Tier == plugin.Process && level != Approved:
		return "a program must be approved, and a signature is not enough: " + approve + " does it"
	case level == Unsigned:
		return "nobody has signed or approved it: " + approve + " does it"
	}
	return ""
}
