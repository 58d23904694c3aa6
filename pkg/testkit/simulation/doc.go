// Package simulation runs a whole cluster in virtual time: up to a thousand nodes, a million hosts.
//
// Our own parts are the real code: each node has a frontier, a host splitter, a duplicate URL eliminator, the runner of
// stages around them, and a membership of a ring with real tables. The parts of others are simulated: a broker for each
// node, which takes some time for each message and handles one after the other; the stores that all nodes share;
// fetchers, parsers and the web. The simulated hosts check politeness themselves: who requests, when, and how long
// after the end of the request before.
//
// Time is that of testing/synctest. [Cluster] takes it only from package time and must run in a bubble, so in a test.
// Clocks stand still while anything computes, so figures in virtual time do not depend on the machine, and a store
// answers in no time unless its simulation adds some. The cost of computing is measured elsewhere (docs/benchmarks.md);
// docs/scale.md puts both together.
package simulation
