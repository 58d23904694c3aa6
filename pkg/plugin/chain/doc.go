// Package chain runs the plug-ins of jobs at the points of the pipeline. It evaluates "when", bounds each call in time,
// applies patches, heeds on_error, and leaves a plug-in that keeps failing alone for a while. It counts what each node
// does. A job's nodes are compiled once for each revision.
package chain
