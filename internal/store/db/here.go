package db

// Here is the condition that a row's company is in use at this installation: nothing of a company that is being moved
// starts. Queries for work of all companies have it; the table is nearly always empty.
const Here = " AND company_id NOT IN (SELECT company_id FROM company_move)"
