// Package meaningtest is a strict stand-in for an embeddings server with OpenAI's API. Its vectors are made of the words of a
// text: each word has a random direction, and words of one meaning have nearly the same.
package meaningtest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"carillon/internal/agent/knowledge"
)

// meanings are words with nearly the same meaning, in three languages.
const meanings = `doctor physician medic médico
	yard courtyard plaza patio
	car automobile vehicle coche carro
	buy purchase acquire comprar
	dog hound perro cachorro
	begin start commence empezar
	pool swimming piscina natación
	bill invoice factura fatura
	flat apartment piso apartamento
	sick ill unwell enfermo doente
	money cash funds dinero dinheiro`

// Server is a stand-in. It is an http.Handler for /v1/embeddings. Its fields may be changed under Lock.
type Server struct {
	sync.Mutex
	Model      string
	Key        string // required as a bearer token, unless it is empty
	Dimensions int
	Seed       uint64 // of the directions; each seed is a different model
	MaxInputs  int    // of a request, unless it is 0
	// Fail responds to a request instead, and reports whether it has.
	Fail func(w http.ResponseWriter, r *http.Request, inputs []string) bool

	inputs     []string
	requests   int
	group      map[string]string
	directions map[direction][]float64
}

// direction identifies the direction of a word.
type direction struct {
	word       string
	dimensions int
	seed       uint64
}

// New returns a stand-in with the given model.
func New(model string, dimensions int) *Server {
	s := &Server{Model: model, Dimensions: dimensions, group: map[string]string{}, directions: map[direction][]float64{}}
	for line := range strings.Lines(meanings) {
		words := knowledge.Words(line)
		for _, w := range words {
			s.group[w] = words[0]
		}
	}
	return s
}

// Inputs returns the texts that were sent since the last call.
func (s *Server) Inputs() []string {
	s.Lock()
	defer s.Unlock()
	all := s.inputs
	s.inputs = nil
	return all
}

// Forget sets the number of requests to 0.
func (s *Server) Forget() {
	s.Lock()
	defer s.Unlock()
	s.requests, s.inputs = 0, nil
}

// Requests returns the number of requests so far.
func (s *Server) Requests() int {
	s.Lock()
	defer s.Unlock()
	return s.requests
}

// Set changes the stand-in.
func (s *Server) Set(change func(s *Server)) {
	s.Lock()
	defer s.Unlock()
	change(s)
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type embedding struct {
	Object    string    `json:"object"`
	Index     int       `json:"index"`
	Embedding []float32 `json:"embedding"`
}

type response struct {
	Object string      `json:"object"`
	Data   []embedding `json:"data"`
	Model  string      `json:"model"`
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": text, "type": "invalid_request_error"}})
	}
	var q request
	d := json.NewDecoder(io.LimitReader(r.Body, 1<<20))
	d.DisallowUnknownFields()
	err := d.Decode(&q)
	s.Lock()
	model, key, fail, most := s.Model, s.Key, s.Fail, s.MaxInputs
	s.requests++
	s.inputs = append(s.inputs, q.Input...)
	s.Unlock()
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/embeddings" || r.URL.RawQuery != "":
		refuse(http.StatusNotFound, "no such route: "+r.URL.Path)
	case r.Header.Get("Content-Type") != "application/json":
		refuse(http.StatusUnsupportedMediaType, "the body must be JSON")
	case key != "" && r.Header.Get("Authorization") != "Bearer "+key || key == "" && r.Header.Get("Authorization") != "":
		refuse(http.StatusUnauthorized, "the key is wrong")
	case err != nil || len(q.Input) == 0:
		refuse(http.StatusBadRequest, "the body must have a model and a list of texts")
	case q.Model != model:
		refuse(http.StatusNotFound, "no such model: "+q.Model)
	case most > 0 && len(q.Input) > most:
		refuse(http.StatusUnprocessableEntity, "too many texts")
	case fail != nil && fail(w, r, q.Input):
	default:
		a := response{Object: "list", Model: model}
		for i, text := range slices.Backward(q.Input) { // the order is not promised
			a.Data = append(a.Data, embedding{"embedding", i, s.Vector(text)})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(a)
	}
}

// toward returns the numbers of a direction.
func (s *Server) toward(d direction) []float64 {
	s.Lock()
	defer s.Unlock()
	if v := s.directions[d]; v != nil {
		return v
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(d.word))
	random := rand.New(rand.NewPCG(h.Sum64(), d.seed)) //nolint:gosec // the same for the same word
	v := make([]float64, d.dimensions)
	for i := range v {
		v[i] = random.NormFloat64()
	}
	s.directions[d] = v
	return v
}

// common are words that carry no meaning.
const common = " the a an is are do does can you i my your to of in on at for and or el la los de que y o um uma "

const (
	prefixLength = 5   // characters that forms of a word share
	ownShare     = 0.3 // of the word itself in the direction of its meaning
)

// Vector returns the vector of a text.
func (s *Server) Vector(text string) []float32 {
	s.Lock()
	dimensions, seed := s.Dimensions, s.Seed
	s.Unlock()
	sum := make([]float64, dimensions)
	add := func(word string, weight float64) {
		for i, x := range s.toward(direction{word, dimensions, seed}) {
			sum[i] += weight * x
		}
	}
	add("text", 0.5) // what all texts share
	for _, word := range knowledge.Words(text) {
		if strings.Contains(common, " "+word+" ") {
			continue
		}
		stem := word[:min(len(word), prefixLength)]
		meaning, ok := s.group[word]
		if !ok {
			meaning = s.group[strings.TrimSuffix(word, "s")]
		}
		if meaning == "" {
			add(stem, 1)
			continue
		}
		add("="+meaning, 1)
		add(stem, ownShare)
	}
	size := 0.0
	for _, x := range sum {
		size += x * x
	}
	size = math.Sqrt(size)
	v := make([]float32, dimensions)
	for i, x := range sum {
		v[i] = float32(x / size)
	}
	return v
}
