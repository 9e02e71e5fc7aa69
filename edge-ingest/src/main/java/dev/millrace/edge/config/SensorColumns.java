package dev.millrace.edge.config;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/** What the input {@code sensor} makes up: how many readings there were before, a temperature that wanders and a state that changes now and then. */
public final class SensorColumns {
    public static final Schema SCHEMA = new Schema(List.of(
            new Field("reading", DataType.BIGINT, false),
            new Field("temperature", DataType.DOUBLE, false),
            new Field("state", DataType.TEXT, false)));

    private SensorColumns() {}
}
