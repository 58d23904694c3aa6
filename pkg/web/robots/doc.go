// Package robots reads robots.txt files and answers whether a crawler may fetch a path, as RFC 9309 says.
//
// Its duties, in order:
//
//  1. Parse: cut the file into lines and groups, keeping every parseable line (RFC 9309, section 2.3.1.5).
//  2. Agent: merge the groups for one name and compile their rules. Product finds the name in a User-Agent header.
//  3. Match: find the most specific rule for a path, in time linear in the path for each rule.
//
// It never fails on foreign bytes, never takes time exponential in a pattern, never fetches anything and never decides
// what a missing or unreachable robots.txt means: AllowAll and DisallowAll are there for callers that do.
//
// # Comparing octets
//
// Section 2.2.2 has paths and patterns brought to one form before they are compared octet by octet. Ours:
//
//   - octets that are neither unreserved nor reserved are percent-encoded: control characters, space, `"`, `<`, `>`,
//     `\`, `^`, backtick, `{`, `|`, `}` and all beyond ASCII; hexadecimal digits are upper case;
//   - encoded unreserved characters are decoded: %7E is "~";
//   - a reserved character is the same raw and encoded where it delimits nothing: ! $ ' ( ) * , : @ [ ] everywhere,
//     and / ? in the query. So `?u=http://a` and `?u=http%3A%2F%2Fa` are equal, as the RFC's table shows, and the
//     pattern %2A finds a "*" (section 2.2.3);
//   - & = + ; # everywhere, and / ? in the path, are delimiters: /a%2Fb is not /a/b;
//   - a "%" without two hexadecimal digits is %25.
//
// The length that decides between rules is the number of octets of the pattern in this form, `*` and `$` counted.
//
// # Beyond the letter
//
// What a site plainly meant is obeyed where the RFC leaves room: keys are compared by their letters (record.go), line
// ends and encodings are bridged (text.go), names are compared whole before their letters (agent.go). docs/robots.md
// lists what Google's parser answers otherwise, and differences_test.go holds that list.
package robots
