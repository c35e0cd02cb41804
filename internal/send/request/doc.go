// Package request reads a request to send a notification. Parse checks the body and every field of it in this order:
// the JSON (internal/base/jsonbody), the flat form (flat.go), the contacts (contact.go), the labels and the class
// (request.go), the schedule (schedule.go), the values for the template (internal/base/content).
//
// The methods of the Request that Parse returns match it with a template (fill.go) and find the recipients that would
// get the same message twice (duplicate.go). The values of contacts stay in one copy of the body until they are read.
package request
