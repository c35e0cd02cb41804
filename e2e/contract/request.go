package contract

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Request is a request that is ready to be sent.
type Request struct {
	Method  string
	Target  string // path and query
	Header  http.Header
	Body    []byte
	Chunked bool   // without Content-Length
	From    string // source address; empty means any
}

// Build builds the request of a step. The step is a merge patch on the base that it names; variables are expanded.
//
//	base       name of a request in the file's bases
//	method, path (below /functions/v1/ unless it begins with a slash), query, headers (an empty Content-Type: none)
//	body       JSON, sent in the order of its keys as application/json
//	raw        text sent unchanged; base64: bytes
//	chunked    without a length; from: source address
//	sign       {header, secret}: HMAC-SHA256 of the body
func (f *File) Build(step json.RawMessage, vars *Vars) (*Request, error) {
	patch, err := Parse(step)
	if err != nil {
		return nil, err
	}
	whole, ok := patch.(Object)
	if !ok {
		return nil, fmt.Errorf("a request is an object")
	}
	if name, ok := whole.Find("base"); ok {
		text, known := f.Bases[fmt.Sprint(name)]
		if !known {
			return nil, fmt.Errorf("there is no base %v", name)
		}
		base, err := Parse(text)
		if err != nil {
			return nil, err
		}
		whole, _ = merge(base, whole).(Object)
	}
	whole, _ = vars.expandValue(whole).(Object)
	return build(whole)
}

func build(o Object) (*Request, error) {
	r := &Request{Header: http.Header{}}
	var path string
	query := url.Values{}
	var sign Object
	for _, m := range o {
		var err error
		switch m.Key {
		case "base":
		case "method":
			r.Method = fmt.Sprint(m.Value)
		case "path":
			path = fmt.Sprint(m.Value)
		case "query":
			err = each(m.Value, query.Set)
		case "headers":
			err = each(m.Value, r.Header.Set)
		case "body":
			r.Body, err = json.Marshal(m.Value)
		case "raw":
			r.Body = []byte(fmt.Sprint(m.Value))
		case "base64":
			r.Body, err = base64.StdEncoding.DecodeString(fmt.Sprint(m.Value))
		case "chunked":
			r.Chunked = m.Value == true
		case "from":
			r.From = fmt.Sprint(m.Value)
		case "sign":
			sign, _ = m.Value.(Object)
		default:
			err = fmt.Errorf("unknown key")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Key, err)
		}
	}
	if sign != nil {
		signed(r, sign)
	}
	setType(r)
	if !strings.HasPrefix(path, "/") {
		path = "/functions/v1/" + path
	}
	r.Target = path
	if len(query) > 0 {
		r.Target += "?" + query.Encode()
	}
	return r, nil
}

// each calls set for the members of an object of strings.
func each(v any, set func(key, value string)) error {
	o, ok := v.(Object)
	if !ok {
		return fmt.Errorf("not an object")
	}
	for _, m := range o {
		value, ok := m.Value.(string)
		if !ok {
			return fmt.Errorf("%s is not a text", m.Key)
		}
		set(m.Key, value)
	}
	return nil
}

// setType sets the content type of a body unless the headers name one. An empty one in the headers means none.
func setType(r *Request) {
	given, named := r.Header["Content-Type"]
	switch {
	case named && given[0] == "":
		r.Header.Del("Content-Type")
	case !named && r.Body != nil:
		r.Header.Set("Content-Type", "application/json")
	}
}

func signed(r *Request, o Object) {
	header, _ := o.Find("header")
	secret, _ := o.Find("secret")
	mac := hmac.New(sha256.New, []byte(fmt.Sprint(secret)))
	mac.Write(r.Body)
	r.Header.Set(fmt.Sprint(header), "sha256="+hex.EncodeToString(mac.Sum(nil)))
}
