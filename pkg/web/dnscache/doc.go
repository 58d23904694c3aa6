// Package dnscache resolves host names for a crawler, which asks for the same few thousand names again and again.
//
// Its duties, in order:
//
//  1. An address, a name of the hosts file or one that means this machine is answered on the spot.
//  2. A name that was asked for lately is answered from memory: addresses for as long as their records say, at most an
//     hour; a name that does not exist for a minute; a failure of the name server for a second (RFC 9520 asks for no
//     less), so that a retry finds it mended.
//  3. Everything else goes to the name server, once for all who ask at the same time.
//
// The name server is the one that was configured, else those of /etc/resolv.conf, asked directly because only then the
// records' time to live is known; else the system's resolver. Names with a dot are taken as they are; the search list
// of resolv.conf serves only single labels, so that no crawled name leaks into it.
//
// It never decides whether an address may be contacted: that is package netguard's. It keeps no more than a fixed
// number of names.
package dnscache
