package dev.millrace.benchmarks.templates;

import dev.millrace.batch.Closing;
import dev.millrace.server.session.Database;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VectorSchemaRoot;

/** Events that a program inserts into the database that it has, a batch for each call. */
final class InsertedEvents implements EventFeed {
    private static final double VALUE = 100;

    private final Database database;
    private final BigIntVector devices;
    private final Float8Vector values;
    private final BigIntVector dues;
    private final VectorSchemaRoot rows;

    InsertedEvents(Database database) {
        this.database = database;
        BufferAllocator allocator = database.engine().allocator();
        this.devices = new BigIntVector("device", allocator);
        this.values = new Float8Vector("value", allocator);
        this.dues = new BigIntVector("due", allocator);
        this.rows = VectorSchemaRoot.of(devices, values, dues);
    }

    @Override
    public String definition(int application) {
        return "CREATE STREAM events_" + application + " (" + COLUMNS + ")";
    }

    @Override
    public void send(int application, long[] numbers, int count, long due) {
        devices.allocateNew(count);
        values.allocateNew(count);
        dues.allocateNew(count);
        for (int row = 0; row < count; row++) {
            devices.set(row, numbers[row]);
            values.set(row, VALUE);
            dues.set(row, due);
        }
        rows.setRowCount(count);
        database.insert("events_" + application, rows);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        Closing.all(List.of(rows, devices, values, dues));
    }
}
