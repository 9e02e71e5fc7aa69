package dev.millrace.connectors.json;

import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Field;
import java.util.List;
import java.util.Optional;

/**
 * A declared column and where it is in an object.
 *
 * @param path names of members, from the outside in; commonly the column's name alone
 * @param format of dates and times, where it is not PostgreSQL's own
 */
public record JsonColumn(Field field, List<String> path, Optional<TimestampFormat> format) {
    public JsonColumn {
        path = List.copyOf(path);
    }
}
