// Command hostile is a module that does what the page's title says.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk/go/whirlpool"
)

func init() {
	whirlpool.OnConfigure(func(_ string, with []byte) error {
		var c struct{ Bad, Loop bool }
		if err := json.Unmarshal(with, &c); err != nil {
			return err
		}
		for c.Loop {
		}
		if c.Bad {
			return &whirlpool.ConfigError{Path: "bad", Text: "must not be true"}
		}
		return nil
	})
	whirlpool.OnDocument(handle)
	whirlpool.OnRequest(request)
	whirlpool.OnResponse(response)
	whirlpool.OnLinks(links)
	whirlpool.OnRecord(record)
}

func main() {}

var kept [][]byte

func handle(call *whirlpool.Call, doc *whirlpool.Document) whirlpool.Answer {
	switch doc.Title {
	case "loop":
		for {
		}
	case "hoard":
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "trap":
		panic("no")
	case "exit":
		os.Exit(3)
	case "large":
		text := strings.Repeat("x", 2<<20)
		return whirlpool.Change(&whirlpool.DocumentPatch{Text: &text})
	case "drop":
		return whirlpool.Drop("No Token")
	case "log":
		for i := range 10_000 {
			whirlpool.Logf("line %d of many", i)
			whirlpool.Count(fmt.Sprint("counter", i), 1)
		}
	case "scan":
		n := 0
		for _, b := range call.Body {
			if b == 'e' {
				n++
			}
		}
		return whirlpool.Change(&whirlpool.DocumentPatch{Fields: map[string]any{"e": n}})
	case "echo":
		return whirlpool.Change(echo(call, doc))
	case "look":
		var dice [8]byte
		_, _ = rand.Read(dice[:])
		_, err := os.ReadFile("/etc/passwd")
		return whirlpool.Change(&whirlpool.DocumentPatch{
			Fields: map[string]any{"now": time.Now().UTC().Format(time.RFC3339Nano), "dice": fmt.Sprint(dice),
				"file": fmt.Sprint(err != nil), "env": len(os.Environ()), "body": len(call.Body)}})
	}
	return whirlpool.Pass()
}
