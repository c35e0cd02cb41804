// Package move copies a whole installation from SQLite to PostgreSQL, or back, and makes sure that never both databases
// are in use.
//
//	copy ──▶ catch up ──▶ stop the program ──▶ copy what differs ──▶ verify ──▶ mark the target as copied
//	                                                       ──▶ mark the source as moved ──▶ free the target
//
// Every table is divided into ranges of its key. A range has the SHA-256 of its rows in PostgreSQL's binary COPY format
// (package tuple), which both engines can produce: equal digests mean that nothing needs to be copied, and that the
// copy is right. So the ranges can be read at different times, while the program writes: only the
// last comparison needs a source without writers. The source's mark is the moment of the move. Before it the target
// is refused by every program (Mark); after it the source is.
//
// The package knows no table but the few of its marks: it reads the schema of the target. Which program has to stop, and
// how, is decided by its callers.
package move
