package jobfile

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/whirlpool-crawler/whirlpool/pkg/crawl"
)

// shortRule and shortField are a site rule without the keys that say nothing.
type shortRule struct {
	Name   string       `yaml:"name,omitempty"`
	Host   string       `yaml:"host,omitempty"`
	Match  string       `yaml:"match,omitempty"`
	Fields []shortField `yaml:"fields,omitempty"`
	Links  []shortLink  `yaml:"links,omitempty"`
}

type shortField struct {
	Name  string `yaml:"name"`
	CSS   string `yaml:"css,omitempty"`
	XPath string `yaml:"xpath,omitempty"`
	Attr  string `yaml:"attr,omitempty"`
	Regex string `yaml:"regex,omitempty"`
	List  bool   `yaml:"list,omitempty"`
	Type  string `yaml:"type,omitempty"`
}

type shortLink struct {
	Match  string `yaml:"match"`
	Weight int    `yaml:"weight"`
}

// MarshalRules writes site rules as the key "rules" of a job file, without what is empty. Parse reads them back.
func MarshalRules(rules []crawl.SiteRule) ([]byte, error) {
	out := struct {
		Rules []shortRule `yaml:"rules"`
	}{[]shortRule{}}
	for i := range rules {
		r := &rules[i]
		s := shortRule{Name: r.Name, Host: r.Host, Match: r.Match}
		for _, f := range r.Fields {
			s.Fields = append(s.Fields, shortField(f))
		}
		for _, l := range r.Links {
			s.Links = append(s.Links, shortLink(l))
		}
		out.Rules = append(out.Rules, s)
	}
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(out); err != nil {
		return nil, fmt.Errorf("write rules: %w", err)
	}
	return buf.Bytes(), enc.Close()
}
