// Package topical makes the models that are part of a job: of the files, texts and pages that its topic and its classes
// name. Whoever submits a job completes it once; all programs of the crawl have the model with the job, and need
// neither the files nor the examples.
package topical
