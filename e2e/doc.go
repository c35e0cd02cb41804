// Package e2e tests the whole program: it is started as it is, on both engines, and spoken to over HTTP. The contract's
// cases (testdata/contract, package contract) run here.
package e2e
