package process

// filesOfRest is the number of open files that a program needs besides stores and requests: logs, its own sockets, name
// servers.
const filesOfRest = 64

// filesOfRequest is how many files a request needs at most: its connection, the file of its body, and an idle
// connection.
const filesOfRequest = 3

// StoreFiles is how many of so many files a store may keep open; 0: nothing is known.
func StoreFiles(files int) int { return files / 4 }

// FitFiles is how many of n requests at once the process has files for, of the number that system.OpenFiles returned.
func FitFiles(n, files int) int {
	if files <= 0 {
		return n
	}
	return min(n, max((files-StoreFiles(files)-filesOfRest)/filesOfRequest, 1))
}
