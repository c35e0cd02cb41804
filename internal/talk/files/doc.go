// Package files stores files that people send, determines their type by content, and serves them at signed addresses.
// Executable content (programs, HTML, SVG, documents with macros) is refused. Served files are harmless on the
// installation's origin: they have the detected type, and only pictures are shown inline. Visitors and teammates
// may send a short list of kinds. Files from messaging channels may also be of other kinds; their names then get an
// extension that is not executable.
//
//	upload ─▶ type by content ─▶ parts in the database ─▶ a turn refers to it ─▶ signed address ─▶ served
//
// A file is deleted after a day unless a turn refers to it; then it is deleted with its conversation. The package knows
// neither visitors nor teammates: widget, panel and api authorize uploads.
package files
