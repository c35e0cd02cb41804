// Package faults breaks the whole program on purpose and counts what became of every message. Its scenarios kill, stop
// and cut off nodes, at random and at named points of their transactions; stop, restart, fill and fail over databases;
// step clocks; have a provider fail in every way and its callbacks come in every order; restore an old backup. After
// each round a ledger must balance (ledger_test.go): what was answered 200 has ended with a state or a reason, was
// posted to the provider once, or is named as of unknown outcome.
//
//	make faults ROUNDS=20
//	go test ./e2e/faults -run TestFaultsDiskFull -count=1 -faults.rounds=3 -v
//
// A run repeats its choices, though not the machine's timing; -faults.seed makes others. One round of the commonest scenario is part of
// `make test`. The summary of the last whole run is in ledger.md.
package faults
