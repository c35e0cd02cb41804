// Package edge contains every package that speaks HTTP to a caller or a browser: the public interface (api), the
// panel, the widgets on customers' pages (widget), the documentation (manual), the server for assistants (mcp), and
// the endpoints for operators (ops, control). They share httpio, and server listens for all of them. Start reading in
// api.
package edge
