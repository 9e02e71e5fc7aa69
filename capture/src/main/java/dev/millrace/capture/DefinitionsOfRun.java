package dev.millrace.capture;

import io.debezium.config.Configuration;
import io.debezium.document.DocumentReader;
import io.debezium.document.DocumentWriter;
import io.debezium.relational.history.AbstractSchemaHistory;
import io.debezium.relational.history.HistoryRecord;
import io.debezium.relational.history.HistoryRecordComparator;
import io.debezium.relational.history.SchemaHistoryException;
import io.debezium.relational.history.SchemaHistoryListener;
import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Gives Debezium the records of tables' definitions that a table's position has, and takes those that come. */
public final class DefinitionsOfRun extends AbstractSchemaHistory {
    private @Nullable RunState state; // set by configure, before all else

    @Override
    public void configure(
            Configuration config,
            HistoryRecordComparator comparator,
            SchemaHistoryListener listener,
            boolean useCatalog) {
        super.configure(config, comparator, listener, useCatalog);
        state = RunState.of(config.getString(CONFIGURATION_FIELD_PREFIX_STRING + RunState.KEY));
    }

    private RunState state() {
        RunState known = state;
        if (known == null) {
            throw new IllegalStateException("not configured");
        }
        return known;
    }

    @Override
    protected void storeRecord(HistoryRecord record) {
        try {
            state().record(DocumentWriter.defaultWriter().writeAsBytes(record.document()));
        } catch (IllegalStateException e) {
            throw new SchemaHistoryException("a definition is not kept", e);
        }
    }

    @Override
    protected void recoverRecords(Consumer<HistoryRecord> records) {
        for (byte[] definition : state().definitions()) {
            try {
                records.accept(new HistoryRecord(DocumentReader.defaultReader().read(definition)));
            } catch (IOException e) {
                throw new SchemaHistoryException("a definition cannot be read", e);
            }
        }
    }

    @Override
    public boolean exists() {
        return !state().definitions().isEmpty();
    }

    @Override
    public boolean storageExists() {
        return true;
    }

    @Override
    public String toString() {
        return "definitions in the position of a table";
    }
}
