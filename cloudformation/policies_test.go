package cloudformation_test

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/policy"
	"github.com/whirlpool-crawler/whirlpool/cloudformation/internal/spec"
)

// The seven of the user and the one of the service role.
var wanted = []string{"service-role", "user-cache-vpc", "user-cloudformation", "user-cloudformation-role",
	"user-cloudformation-s3", "user-ec2-vpc", "user-iam", "user-rds-vpc"}

// global condition keys that every action knows.
var global = []string{"aws:RequestedRegion", "aws:SourceAccount", "aws:SecureTransport"}

func policies(t *testing.T) map[string]*policy.Policy {
	t.Helper()
	all := map[string]*policy.Policy{}
	paths, err := filepath.Glob("policies/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		p, err := policy.Parse([]byte(render(read(t, path))))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = p
	}
	return all
}

// faults finds what AWS would ignore or refuse without a word: actions that do not exist, resources that an action does
// not know, condition keys that it never has, so that the statement allows nothing.
func faults(t *testing.T, p *policy.Policy) (found []string) {
	t.Helper()
	known, err := spec.Actions()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Statements {
		for _, pattern := range s.Actions {
			var names []string
			for name := range known {
				if policy.Like(pattern, name) {
					names = append(names, name)
				}
			}
			if len(names) == 0 {
				found = append(found, s.Sid+": there is no action "+pattern)
			}
			if strings.Contains(pattern, "*") && !strings.HasSuffix(pattern, ":Describe*") {
				found = append(found, s.Sid+": "+pattern+" is too much")
			}
			for _, name := range names {
				if known[name].Wild && !slices.Contains(s.Resources, "*") {
					found = append(found, s.Sid+": "+name+" knows no resources but *")
				}
				found = append(found, unknownKeys(s, name, known[name])...)
			}
		}
	}
	return found
}

func unknownKeys(s policy.Statement, name string, action spec.Action) (found []string) {
	for _, keys := range s.Condition {
		for key := range keys {
			if !slices.Contains(global, key) &&
				!slices.ContainsFunc(action.Keys, func(k string) bool { return policy.Like(k, key) }) {
				found = append(found, s.Sid+": "+name+" has no condition key "+key)
			}
		}
	}
	return found
}

func TestPolicies(t *testing.T) {
	all := policies(t)
	for _, name := range wanted {
		p := all[name]
		if p == nil {
			t.Errorf("there is no policy %s", name)
			continue
		}
		if found := faults(t, p); len(found) > 0 {
			t.Errorf("%s: %s", name, strings.Join(found, "\n"))
		}
		for _, s := range p.Statements {
			open := slices.Contains(s.Resources, "*") && len(s.Condition) == 0
			reads := !slices.ContainsFunc(s.Actions, func(a string) bool {
				return !regexp.MustCompile(`:(Describe|List|Get)`).MatchString(a)
			})
			if open && !reads {
				t.Errorf("%s, %s: changes anything anywhere", name, s.Sid)
			}
		}
	}
	if got := slices.Sorted(maps.Keys(all)); len(got) != len(wanted)+1 {
		t.Errorf("policies: %v", got)
	}
}

func TestFaultsOfAPolicyAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`{"Effect":"Allow","Action":"ec2:RunInstance","Resource":"*"}`:                                                                         "no action",
		`{"Effect":"Allow","Action":"ec2:*","Resource":"*"}`:                                                                                   "too much",
		`{"Effect":"Allow","Action":"ec2:DescribeVpcs","Resource":"arn:aws:ec2:x:1:vpc/a"}`:                                                    "no resources but",
		`{"Effect":"Allow","Action":"iam:CreateRole","Resource":"*","Condition":{"StringEquals":{"iam:PassedToService":"ec2.amazonaws.com"}}}`: "no condition key",
	} {
		p, err := policy.Parse([]byte(`{"Version":"2012-10-17","Statement":[` + text + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(faults(t, p), "; "); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"a:B"}]}`,
		`{"Version":"2008-10-17","Statement":[{"Effect":"Allow","Action":"a:B","Resource":"*"}]}`,
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Actions":"a:B","Resource":"*"}]}`,
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"a:B","Resource":"*","Condition":{"StringLikes":{"a:b":"c"}}}]}`} {
		if _, err := policy.Parse([]byte(text)); err == nil {
			t.Errorf("taken: %s", text)
		}
	}
}

// The service role has what CloudFormation needs for the types of the templates (a cluster is created, changed and
// deleted under it in the other tests), and nothing else: an action that no type needs must go.
func TestTheServiceRoleHasNothingThatNoTemplateNeeds(t *testing.T) {
	p := policies(t)["service-role"]
	needed := neededActions(t)
	for _, s := range p.Statements {
		for _, pattern := range s.Actions {
			if !slices.ContainsFunc(needed, func(a string) bool { return policy.Like(pattern, a) }) {
				t.Errorf("%s: nothing needs %s", s.Sid, pattern)
			}
		}
	}
	for _, action := range needed {
		if !slices.ContainsFunc(p.Statements, func(s policy.Statement) bool {
			return slices.ContainsFunc(s.Actions, func(pattern string) bool { return policy.Like(pattern, action) })
		}) {
			t.Errorf("the service role lacks %s", action)
		}
	}
}
