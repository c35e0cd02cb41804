// Package faults breaks the whole program on purpose and counts what became of every message: kill -9 at random moments
// of accepting and delivering, nodes that stop or are cut off, a database that ends connections or swallows a COMMIT's
// answer, a provider that fails in every way. After each run a ledger must balance (check in ledger_test.go): what was
// answered 200 has ended with a state or a reason, was posted to the provider once, or is named as of unknown outcome.
//
//	go test ./e2e/faults -run TestFaults -count=1 -faults.rounds=20 -v -timeout 40m
//
// Each run prints its seed; -faults.seed repeats its choices, though not the machine's timing.
package faults
