package dev.millrace.edge.config;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.List;

/** What the input {@code system} tells of the machine; shares are from 0 to 1, NULL where the system does not say. */
public final class VitalColumns {
    public static final Schema SCHEMA = new Schema(List.of(
            new Field("cpu", DataType.DOUBLE, true),
            new Field("load", DataType.DOUBLE, true),
            new Field("memory_used", DataType.DOUBLE, true),
            new Field("disk_used", DataType.DOUBLE, true)));

    private VitalColumns() {}
}
