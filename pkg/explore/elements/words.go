package elements

import (
	"regexp"
	"strings"
)

// looks are classes that say how an element looks, as kits such as Tailwind and Bootstrap have them: another element of
// the page looks alike, and another design of the site changes them. Words such as text-body or order-number are none.
var looks = regexp.MustCompile(
	`^-?(?:[mp][trblxyse]?|(?:min-|max-)?[wh]|size|text|font|f[ws]|lh|leading|tracking|bg|border(?:-[trblxy])?|` +
		`rounded(?:-[trbl]{1,2})?|shadow|flex|grid(?:-cols|-rows)?|gap(?:-[xy])?|space-[xy]|items|justify|self|content|place|order|` +
		`(?:col|row)(?:-span|-xs|-sm|-md|-lg|-xl|-xxl)?|z|top|left|right|bottom|inset(?:-[xy])?|opacity|overflow(?:-[xy])?|object|cursor|` +
		`duration|ease|d|align(?:-items)?|float|position|g[xy]?|offset|ring|divide-[xy]|line-clamp|whitespace|list|aspect)-(?:` +
		`[0-9]+(?:\.[0-9]+)?|px|[0-9]?x[sl]|xxl|sm|md|lg|base|full|auto|screen|none|inherit|start|end|center|left|right|top|bottom|middle|` +
		`between|around|evenly|stretch|baseline|wrap|nowrap|bold|bolder|semibold|medium|light|normal|thin|black|white|transparent|hidden|` +
		`scroll|visible|cover|contain|muted|primary|secondary|success|danger|warning|info|dark|pointer|flex|block|inline(?:-block)?|grid|` +
		`disc|inside|row|col|column|uppercase|relative|absolute|fixed|video|square|[a-z]+-[0-9]{2,3})$`)

// passing are classes of the moment, or of one of several alike: the same element has them now and not then.
var passing = regexp.MustCompile(
	`^(?:(?:is|has|js|no)-.*|active|selected|current|open|opened|closed|collapsed?|expanded|visible|show|shown|hide|` +
		`disabled|enabled|hover|focus|load(?:ed|ing)|lazy(?:load(?:ed|ing)?)?|odd|even|first|last|alt|alternate|` +
		`flex|grid|block|inline(?:-block|-flex)?|hidden|relative|absolute|fixed|sticky|static|container(?:-fluid)?|row|col|truncate|uppercase|` +
		`lowercase|capitalize|italic|underline|antialiased|rounded|border|shadow|transition|clearfix|clear|group|sr-only|wrapper|wrap|inner|outer)$`)

// Lasting tells whether a class may stay with what an element is.
func Lasting(class string) bool {
	return !strings.ContainsAny(class, ":/[]()!@%") && !looks.MatchString(class) && !passing.MatchString(class)
}
