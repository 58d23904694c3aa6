package crawl

import (
	"fmt"

	"github.com/whirlpool-crawler/whirlpool/pkg/web/weburl"
)

// ParseSeed parses a seed: a URL, for which http is meant where it has no scheme. One that names a user or a password
// is refused: it would be in the state, and be sent nowhere. No error repeats a password.
func ParseSeed(s string) (weburl.URL, error) {
	u, err := parseSeed(s)
	if err == nil && userinfo.MatchString(u.String()) {
		err = fmt.Errorf("seed %q: it names a user or a password, which would stand in the state: leave out what stands "+
			"before the @, and give them by --user and --password, or auth of the job file",
			maskUserinfo(s))
	}
	return u, err
}

// NewSeeds are those of some seeds that the job does not start from, each URL once: spellings of one URL, such as those
// with a fragment, are one seed. What is no URL stays, for others to refuse.
func (j *Job) NewSeeds(seeds []string) (fresh []string) {
	canon, had := j.Canonicalizer(), make(map[weburl.URL]bool, len(j.Seeds)+len(seeds))
	for _, s := range j.Seeds {
		if u, err := parseSeed(s); err == nil {
			had[canon.Canonical(u)] = true
		}
	}
	for _, s := range seeds {
		u, err := parseSeed(s)
		if err == nil {
			if u = canon.Canonical(u); had[u] {
				continue
			}
			had[u] = true
		}
		fresh = append(fresh, s)
	}
	return fresh
}

// checkSeeds finds seeds that are no URLs, and what does not go together with a list of seeds.
func checkSeeds(j *Job) (errs []error) {
	if j.Unseeded() {
		errs = append(errs, &KeyError{"seeds", "[]: name at least one URL"})
	}
	if what := "seed_list"; j.Listed() && j.Scope == ScopePrefix && !j.SeedsOnly {
		if j.SeedList == "" {
			what = "nodes at provider"
		}
		errs = append(errs, &KeyError{"scope",
			`"prefix" does not go together with ` + what + `: a list may be of any length, and nobody ` +
				`remembers all its directories; use host, or name the seeds one by one`})
	}
	for _, s := range j.Seeds {
		if _, err := ParseSeed(s); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}
