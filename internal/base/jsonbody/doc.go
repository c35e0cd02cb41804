// Package jsonbody reads JSON request bodies strictly: it refuses duplicate keys, lone surrogates, U+0000, more than 32
// levels of nesting and anything after the value, which encoding/json accepts. It is also faster than decoding into a
// map, because values stay slices of one copy of the body until they are read.
//
// Parse checks the whole body and returns its Object. The methods of Object and Value read one field each; their
// errors are the 400 responses that name the field. A key whose value is null counts as absent.
package jsonbody
