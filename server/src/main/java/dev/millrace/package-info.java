/** Millrace embedded: {@link dev.millrace.Millrace} opens a database in this program. */
package dev.millrace;
