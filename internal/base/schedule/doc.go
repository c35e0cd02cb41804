// Package schedule computes instants from local times in named zones (docs/reference/scheduling.md). It uses the IANA
// time zone database of its own release in zones, or that of the operator's file. It does not read the machine's zone
// files, which may be years old.
package schedule
