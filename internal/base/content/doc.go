// Package content knows what a message consists of: the parts of a template and the variables in them, the values that a
// request gives for those variables, and how the two combine into the content for one recipient.
//
// Compile analyses a template once. ParseComponent reads one value of a request; Check and Fill match the values of a
// request with a compiled template. FindTemplate picks a template by name and language. A Draft is the payload that
// creates or changes a template.
package content
