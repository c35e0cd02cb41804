// Package schedule computes instants from local times in named zones (docs/reference/scheduling.md). It has the IANA time zone
// database of its own release in zones, or that of the operator's file, and reads no zone files of the machine, which may be
// years old.
package schedule
