package crawl

import "fmt"

// AssetScope says which requisites of pages are fetched.
type AssetScope string

// The scopes of assets.
const (
	AssetsNone AssetScope = ""    // none
	AssetsAny  AssetScope = "any" // all, wherever they lie
	AssetsJob  AssetScope = "job" // those that lie in the job's scope
)

// Bounds of assets where a job sets none: pages of one site share most of theirs.
const (
	defaultAssetsMax  = 100_000
	defaultAssetsHost = 50_000
)

// Limits are how many assets the job and a host may have; 0: any number.
func (a *Assets) Limits() (all, host int) {
	return a.limit(a.Max, defaultAssetsMax), a.limit(a.PerHost, defaultAssetsHost)
}

func (*Assets) limit(n, otherwise int) int {
	switch {
	case n == 0:
		return otherwise
	case n < 0:
		return 0
	}
	return n
}

// Wanted reports whether any assets are fetched.
func (a *Assets) Wanted() bool { return a.Scope != AssetsNone }

func (a *Assets) check() []error {
	switch a.Scope {
	case AssetsNone, AssetsAny, AssetsJob:
		return nil
	}
	return []error{&KeyError{"assets.scope",
		fmt.Sprintf("%q: want any or job, or nothing at all for none", string(a.Scope))}}
}

// Set implements pflag.Value.
func (s *AssetScope) Set(text string) error {
	a := Assets{Scope: AssetScope(text)}
	if text == "none" {
		a.Scope = AssetsNone
	}
	if len(a.check()) > 0 {
		return fmt.Errorf("assets %q: want any, job or none", text)
	}
	*s = a.Scope
	return nil
}

// String implements fmt.Stringer.
func (s AssetScope) String() string { return string(s) }

// Type implements pflag.Value.
func (*AssetScope) Type() string { return "scope" }
