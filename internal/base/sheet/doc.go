// Package sheet reads tables as spreadsheets write them, for the panel and the command line alike: CSV in UTF-8, UTF-16 or Windows-1252,
// separated by commas, semicolons, tabs or bars, with any line ends, and with Excel's line that names the separator. A file that cannot be
// read to its end without a doubt is refused, with the line and the column.
package sheet
