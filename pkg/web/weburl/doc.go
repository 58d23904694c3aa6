// Package weburl holds the URLs of the crawler: it parses them as browsers do, gives each one canonical form, and
// derives from them the names everything else is filed under.
//
// Its duties, in order:
//
//  1. Parse and Resolve read a link by the URL Standard (https://url.spec.whatwg.org), so that a crawl goes where a
//     browser would: stray blanks, backslashes, dot segments, IDN, and addresses in disguise such as http://0x7f.1/.
//     Links already in the form the standard gives them take a short cut (fast.go) that a fuzz test holds to the same
//     result. ParseAny does the same for any scheme.
//  2. Canonicalizer removes what makes two spellings of one page differ; the rules follow.
//  3. URL's accessors name the units of crawling: Origin (robots.txt), HostKey (politeness, sharding),
//     RegistrableDomain (scope), and Key (the identity of a URL in stores).
//
// It must never import another package of this module, reach the network, keep a page's text alive through a URL, or
// return a URL whose text does not parse back to the same URL.
//
// # The canonical form
//
// Each rule gives up spellings that name the same resource, by a standard or by what servers do in practice:
//
//   - The serialisation of the URL Standard: scheme and host in lower case, IDN in Punycode, default port dropped, dot
//     segments applied, bytes that need it percent-encoded. It is what a client sends.
//   - No fragment: it never reaches the server.
//   - No userinfo: a link must not carry credentials into a crawl, and pages are the same without.
//   - No dot at the end of the host: it marks the DNS root and names the same host. A host that ends in two dots stays.
//   - Percent-encoding in normal form in path and query: hex digits in upper case, triplets of unreserved characters
//     decoded (RFC 3986, sections 6.2.2.1 and 6.2.2.2). Other triplets stay, since "%2F" is no slash. A stray "%" is
//     left alone, and so is a triplet whose decoding would turn a stray "%" into a new triplet.
//   - No empty query: "/a?" and "/a" are one page on any server in use.
//   - No session ids, in the query or as path parameters: each visit would get URLs of its own, without end. Names that
//     tell (PHPSESSID, jsessionid, ASPSESSIONID*, CFID, CFTOKEN …) go whatever their value; ambiguous ones (sid,
//     session …) only with a value that looks like a session token, because "sid=7" may well choose the page.
//   - No tracking parameters (utm_*, gclid, fbclid, msclkid, mc_eid …): they tell the site's owner where a visitor came
//     from and choose nothing.
//   - The order of query parameters is kept unless SortQuery is set.
//   - A URL longer than MaxLength has no canonical form.
//
// Names of parameters match in either case, since the case they are written in varies by server.
//
// What is kept on purpose, because it can change the meaning: index.html and its like, "www.", a trailing slash,
// doubled slashes, letter case in path and query, "+" against "%20", duplicate and empty parameters. Pages that turn
// out equal are found by their content instead.
package weburl
