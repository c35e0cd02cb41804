// Package carillon is the vocabulary that all other packages speak: companies, senders, templates, messages, their
// states and reasons, and the one error that a caller sees. It also holds all that can be decided without asking
// anyone: reading and checking a send request, compiling a template, filling one from the other, phone numbers,
// schedules, ids.
//
// A request is read once. ParseRequest checks the body in one pass and every field of it; FindTemplate picks the
// template among a sender's; Request.CheckAgainst holds the two together; Request.Duplicates tells what would be sent
// twice; Request.Content is what goes to the channel for one recipient. The values of contacts and components stay in
// one copy of the body until they are looked up.
//
// It imports the standard library alone and does no input or output, but for zone data that ParseZone has the
// standard library load, once a zone.
package carillon
