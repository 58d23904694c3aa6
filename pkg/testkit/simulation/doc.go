// Package simulation runs a whole cluster in virtual time: up to a thousand nodes, a million hosts.
//
// What is ours is real, the very code of the programs: each node has a frontier, a host splitter, a duplicate URL eliminator, the stage runner
// around them, and a membership of a ring with real tables. What is not ours is simulated: a broker for each node, which takes a
// time for each message and handles one after the other; the stores that all nodes share; fetchers, parsers and the web. The hosts of that
// web keep watch over politeness themselves: who asks, when, and how long after the end of the request before.
//
// Time is that of testing/synctest: [Cluster] knows it from package time only and has to be run in a bubble, so in a test. Clocks stand still while
// anything computes; so figures in virtual time do not depend on the machine, and a store's answer takes no time at all unless its
// simulation says so. What the programs' computing costs is measured elsewhere (docs/benchmarks.md) and put together in docs/scale.md.
package simulation
