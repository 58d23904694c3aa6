package weburl

// CanonicalConfig chooses what Canonical removes.
type CanonicalConfig struct {
	StripParams      []string
	StripTokenParams []string
	StripPathParams  []string
	SortQuery        bool
	MaxLength        int
}

// DefaultCanonical returns the default.
func DefaultCanonical() CanonicalConfig { return CanonicalConfig{MaxLength: 4000} }

// Canonicalizer reduces URLs to their canonical form.
type Canonicalizer struct{ cfg CanonicalConfig }

// NewCanonicalizer builds a Canonicalizer.
func NewCanonicalizer(cfg CanonicalConfig) *Canonicalizer { return &Canonicalizer{cfg} }

// Canonical returns the canonical form.
func (c *Canonicalizer) Canonical(u URL) URL { return u }
