// Package repo keeps plug-ins by the SHA-256 of their package, in a directory or in what else is a Store. A name with a
// version means the same bytes for ever; a package that was not written to its end is never seen. It says how far a
// plug-in is trusted, and loads those that may be used.
//
// Of a store:
//
//	packages/HEX.tar          plugin.toml, the entry, and what else a program needs
//	names/OWNER/NAME/VERSION  the package of a name, and when it came
//	trust/HEX                 whether it was approved, or disabled, and by whom
//	signatures/HEX.minisig    of the package
//
// A directory of this machine has besides:
//
//	run/HEX/                  files of programs, unpacked
//	cache/                    modules, compiled
package repo
