// Command price is a plug-in that reads the price of a page, and its currency, from the page's text.
package main

import (
	"encoding/json"
	"strings"

	"github.com/whirlpool-crawler/whirlpool/pkg/plugin/sdk/go/whirlpool"
)

// config are the settings of the node.
var config struct {
	Currency string `json:"currency"` // only prices in it are read; empty: in any
}

func init() {
	whirlpool.OnConfigure(func(_ string, with []byte) error { return json.Unmarshal(with, &config) })
	whirlpool.OnDocument(read)
}

func main() {}

func read(_ *whirlpool.Call, doc *whirlpool.Document) whirlpool.Answer {
	price, currency, found := find(doc.Text, config.Currency)
	if !found {
		return whirlpool.Pass()
	}
	whirlpool.Count("prices", 1)
	whirlpool.Logf("%s costs %v %s", doc.URL, price, currency)
	return whirlpool.Change(&whirlpool.DocumentPatch{Fields: map[string]any{"price": price, "currency": currency}})
}

var currencies = []struct{ sign, code string }{{"€", "EUR"}, {"EUR", "EUR"}, {"$", "USD"}, {"USD", "USD"}, {"£", "GBP"},
	{"GBP", "GBP"}}

// find returns the first price of a text: a number behind or before the sign of a currency.
func find(text, only string) (price float64, currency string, found bool) {
	first := len(text)
	for _, c := range currencies {
		if only != "" && only != c.code {
			continue
		}
		for from := 0; ; {
			i := strings.Index(text[from:first], c.sign)
			if i < 0 {
				break
			}
			at := from + i
			if n, ok := number(text[at+len(c.sign):], text[:at]); ok {
				price, currency, found, first = n, c.code, true, at
				break
			}
			from = at + len(c.sign)
		}
	}
	return price, currency, found
}

// number reads the number at the beginning of what is behind a sign, or at the end of what is before it.
func number(behind, before string) (float64, bool) {
	behind = strings.TrimLeft(behind, " \u00a0")
	if n, ok := parse(behind[:span(behind, 0, 1)]); ok {
		return n, true
	}
	before = strings.TrimRight(before, " \u00a0")
	return parse(before[len(before)-span(before, len(before)-1, -1):])
}

// span is how many characters of a number s has from i on, in steps.
func span(s string, i, step int) (n int) {
	for ; i >= 0 && i < len(s) && n < 20 && strings.IndexByte("0123456789.,", s[i]) >= 0; i += step {
		n++
	}
	return n
}

// parse reads 1234.50, 1,234.50, 1.234,50 and 1234,50.
func parse(s string) (value float64, ok bool) {
	s = strings.Trim(s, ".,")
	point := max(strings.LastIndexByte(s, '.'), strings.LastIndexByte(s, ','))
	if point >= 0 && len(s)-point-1 == 3 {
		point = -1 // it parts thousands
	}
	scale := 1.0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			continue
		}
		value = value*10 + float64(s[i]-'0')
		if point >= 0 && i > point {
			scale *= 10
		}
		ok = true
	}
	return value / scale, ok
}
