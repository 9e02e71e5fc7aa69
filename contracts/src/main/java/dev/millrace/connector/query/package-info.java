/**
 * Files that a query names in its FROM: {@link dev.millrace.connector.query.FileCall} is what the text says, {@link
 * dev.millrace.connector.query.FileRelation} what was found there. Immutable; what reads them is a {@link dev.millrace.connector.Source}.
 */
@NullMarked
package dev.millrace.connector.query;

import org.jspecify.annotations.NullMarked;
