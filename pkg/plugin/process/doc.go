// Package process runs plug-ins that are programs: trusted code, in any language. A program reads frames from standard
// input and writes answers to standard output, each after its length as four bytes, the lowest first; docs/plugins.md
// shows one. Its environment has PATH alone, and it runs in its own directory. One that takes too long is killed with
// all that it started, and another is started for the next call.
package process
