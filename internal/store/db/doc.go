// Package db opens the database, SQLite or PostgreSQL, and runs transactions on it. It knows no table: the packages above
// bring their SQL, one text for both engines, and their migrations.
//
// Writes that callers wait for go through the group commit (commit.go): operations in flight share a transaction and one
// flush to the disk, and each caller gets its result after the commit.
//
//	Kind.Commit ──▶ foreground or background queue ──▶ a batch, sorted by place in the lock order
//	                                                     │ PostgreSQL: one round trip (Flush)
//	                                                     │ else: statement by statement (Apply)
//	                                                     ▼
//	                                                   COMMIT ──▶ every caller
//	                                                     │ failed: each operation alone
package db
