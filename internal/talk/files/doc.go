// Package files takes files that people send, decides by their content what they are, and serves them under signed addresses.
// What a machine could run (programs, HTML, SVG, documents with macros) is refused; what is served can do nothing on the
// installation's origin: its type is the one that was found, never guessed, and only pictures are shown in place. Visitors and teammates
// send a short list of kinds; what comes in over a channel is of any other kind too, with a name that no machine runs.
//
//	upload ─▶ type by content ─▶ parts in the database ─▶ a turn names it ─▶ signed address ─▶ served
//
// A file that no turn names is deleted after a day, the others with their conversation. It knows neither visitors nor teammates:
// who may send where is decided by widget, panel and api.
package files
