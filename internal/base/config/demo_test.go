package config

import (
	"reflect"
	"testing"

	"carillon"
)

func TestDemoHasEverythingTheReadyFileTells(t *testing.T) {
	p, facts, err := Demo(closed())
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(facts)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).String() == "" && name != "DemoURL" { // set later
			t.Errorf("%s is empty", v.Type().Field(i).Name)
		}
	}
	c := p.Companies[0]
	if l := c.Over(carillon.NewCompany("")).Limits; l != (carillon.Limits{}) {
		t.Errorf("the demo has limits: %+v", l)
	}
	formats, categories, statuses := map[string]bool{}, map[string]bool{}, map[carillon.TemplateStatus]int{}
	for _, x := range c.Templates {
		formats[x.Shape.HeaderFormat], categories[x.Category] = true, true
		statuses[x.Status]++
	}
	if len(formats) != 5 || len(categories) != 3 || statuses[carillon.TemplateDraft] != 1 || statuses[carillon.TemplateApproved] != 11 {
		t.Errorf("formats %v, categories %v, statuses %v", formats, categories, statuses)
	}
	for _, s := range c.Senders {
		if s.Provider != "sandbox" || !s.Default {
			t.Errorf("sender %s: %s, default %v", s.ID, s.Provider, s.Default)
		}
	}
}
