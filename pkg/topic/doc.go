// Package topic says how likely a text is about a topic. It is arithmetic alone: no I/O, no clock, no goroutine.
//
// In order:
//
//  1. [Reader.Read] makes features of a page: its words and its pairs of neighbouring words, in lower case, hashed to
//     [Features] numbers. A feature counts once, however often it occurs; one of the title counts as [TitleWeight].
//  2. [Train] finds the weights of a logistic regression from pages that are about the topic and pages that are not.
//     The same pages give the same model, to the bit.
//  3. [Model.Score] is the probability that a page is about the topic; of a model of several classes, of each.
//  4. [Model.Append] and [Parse] are the compact form in which a model is part of a job.
//
// Where nobody names pages that are not about the topic, [Background] stands for them: pages about many things, in
// several languages.
//
// It must never know of jobs, links or hosts: what follows from a probability is decided by those who ask for it.
package topic
