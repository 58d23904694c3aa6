package xpath

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const shop = `<html id=html><head></head><body id=body lang=en>` +
	`<div id=nav><ul id=nu><li id=n1><a id=na href=/a>A</a></li></ul></div>` +
	`<div id=main lang=de-AT><h1 id=h1>Title</h1>` +
	`<div id=i1 class="item sale"><h2 id=h21>One</h2><p id=p1 class=price>10</p><p id=d1>desc</p></div>` +
	`<div id=i2 class=item><h2 id=h22>Two</h2><p id=p2 class=price>20</p></div>` +
	`<div id=i3 class=item><h2 id=h23>Three</h2><p id=p3 class=price>30</p></div>` +
	`<dl id=dl><dt id=t1>Price</dt><dd id=v1>5</dd><dt id=t2>Weight</dt><dd id=v2>6 kg</dd><dd id=v3>13 lb</dd></dl>` +
	`<p id=q1>a</p><p id=q2>b <b id=b>c</b></p><svg id=svg><a id=sa xlink:href=/s></a></svg><!--x--></div></body></html>`

// show writes a value: ids of elements, other nodes and values as texts.
func show(v any) string {
	switch v := v.(type) {
	case float64:
		return Number(v)
	case []Node:
		var list []string
		for _, n := range v {
			if n.IsElement() {
				list = append(list, attribute(n.HTML(), "id"))
			} else {
				list = append(list, "'"+n.Text()+"'")
			}
		}
		return strings.Join(list, " ")
	}
	return fmt.Sprint(v)
}

func evaluate(t testing.TB, root *html.Node, expr string) string {
	t.Helper()
	e, err := Compile(expr)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return ""
	}
	v, err := e.Evaluate(root)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
	}
	return show(v)
}

func parse(t testing.TB, doc string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestNodes has what libxml2 says, too.
func TestNodes(t *testing.T) {
	root := parse(t, shop)
	for expr, want := range map[string]string{
		"//p[1]":                                             "p1 p2 p3 q1",
		"//p[last()]":                                        "d1 p2 p3 q2",
		"(//p)[2]":                                           "d1",
		"(//p)[last()]/@id":                                  "'q2'",
		"(//p)[position()<3]":                                "p1 d1",
		"//*[@class='price'][1]":                             "p1 p2 p3",
		"//*[@class='price'][.>15]":                          "p2 p3",
		"//div[contains(@class,'item')][2]":                  "i2",
		"//div[@class='item'][position()=2]/h2":              "h23",
		"//div[@class][position() mod 2 = 1]":                "i1 i3",
		"//div[@class][position()>1][last()]":                "i3",
		"//div[p][h2]/p[2]":                                  "d1",
		"//h2 | //h1":                                        "h1 h21 h22 h23",
		"(//p | //h2)[1]":                                    "h21",
		"//dt[.='Weight']/following-sibling::dd":             "v2 v3",
		"//dt[contains(.,'Price')]/following-sibling::dd[1]": "v1",
		"//dd[3]/preceding-sibling::*":                       "t1 v1 t2 v2",
		"//dd[3]/preceding-sibling::*[1]":                    "v2",
		"//dd[3]/preceding-sibling::*[position()<3]":         "t2 v2",
		"//b/ancestor::*[2]":                                 "main",
		"//b/ancestor::*[last()]":                            "html",
		"//p/ancestor::div[1]":                               "main i1 i2 i3",
		"//b/preceding::p[1]":                                "q1",
		"//h1/following::p[1]":                               "p1",
		"//p[1]/text()/..":                                   "p1 p2 p3 q1",
		"//P/@ID":                                            "'p1' 'd1' 'p2' 'p3' 'q1' 'q2'",
		"//div[@id='main']/div[2]//p":                        "p2",
		"//a/@href":                                          "'/a'",
		"//a/@xlink:href":                                    "'/s'",
		"//svg:a":                                            "sa",
		"//svg:*":                                            "svg sa",
		"//*[self::h1 or self::b]":                           "h1 b",
		"//comment()":                                        "'x'",
		"id('p1 q2')":                                        "p1 q2",
		"//p[lang('de')][1]":                                 "p1 p2 p3 q1",
		"//li[lang('en')]":                                   "n1",
		"//a[ends-with(@href,'a')][matches(@href,'^/.$')]":   "na",
		"reverse(//h2)":                                      "h23 h22 h21",
		"reverse(//h2)/..":                                   "i1 i2 i3",
		"//@class/..":                                        "i1 p1 i2 p2 i3 p3",
		"//processing-instruction()":                         "",
		"/html/body/child::node()[1]":                        "nav",
		"//div[.//b]":                                        "main",
		"//p[b]/descendant-or-self::*":                       "q2 b",
		"//h2/div":                                           "",
	} {
		if got := evaluate(t, root, expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	root := parse(t, shop)
	for expr, want := range map[string]string{
		"count(//p)": "6", "sum(//p[@class])": "60", "string(//h2[1])": "One", "normalize-space(//p[2])": "desc",
		"//p = 10": "true", "//p != 10": "true", "//p > 30": "false", "//p = //dd": "false", "//none = ''": "false",
		"'1' = 1": "true", "1 < 2 < 3": "true", "true() = 'x'": "true", "2 + 3 * 4": "14", "7 mod -2": "1", "-7 mod 2": "-1",
		"6 - -2": "8", "--3": "3", "1 div 0": "Infinity", "-1 div 0": "-Infinity", "0 div 0": "NaN", "number('12abc')": "NaN",
		"number(' 12 ')": "12", "round(-1.5)": "-1", "round(2.5)": "3", "round(-0.2)": "0", "floor(-1.5)": "-2",
		"ceiling(1.2)": "2", "substring('12345', 1.5, 2.6)": "234", "substring('12345', 0, 3)": "12",
		"substring('12345', 0 div 0, 3)": "", "substring('12345', -42, 1 div 0)": "12345", "substring('äöü', 2)": "öü",
		"substring-before('1999/04','/')": "1999", "substring-after('1999/04','/')": "04", "substring-after('abc','')": "abc",
		"substring-before('a','x')": "", "translate('--aaa--','abc-','ABC')": "AAA", "string-length('é€')": "2",
		"concat('a', 1, true())": "a1true", "name(//@class)": "class", "local-name(//h2)": "h2",
		"name(//svg:a/@*[2])": "xlink:href",
		"boolean(//none)":     "false", "not(//none)": "true", "contains('', '')": "true",
		"starts-with('ab','b')":  "false",
		"string-join(//h2, '|')": "One|Two|Three", "replace('a1b2', '([0-9])', '<$1>')": "a<1>b<2>",
		"lower-case('ÄB')": "äb",
		"upper-case('äb')": "ÄB", "string(1 div 4)": "0.25", "string(10000000)": "10000000", "'a\"b'": `a"b`,
		"count(//div[count(p) > 1])": "2", "count(//*[div] | //dl)": "3", "matches('a', concat('(', ''))": "false",
		"4 div 2": "2", "2 * 3": "6", "count(//* [* ])": "12",
	} {
		if got := evaluate(t, root, expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

// TestRootIsTheNode: what is looked for within an element is found there alone.
func TestRootIsTheNode(t *testing.T) {
	root := parse(t, shop)
	e, err := Compile("id('i2')")
	if err != nil {
		t.Fatal(err)
	}
	v, _ := e.Evaluate(root)
	item := v.([]Node)[0].HTML()
	for expr, want := range map[string]string{
		"h2": "h22", ".//h2": "h22", "//h2": "h22", "/h2": "h22", ".": "i2", "..": "main", "@class": "'item'",
		"./p/text()":                        "'20'",
		"string(following-sibling::div/h2)": "Three",
	} {
		if got := evaluate(t, item, expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

func TestWrongExpressions(t *testing.T) {
	for expr, want := range map[string]string{
		"//a[": "want a name, not the end", "//p[@]": "not ]", "a b": "want an operator, not b", "$x": "no variables",
		"foo()": "no function foo()", "contains(a)": "contains() has 1 arguments", "up::a": "no axis up", "'a": "closing '",
		"a/": "not the end", "": "not the end", "(a": "want ), not the end", "a)": ") is one too many", "a#": `'#'`,
		"matches(a, '(')": "missing closing", "x:": "colon", strings.Repeat("(", 10_000): "deeper",
		strings.Repeat("-", 10_000) + "1": "deeper", "a::b": "no axis a", "//p[1]]": "] is one too many",
	} {
		if _, err := Compile(expr); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: error %v, want %q", expr, err, want)
		}
	}
}

// TestManyNodes: steps from each of many nodes are quick where they can be, and end where they cannot.
func TestManyNodes(t *testing.T) {
	root := parse(t, "<table>"+strings.Repeat("<tr><td>1</td><td>2</td></tr>", 5_000))
	for expr, want := range map[string]string{
		"count(//tr/following-sibling::tr)": "4999", "count(//td/ancestor::*)": "5004", "count(//td/following::td)": "9999",
		"count(//tr[last()]/preceding-sibling::tr/td[2])": "4999", "count(//td[1]/..)": "5000",
	} {
		if got := evaluate(t, root, expr); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
	e, err := Compile("//td[count(preceding::td) = count(//td)]")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Evaluate(root); err == nil {
		t.Errorf("value %v, want an error", v)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"//p[1]/@x | a[last()-1]", "-1 div .5 mod 2 * 3", "f(a, 'b')[2]//c", "../text()", "a:*"} {
		f.Add(s)
	}
	root := parse(f, shop)
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Compile(s)
		if err != nil {
			return
		}
		v, err := e.Evaluate(root)
		nodes, ok := v.([]Node)
		if err != nil || !ok || strings.Contains(s, "reverse") {
			return
		}
		if again, _ := Compile("(" + s + ") | (" + s + ")"); show(evaluateAt(again, root)) != show(nodes) {
			t.Errorf("%s: %s is not in order, or has a node twice", s, show(nodes))
		}
	})
}

func evaluateAt(e *Expr, root *html.Node) any {
	if e == nil {
		return nil
	}
	v, _ := e.Evaluate(root)
	return v
}
