package flows

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/resource"
	"carillon/internal/edge/panel/form"
	"carillon/internal/store"
	"carillon/internal/talk/flow"
)

// flowFault is a fault of a field of a flow.
type flowFault struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
	*form.Rule
}

// flowFaults are the faults of a flow.
type flowFaults struct {
	Faults   []flowFault `json:"faults"`   // prevent publishing
	Warnings []flowFault `json:"warnings"` // prevent nothing
}

// faults returns the faults of a flow, with those of the templates that it sends.
func (x Flows) faults(ctx context.Context, companyID string, f *flow.Flow) (flowFaults, error) {
	lacking, absent, err := templateFaults(ctx, x.Store, companyID, f)
	return flowFaults{
		Faults:   append(faultsOf(f.Validate()), faultsOf(lacking)...),
		Warnings: append(faultsOf(f.Warnings()), faultsOf(absent)...),
	}, err
}

// faultsOf returns the faults that an error joins.
func faultsOf(err error) []flowFault {
	all := []flowFault{}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return all
	}
	for _, err := range joined.Unwrap() {
		if known, ok := errors.AsType[*carillon.Error](err); ok {
			field, _ := known.Details.Find("field").(string)
			reason, _ := known.Details.Find("reason").(string)
			if reason == "" {
				reason = known.Message
			}
			all = append(all, flowFault{field, reason, form.RuleOf(reason)})
		}
	}
	return all
}

// templateFaults joins an error for each variable of a template that a flow gives no value (lacking), and for each template that its
// sender does not have (absent).
func templateFaults(ctx context.Context, s *store.Store, companyID string, f *flow.Flow) (lacking, absent, err error) {
	var values, templates resource.Check
	f.EachTemplate(func(at string, t *flow.SendTemplate) {
		if err != nil || t.Name == "" || t.Language == "" {
			return
		}
		found, problem := templateOf(ctx, s, companyID, t)
		if err = problem; err != nil {
			return
		}
		templates.That(found != nil, at+".name", "The sender has no approved template "+t.Name+" in "+t.Language)
		if found == nil {
			return
		}
		for _, key := range content.Keys(found.Shape) {
			_, given := t.Variables[key] // an empty value is a fault of the flow itself
			values.That(given, at+".variables."+key, flow.NeedsValue)
		}
	})
	return values.Err(), templates.Err(), err
}

// Admit refuses a valid flow that gives a variable of a template no value.
func Admit(ctx context.Context, s *store.Store, companyID string, f *flow.Flow) error {
	lacking, _, err := templateFaults(ctx, s, companyID, f)
	return cmp.Or(err, lacking)
}

// templateOf returns the approved template that a step sends, or nil.
func templateOf(ctx context.Context, s *store.Store, companyID string, t *flow.SendTemplate) (*carillon.Template, error) {
	by, err := s.Senders.DefaultSender(ctx, companyID, carillon.Messaging)
	if t.Sender != "" {
		var named []*carillon.Sender
		named, err = s.Senders.SendersNamed(ctx, companyID, t.Sender)
		if by = nil; slices.ContainsFunc(named, messaging) {
			by = named[slices.IndexFunc(named, messaging)]
		}
	}
	if err != nil || by == nil {
		return nil, err
	}
	stored, err := s.Templates.Templates(ctx, by.UID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(stored, func(x *carillon.Template) bool {
		return x.Name == t.Name && x.Language == t.Language && x.Status == carillon.TemplateApproved
	})
	if i < 0 {
		return nil, nil
	}
	return stored[i], nil
}

func messaging(s *carillon.Sender) bool { return s.Channel == carillon.Messaging }
