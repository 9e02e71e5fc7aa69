/** Pages of the folder {@code docs}, as tests read them that hold them to what they say: {@link dev.millrace.testing.document.DocumentPage}. */
package dev.millrace.testing.document;
