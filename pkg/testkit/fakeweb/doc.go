// Package fakeweb is a seeded synthetic web that tests, benchmarks and the demonstration crawl.
//
// Its duties, in order:
//
//  1. Describe a web: [New] turns a [Config] into hosts, a page graph, robots.txt files, sitemaps, copies, redirects,
//     failures, traps and changes. Everything is a function of the configuration, the URL and, where a page changes,
//     the time: a web of a million pages takes no more memory than one of a hundred.
//  2. Tell the truth about it: [Web.Pages] yields what a correct crawler must find at every URL.
//  3. Serve it: [Serve] listens on many loopback addresses at one port and answers DNS for its host names.
//  4. Witness: [Log] records every request as the server saw it, and [CheckPoliteness] judges a crawl by that record
//     alone, never by what the crawler says about itself.
//  5. Attack: [Hostile] holds answers no client should have to survive, one path each.
//
// It never dials, never leaves 127.0.0.0/8 unless a test gives it a network of its own, and depends on no other package
// of this module, so that a mistake in the crawler cannot hide behind the same mistake here.
package fakeweb
