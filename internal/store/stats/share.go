package stats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Documents are the last counts of a block, as stored in a row of stat_block: those of recipients and of calls.
type Documents struct{ Recipients, Calls string }

// Of divides the counts of a block into those of a company, in a fixed order, and those of the others.
func (d Documents) Of(companyID string) (own, others Documents, err error) {
	own.Recipients, others.Recipients, err = divide(d.Recipients, companyID, func(p part) string { return p.Company })
	if err != nil {
		return own, others, err
	}
	own.Calls, others.Calls, err = divide(d.Calls, companyID, func(p callPart) string { return p.Company })
	return own, others, err
}

// With adds the counts of another company to those of a block.
func (d Documents) With(other Documents) (both Documents, err error) {
	if both.Recipients, err = joined[part](d.Recipients, other.Recipients); err == nil {
		both.Calls, err = joined[callPart](d.Calls, other.Calls)
	}
	return both, err
}

// Empty reports whether the block has no counts, and no row.
func (d Documents) Empty() bool { return d.Recipients == "" && d.Calls == "" }

func divide[P any](doc, companyID string, owner func(P) string) (own, others string, err error) {
	all, err := partsOf[P](doc)
	if err != nil {
		return "", "", err
	}
	var ours, theirs []P
	for _, p := range all {
		if owner(p) == companyID {
			ours = append(ours, p)
		} else {
			theirs = append(theirs, p)
		}
	}
	return written(ours), written(theirs), nil
}

func joined[P any](a, b string) (string, error) {
	x, err := partsOf[P](a)
	if err != nil {
		return "", err
	}
	y, err := partsOf[P](b)
	return written(append(x, y...)), err
}

func partsOf[P any](doc string) (all []P, err error) {
	if doc == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(doc), &all); err != nil {
		return nil, fmt.Errorf("read what was counted: %w", err)
	}
	return all, nil
}

// written returns the document of parts, sorted by their text: equal parts have equal documents.
func written[P any](all []P) string {
	if len(all) == 0 {
		return ""
	}
	texts := make([]string, len(all))
	for i, p := range all {
		text, _ := json.Marshal(p) // texts and numbers cannot fail
		texts[i] = string(text)
	}
	slices.Sort(texts)
	return "[" + strings.Join(texts, ",") + "]"
}
