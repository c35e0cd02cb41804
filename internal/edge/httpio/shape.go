package httpio

import (
	"encoding/json"
	"net/http"
	"reflect"
)

// Shape describes the requests and responses of a route in Go types, from which its description is generated.
type Shape struct {
	Takes  reflect.Type // JSON of the body; nil for none
	Query  reflect.Type // a struct with a field for each parameter, named by its json tag; nil for none
	Gives  reflect.Type // JSON of a success; nil for none
	Status int          // of a success
	File   bool         // a success is no JSON, but a file or a stream
}

// Giving returns the route with a description of its response, from the zero value of the type.
func (r Route) Giving(v any) Route {
	r.Shape.Status, r.Shape.Gives, r.Shape.File = http.StatusOK, reflect.TypeOf(v), false
	switch v := v.(type) {
	case None:
		r.Shape.Status, r.Shape.Gives = http.StatusNoContent, nil
	case interface{ created() any }:
		r.Shape.Status, r.Shape.Gives = http.StatusCreated, reflect.TypeOf(v).Field(0).Type
		if given := reflect.TypeOf(v.created()); given != nil {
			r.Shape.Gives = given
		}
	}
	return r
}

// Listing is like Giving for a List of values like v.
func (r Route) Listing(v any) Route {
	r.Shape.Status, r.Shape.Gives = http.StatusOK, reflect.StructOf([]reflect.StructField{
		{Name: "Data", Type: reflect.SliceOf(reflect.TypeOf(v)), Tag: `json:"data"`},
		{Name: "Next", Type: reflect.TypeFor[*string](), Tag: `json:"next_cursor"`},
	})
	return r
}

// Taking returns the route with a description of its request's body, from a zero value.
func (r Route) Taking(v any) Route {
	r.Shape.Takes = reflect.TypeOf(v)
	return r
}

// Asking returns the route with a description of its query, from a zero value.
func (r Route) Asking(v any) Route {
	r.Shape.Query = reflect.TypeOf(v)
	return r
}

// Either is the value of a response that has one of two forms. The other is nil.
type Either[A, B any] struct {
	A *A
	B *B
}

// MarshalJSON implements json.Marshaler.
func (e Either[A, B]) MarshalJSON() ([]byte, error) {
	if e.A != nil {
		return encode(e.A)
	}
	return encode(e.B)
}

// Encoded is the JSON of a T.
type Encoded[T any] struct {
	JSON json.RawMessage
	_    [0]T // for the description
}

// EncodedAs returns JSON as that of a T.
func EncodedAs[T any](text []byte) Encoded[T] { return Encoded[T]{JSON: text} }

// MarshalJSON implements json.Marshaler.
func (e Encoded[T]) MarshalJSON() ([]byte, error) { return e.JSON, nil }
