// Package company moves one company, which is stopped meanwhile, from this installation to another: it writes the company's
// rows to a file, reads such a file, and removes a company. The states of a company at both installations:
//
//	former:  in use ──Stop──▶ moving ──Finish──▶ moved ──Remove──▶ removing ──▶ (gone)
//	           ▲─────Resume─────┘
//	new:     (none) ──Import──▶ arriving ──▶ arrived ──Resume──▶ in use
//
// At most one of the two is in use: the new installation asks for a code that the former one shows when it has given the
// company up for good (Finish).
//
// The registry (Tables) names every table of the schema and how the rows of a company are found in it. A file has all of
// them in the form of package tuple, the same for both engines, with counts and hashes by table (file.go). Other packages leave a
// company alone that has a row in company_move: carillon.Company.Refusal and db.Here.
package company
