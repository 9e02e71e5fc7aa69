package dev.millrace.server.catalog;

import dev.millrace.server.rows.RowBuilder;
import dev.millrace.type.Schema;
import java.util.function.Consumer;

/**
 * A relation that the system computes about itself at the moment it is read.
 *
 * @param name with its schema, such as {@code millrace.watermarks}
 * @param meaning one line for users
 * @param rows adds the rows, on the thread that reads
 */
public record SystemRelation(String name, String meaning, Schema schema, Consumer<RowBuilder> rows) {}
