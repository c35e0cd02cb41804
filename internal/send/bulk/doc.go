// Package bulk sends a template to the people of a CSV file. A job belongs to a company and goes on without the page that made it:
//
//	Upload: bytes ─▶ text ─▶ rows, 100 in a batch ─▶ database; columns are mapped by their names
//	check: batch by batch, in the background: numbers, variables, texts, media, suppressed, duplicates
//	send: batch by batch: notify.Accept with the key `bulk:<job>:<batch>` ─▶ progress
//
// One node at a time works at a job, by a lease. Where it is killed between accepting a batch and noting that down, the next one
// repeats the request and gets the response of the first: nothing is sent twice, and nothing is lost.
package bulk
