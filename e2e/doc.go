// Package e2e tests the whole program over HTTP, on both database engines. It also runs the contract's cases
// (testdata/contract, package contract).
package e2e
