// Package wasm runs plug-ins that are WASM modules, by wazero. A module has memory of its own up to a limit, no files,
// no sockets, no environment. Its clock is the call's, and its random bytes are made of the call's id. A call that
// takes longer than its context permits is ended, and the instance with it.
package wasm
