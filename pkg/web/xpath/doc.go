// Package xpath selects nodes of HTML documents by XPath 1.0 (W3C Recommendation of 1999), as browsers do: names match
// in any case, and results come in the order of the document.
//
// Beside the functions of the standard there are those of XPath 2 that people use with web pages: ends-with, matches,
// replace, lower-case, upper-case, string-join and reverse. Patterns are those of package regexp. There are no
// variables, and no namespaces: svg:path is a path in SVG, xlink:href an attribute of that name.
//
// The node that an expression is evaluated at is its root: /a and //a look within it.
package xpath
