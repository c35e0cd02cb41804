package knowledge_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"carillon/internal/agent/knowledge"
	"carillon/internal/base/config"
	"carillon/internal/base/resource"
)

func TestWordingsAreAddedOnce(t *testing.T) {
	a := knowledge.Article{Title: "Opening hours", Questions: []string{"When are you open?"}}
	added := a.AddQuestions([]string{"opening HOURS?", "when are you open", "From when?", "From  when", "?"})
	if diff := cmp.Diff([]string{"When are you open?", "From when?"}, a.Questions); diff != "" || added != 1 {
		t.Error(added, diff)
	}
	var many []string
	for i := range 200 {
		many = append(many, "number "+strconv.Itoa(i))
	}
	if added := a.AddQuestions(many); added != 98 || a.HasRoom() || len(a.Questions) != 100 {
		t.Error(added, len(a.Questions))
	}
}

func TestASetUpHasWordings(t *testing.T) {
	p, err := config.ParseProvision("set-up.yaml", []byte(`companies:
  - id: 11111111-1111-4111-8111-111111111101
    name: Acme
    knowledge:
      - id: help
        articles:
          - {title: Opening hours, text: At nine., questions: ["When are you open?", "¿Cuándo abren?"]}
`), config.ProvisionOptions{Kinds: []resource.Kind{knowledge.Kind()}})
	if err != nil {
		t.Fatal(err)
	}
	b, _ := p.Companies[0].Resources[0].Resource.(*knowledge.Base)
	if b == nil || !cmp.Equal(b.Articles[0].Questions, []string{"When are you open?", "¿Cuándo abren?"}) {
		t.Errorf("%+v", b)
	}
}
