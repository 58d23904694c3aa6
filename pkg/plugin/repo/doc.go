// Package repo keeps plug-ins in a directory, by the SHA-256 of their package. A name with a version means the same
// bytes for ever; a package that was not written to its end is never seen. It says how far a plug-in is trusted, and
// loads those that may be used.
//
// Of the directory:
//
//	packages/HEX.tar          plugin.toml, the entry, and what else a program needs
//	names/OWNER/NAME/VERSION  the package of a name, and when it came
//	trust/HEX                 whether it was approved, or disabled, and by whom
//	signatures/HEX.minisig    of the package
//	run/HEX/                  files of programs, unpacked
package repo
