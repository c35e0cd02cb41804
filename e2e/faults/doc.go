// Package faults breaks the whole program on purpose and accounts for every message. Its scenarios kill, stop and cut
// off nodes, at random and at named points of their transactions; stop, restart, fill and fail over databases; step
// clocks; make a provider fail in every way and send its callbacks in every order; and restore an old backup. After
// each round a ledger must balance (ledger_test.go): each request with a 200 has ended with a state or a reason, and
// was posted to the provider once or has an unknown outcome.
//
//	make faults ROUNDS=20
//	make faults-ha
//	go test ./e2e/faults -run TestFaultsDiskFull -count=1 -faults.rounds=3 -v
//
// The random choices are reproducible, though not the machine's timing; -faults.seed changes them. One round of the
// most common scenario is part of `make test`. The summary of the last complete run is in ledger.md.
package faults
