/**
 * The forms of COPY: text, CSV and binary, as PostgreSQL reads and writes them.
 *
 * <p>Entries: {@link dev.millrace.server.copy.CopyOptions}; {@link dev.millrace.server.copy.CopyInput} makes batches of bytes
 * that come in pieces, {@link dev.millrace.server.copy.CopyOutput} makes bytes of batches. One thread each; no object per
 * row. It knows neither where bytes come from nor where rows go.
 */
package dev.millrace.server.copy;
