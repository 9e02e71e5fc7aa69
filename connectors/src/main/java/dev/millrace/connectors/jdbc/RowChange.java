package dev.millrace.connectors.jdbc;

/**
 * One change of a table: a row that is put there, or a key that goes.
 *
 * @param bytes of all columns, or of the key's
 */
record RowChange(boolean isDelete, byte[] bytes) {}
