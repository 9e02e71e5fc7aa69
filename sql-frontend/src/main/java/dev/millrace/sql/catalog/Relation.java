package dev.millrace.sql.catalog;

import dev.millrace.type.Schema;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A relation as queries see it.
 *
 * @param name as {@link Catalog#relation} was asked for it
 * @param schema its columns
 * @param appendOnly whether rows are never changed or deleted
 * @param primaryKey columns that identify a row; empty when there are none
 * @param eventTime its event time column, if it has one
 * @param rules of rows that are written to it
 */
public record Relation(
        String name,
        Kind kind,
        Schema schema,
        boolean appendOnly,
        List<Integer> primaryKey,
        Optional<EventTime> eventTime,
        TableRules rules) {
    /** The name under which queries read rows that a statement has at hand. */
    public static final String AT_HAND = "millrace.rows at hand";

    /** What begins the names under which queries read rows that another part of their statement returned. */
    public static final String ROWS_OF = "millrace.rows of ";

    /** Whether a name means rows that the server puts in its place. */
    public static boolean isAtHand(String name) {
        return name.equals(AT_HAND) || name.startsWith(ROWS_OF);
    }

    /** A relation without rules. */
    public Relation(
            String name,
            Kind kind,
            Schema schema,
            boolean appendOnly,
            List<Integer> primaryKey,
            Optional<EventTime> eventTime) {
        this(name, kind, schema, appendOnly, primaryKey, eventTime, TableRules.NONE);
    }

    /** Kinds of relations. */
    public enum Kind {
        STREAM,
        TABLE,
        CONTINUOUS_QUERY,
        MATERIALIZED_VIEW,
        /** A query that takes the place of its name. */
        VIEW,
        /** Rows that the engine computes about itself, such as {@code millrace.watermarks} or {@code pg_catalog.pg_class}. */
        SYSTEM_VIEW
    }

    /**
     * The event time of a stream.
     *
     * @param column a column of a timestamp type
     * @param delayMicros how far the watermark follows the greatest time seen
     * @param settled whether the rows come with watermarks already, as those of a query over windows do
     */
    public record EventTime(int column, long delayMicros, boolean settled) {
        /** Of rows whose watermark is made where they are read. */
        public EventTime(int column, long delayMicros) {
            this(column, delayMicros, false);
        }
    }

    public Relation {
        Objects.requireNonNull(name);
        Objects.requireNonNull(kind);
        Objects.requireNonNull(schema);
        primaryKey = List.copyOf(primaryKey);
        eventTime.ifPresent(time -> {
            if (!schema.type(time.column()).isTimestamp()) {
                throw new IllegalArgumentException(
                        "event time of " + name + " cannot be of type " + schema.type(time.column()));
            }
        });
    }
}
