// Command links is a plug-in that weighs links by a word of their address or text, and drops those with another.
package main

import (
	"encoding/json"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk/go/whirlpool"
)

// config are the settings of the node.
var config = struct {
	Prefer string `json:"prefer"` // links with this word weigh 9
	Avoid  string `json:"avoid"`  // links with this word are dropped; empty: none
}{}

func init() {
	whirlpool.OnConfigure(configure)
	whirlpool.OnLinks(weigh)
}

func main() {}

func configure(_ string, with []byte) error {
	if err := json.Unmarshal(with, &config); err != nil {
		return err
	}
	if config.Prefer == "" {
		return &whirlpool.ConfigError{Path: "prefer", Text: "say which word makes a link important"}
	}
	return nil
}

func weigh(_ *whirlpool.Call, page *whirlpool.Links) whirlpool.Answer {
	patch := &whirlpool.LinksPatch{}
	for i, link := range page.Links {
		words := strings.ToLower(link.URL + " " + link.Text)
		switch {
		case config.Avoid != "" && strings.Contains(words, config.Avoid):
			patch.Change = append(patch.Change, whirlpool.LinkChange{Index: i, Drop: "avoided"})
		case strings.Contains(words, config.Prefer):
			patch.Change = append(patch.Change, whirlpool.LinkChange{Index: i, Weight: 9})
		}
	}
	if len(patch.Change) == 0 {
		return whirlpool.Pass()
	}
	return whirlpool.Change(patch)
}
