package sheet

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"carillon"
)

// book returns a workbook whose only sheet has the cells.
func book(t *testing.T, cells map[string]any, styles map[string]excelize.Style) []byte {
	t.Helper()
	f := excelize.NewFile()
	for at, v := range cells {
		if err := f.SetCellValue("Sheet1", at, v); err != nil {
			t.Fatal(err)
		}
	}
	for at, style := range styles {
		id, err := f.NewStyle(&style)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellStyle("Sheet1", at, at, id); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAWorkbookIsReadAsItIsShown(t *testing.T) {
	day := "dd/mm/yyyy"
	content := book(t, map[string]any{
		"A1": "Phone", "B1": "Name", "C1": "Day", "D1": "Price",
		"A2": 34600701234, "B2": " Ana ", "C2": time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), "D2": 0.5,
		"A4": "+34 600 701 235", "B4": "José\r\nMaría", "C4": "Monday", "D4": true,
		"A5": 551198765432100, "B5": "'=1",
	}, map[string]excelize.Style{"C2": {CustomNumFmt: &day}, "D2": {NumFmt: 9}, "A2": {NumFmt: 11}})
	names, rows, enc, err := all(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Phone", "Name", "Day", "Price"}, names); diff != "" || enc != Workbook {
		t.Error(enc, diff)
	}
	want := []Row{
		{2, []string{"34600701234", "Ana", "30/11/2026", "50%"}},
		{4, []string{"+34 600 701 235", "José\nMaría", "Monday", "TRUE"}},
		{5, []string{"551198765432100", "=1", "", ""}},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestAWorkbookHasTheFirstVisibleSheet(t *testing.T) {
	f := excelize.NewFile()
	for _, name := range []string{"People", "Notes"} {
		if _, err := f.NewSheet(name); err != nil {
			t.Fatal(err)
		}
		if err := f.SetCellValue(name, "A1", name); err != nil {
			t.Fatal(err)
		}
	}
	f.SetActiveSheet(2)
	if err := f.SetSheetVisible("Sheet1", false); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	if names, _, _, err := all(&b); err != nil || names[0] != "People" {
		t.Error(names, err)
	}
}

// archive returns a zip file with the parts.
func archive(t *testing.T, parts map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// reasonOf returns the reason of a refusal.
func reasonOf(err error) string {
	e, ok := errors.AsType[*carillon.Error](err)
	if !ok {
		return ""
	}
	reason, _ := e.Details.Find("reason").(string)
	return reason
}

func TestAWorkbookThatCannotBeReadIsRefused(t *testing.T) {
	good := string(book(t, map[string]any{"A1": "phone", "A2": "34600701234"}, nil))
	wide := book(t, map[string]any{"A1": "phone", "A2": "34600701234", "XFD2": "x"}, nil)
	for name, x := range map[string]struct{ content, reason string }{
		"a password":         {compoundMark + strings.Repeat("\x00", 600), "password"},
		"cut off":            {good[:len(good)/2], "can't be read"},
		"nothing but a mark": {zipMark, "can't be read"},
		"another archive":    {archive(t, map[string]string{"word/document.xml": "<x/>"}), "no Excel workbook"},
		"broken parts":       {archive(t, map[string]string{"xl/workbook.xml": "<workbook><sheets>"}), "The workbook"},
		"no rows":            {string(book(t, nil, nil)), "empty"},
		"names missing":      {string(book(t, map[string]any{"A1": 34600701234, "A2": 34600701235}, nil)), "names of the columns"},
		"a row too wide":     {string(wide), "columns"},
		"too large": {
			archive(t, map[string]string{"xl/workbook.xml": "<x/>", "xl/worksheets/sheet1.xml": strings.Repeat(" ", maxUnpacked)}),
			"when unpacked",
		},
		"large styles": {archive(t, map[string]string{"xl/workbook.xml": "", "xl/styles.xml": strings.Repeat(" ", maxPart+1)}), "styles"},
		"many texts": {
			archive(t, map[string]string{"xl/workbook.xml": "", "xl/sharedStrings.xml": strings.Repeat("<si>", maxTexts+1)}),
			"different texts",
		},
	} {
		_, _, _, err := all(strings.NewReader(x.content))
		if reason := reasonOf(err); !strings.Contains(reason, x.reason) {
			t.Errorf("%s: %v (%s)", name, err, reason)
		}
	}
}

func TestAWorkbookWithABillionEmptyCellsIsRefused(t *testing.T) {
	f := excelize.NewFile()
	s, err := f.NewStreamWriter("Sheet1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetRow("A1", []any{"phone"}); err != nil {
		t.Fatal(err)
	}
	for n := 2; n < 2000; n++ {
		at, _ := excelize.CoordinatesToCellName(excelize.MaxColumns, n)
		if err := s.SetRow(at, []any{" "}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := all(&b); !strings.Contains(reasonOf(err), "cells") {
		t.Error(err)
	}
}

func FuzzWorkbook(f *testing.F) {
	for _, parts := range []map[string]string{{"xl/workbook.xml": "<workbook/>"}, {}} {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, text := range parts {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write([]byte(text))
			}
			if err != nil {
				f.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(_ *testing.T, content []byte) {
		_, _, _, _ = all(bytes.NewReader(content))
	})
}
