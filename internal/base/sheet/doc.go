// Package sheet reads tables from spreadsheets, for the panel and the command line: CSV in UTF-8, UTF-16 or
// Windows-1252, separated by commas, semicolons, tabs or vertical bars, with any line ends and Excel's optional line
// that names the separator; and Excel workbooks (.xlsx), of which it reads the first visible sheet as it is shown. A
// file that cannot be read completely and unambiguously is refused, with the line and the column.
package sheet
