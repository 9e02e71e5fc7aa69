package dev.millrace.connectors.csv;

import dev.millrace.text.TimestampFormat;
import dev.millrace.type.Field;
import java.util.Optional;

/**
 * A declared column and how its text is read.
 *
 * @param format of dates and times, where it is not PostgreSQL's own
 */
public record CsvColumn(Field field, Optional<TimestampFormat> format) {}
