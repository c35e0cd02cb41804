package main

import "carillon/internal/argon"

// hashWorkerArgs are the arguments of the process that serve starts for password hashes.
//
//nolint:gochecknoglobals // read only
var hashWorkerArgs = []string{"hash-worker"}

// hashWorkerCommand is that process. Nobody else has a use for it.
type hashWorkerCommand struct{}

// Run computes until standard input ends, with the serving program at the latest.
func (hashWorkerCommand) Run(env *environment) error { return argon.Work(env.Stdin, env.Stdout) }
