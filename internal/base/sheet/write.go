package sheet

import (
	"encoding/csv"
	"io"

	"github.com/xuri/excelize/v2"
)

// WriteWorkbook writes rows of texts as an Excel workbook.
func WriteWorkbook(to io.Writer, rows [][]string) error {
	f := excelize.NewFile()
	defer func() { _ = f.Close() }()
	const name = "Sheet1"
	text, err := f.NewStyle(&excelize.Style{NumFmt: 49}) // as text, so that Excel keeps all digits
	if err != nil {
		return err
	}
	for i, row := range rows {
		for j, cell := range row {
			at, err := excelize.CoordinatesToCellName(j+1, i+1)
			if err != nil {
				return err
			}
			if err := f.SetCellStr(name, at, cell); err != nil {
				return err
			}
		}
	}
	if len(rows) > 0 && len(rows[0]) > 0 {
		last, err := excelize.ColumnNumberToName(len(rows[0]))
		if err != nil {
			return err
		}
		if err := f.SetColStyle(name, "A:"+last, text); err != nil {
			return err
		}
		if err := f.SetColWidth(name, "A", last, 22); err != nil {
			return err
		}
	}
	return f.Write(to)
}

// WriteCSV writes rows of texts as a CSV file that spreadsheets read as UTF-8. Cells that look like formulas are
// guarded.
func WriteCSV(to io.Writer, rows [][]string) error {
	if _, err := io.WriteString(to, "\ufeff"); err != nil {
		return err
	}
	w := csv.NewWriter(to)
	for _, row := range rows {
		guarded := make([]string, len(row))
		for i, cell := range row {
			guarded[i] = Guarded(cell)
		}
		if err := w.Write(guarded); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}
