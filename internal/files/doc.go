// Package files takes files that people send, decides by their content what they are, and serves them under signed addresses.
// What a browser could run (HTML, SVG, scripts, documents with macros) is refused; what is served can do nothing on the
// installation's origin: its type is the one that was found, never guessed, and only pictures are shown in place.
//
//	upload ─▶ type by content ─▶ parts in the database ─▶ a turn names it ─▶ signed address ─▶ served
//
// A file that no turn names is deleted after a day, the others with their conversation. It knows neither visitors nor teammates:
// who may send where is decided by widget, panel and api.
package files
