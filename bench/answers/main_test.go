package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/agent/meaning/meaningtest"
)

const questions = `{"data":[{"paragraphs":[
	{"context":"A doctor sees you without an appointment from nine to noon.","qas":[{"question":"When does the physician see me?"}]},
	{"context":"Leave your car in the yard behind the house.","qas":[{"question":"Where may I leave my car?"}]},
	{"context":"You get an invoice by post in the following week.","qas":[{"question":"How do I get my bill?"}]},
	{"context":"A dog waits outside, and there is water for it at the door.","qas":[{"question":"May I bring a dog?"}]}]}]}`

func TestASecondTableComesWithAServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clinic.en.json")
	if err := os.WriteFile(file, []byte(questions), 0o600); err != nil {
		t.Fatal(err)
	}
	stand := meaningtest.New("words-1", 256)
	stand.Key = "sk-1"
	t.Setenv("ANSWERS_KEY", stand.Key)
	server := httptest.NewServer(stand)
	defer server.Close()
	var out bytes.Buffer
	args := []string{"-embeddings", server.URL + "/v1", "-model", "words-1", "-key-env", "ANSWERS_KEY", "en=" + file}
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	words, both, ok := strings.Cut(out.String(), "With words-1:")
	if !ok || strings.Count(words, "clinic-en") != 2 || strings.Count(both, "clinic-en") != 2 || stand.Requests() < 8 {
		t.Error(out.String())
	}
	stand.Set(func(s *meaningtest.Server) { s.Key = "another" })
	if err := run(t.Context(), args, &out); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
	if err := run(t.Context(), []string{"-embeddings", server.URL, "en=" + file}, &out); err == nil || !strings.Contains(err.Error(), "-model") {
		t.Error(err)
	}
}
