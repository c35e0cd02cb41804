package sheet

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

// Workbook is the encoding of an Excel workbook.
const Workbook Encoding = "Excel"

// Bounds of a workbook. They keep its unpacked parts small in memory.
const (
	maxPacked   = 32 << 20 // bytes of the file
	maxUnpacked = 96 << 20 // bytes of all parts
	maxPart     = 4 << 20  // bytes of a part that is neither a sheet nor the shared texts
	maxParts    = 1000
	maxTexts    = 1_000_000  // shared texts
	maxCells    = 10_000_000 // including empty ones
)

// Signatures of the files that Excel writes. Old workbooks and those with a password are compound files.
const (
	zipMark      = "PK\x03\x04"
	compoundMark = "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"
)

// workbook reads the rows of the first visible sheet.
type workbook struct {
	shown, raw *excelize.Rows // the same cells, as Excel shows them and as it stores them
	line       int
	cells      int
}

// openWorkbook reads a workbook into memory. Errors: validation_failed.
func openWorkbook(r io.Reader) (w *workbook, err error) {
	defer recovered(&err)
	content, err := io.ReadAll(io.LimitReader(r, maxPacked+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxPacked {
		return nil, refused(fmt.Sprintf("The workbook has more than %d MiB: save it as CSV, or divide it", maxPacked>>20))
	}
	if err := checkParts(content); err != nil {
		return nil, err
	}
	f, err := excelize.OpenReader(bytes.NewReader(content), excelize.Options{
		UnzipSizeLimit: maxUnpacked, UnzipXMLSizeLimit: maxUnpacked, // no temporary files
	})
	if err != nil {
		return nil, broken(err)
	}
	w = &workbook{}
	for _, name := range f.GetSheetList() {
		visible, err := f.GetSheetVisible(name)
		if err != nil || !visible {
			continue
		}
		if w.shown, err = f.Rows(name); err != nil {
			continue // a sheet of charts
		}
		if w.raw, err = f.Rows(name); err != nil {
			return nil, broken(err)
		}
		return w, nil
	}
	return nil, refused("The workbook has no visible sheet")
}

// checkParts refuses archives that are no workbook, or too large when unpacked.
func checkParts(content []byte) error {
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return broken(err)
	}
	if len(z.File) > maxParts {
		return refused("The workbook has too many parts: save it as CSV")
	}
	var total uint64
	isWorkbook := false
	for _, part := range z.File {
		name := strings.ToLower(strings.ReplaceAll(part.Name, `\`, "/"))
		isWorkbook = isWorkbook || name == "xl/workbook.xml"
		total += part.UncompressedSize64
		texts := name == "xl/sharedstrings.xml"
		media := !strings.HasSuffix(name, ".xml") && !strings.HasSuffix(name, ".rels")
		if part.UncompressedSize64 > maxUnpacked || total > maxUnpacked {
			return refused(fmt.Sprintf("The workbook has more than %d MiB when unpacked: save it as CSV", maxUnpacked>>20))
		}
		if !texts && !media && !strings.HasPrefix(name, "xl/worksheets/") && part.UncompressedSize64 > maxPart {
			return refused("The workbook has too many styles or other parts: save it as CSV")
		}
		if texts {
			if err := countTexts(part); err != nil {
				return err
			}
		}
	}
	if !isWorkbook {
		return refused("This is no Excel workbook (.xlsx), but another kind of file")
	}
	return nil
}

// countTexts refuses shared texts that would take too much memory.
func countTexts(part *zip.File) error {
	r, err := part.Open()
	if err != nil {
		return broken(err)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.LimitReader(r, maxUnpacked))
	if err != nil {
		return broken(err)
	}
	if bytes.Count(text, []byte("<si>"))+bytes.Count(text, []byte("<si ")) > maxTexts {
		return refused(fmt.Sprintf("The workbook has more than %d different texts: save it as CSV", maxTexts))
	}
	return nil
}

// next returns the next row that has cells. Errors: io.EOF, validation_failed.
func (w *workbook) next() (r Row, err error) {
	defer recovered(&err)
	for w.shown.Next() && w.raw.Next() {
		w.line++
		cells, err := w.shown.Columns()
		if err != nil {
			return Row{}, broken(err)
		}
		stored, err := w.raw.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return Row{}, broken(err)
		}
		if w.cells += len(cells) + 1; w.cells > maxCells {
			return Row{}, refused(fmt.Sprintf("The workbook has more than %d cells: save it as CSV", maxCells))
		}
		if len(cells) == 0 {
			continue
		}
		for i := range cells {
			if i < len(stored) {
				cells[i] = whole(cells[i], stored[i])
			}
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(cells[i], "\r\n", "\n"), "\r", "\n")
		}
		return Row{w.line, cells}, nil
	}
	if err := errors.Join(w.shown.Error(), w.raw.Error()); err != nil {
		return Row{}, broken(err)
	}
	return Row{}, io.EOF
}

// scientific matches numbers that are shown by their first digits only, such as 3.46E+10.
var scientific = regexp.MustCompile(`^-?[0-9]+([.,][0-9]+)?[eE]\+?[0-9]+$`)

// whole returns a cell as it is shown, or all digits of a whole number of which only the first are shown.
func whole(shown, stored string) string {
	if !scientific.MatchString(shown) {
		return shown
	}
	n, err := strconv.ParseFloat(stored, 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) >= 1e15 { // Excel keeps 15 digits
		return shown
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// broken is the error for a workbook that cannot be read.
func broken(error) error {
	return refused("The workbook can't be read: open it in Excel and save it again as .xlsx, or as CSV")
}

// recovered turns a panic over a malformed workbook into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = broken(nil)
	}
}
