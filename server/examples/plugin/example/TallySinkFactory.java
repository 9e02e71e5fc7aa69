package example;

import dev.millrace.batch.Batch;
import dev.millrace.connector.OptionDescription;
import dev.millrace.connector.Options;
import dev.millrace.connector.Sink;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkFactory;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The sink {@code tally}: a file with a line for each epoch, of how many rows there were so far. */
public final class TallySinkFactory implements SinkFactory {
    @Override
    public String name() {
        return "tally";
    }

    @Override
    public Sink open(Schema schema, boolean appendOnly, Options options, SinkContext context) {
        Path file = Path.of(options.required("path"));
        options.rejectUnread();
        if (!appendOnly) {
            throw MillraceException.user(SqlState.FEATURE_NOT_SUPPORTED, "sink tally counts rows, and none that are taken back");
        }
        return new Tally(file);
    }

    @Override
    public List<OptionDescription> options() {
        return List.of(new OptionDescription("path", "", "the file"));
    }

    private static final class Tally implements Sink {
        private final Path file;
        private long rows;

        Tally(Path file) {
            this.file = file;
        }

        @Override
        public void write(Batch batch) {
            rows += batch.rowCount();
        }

        @Override
        public void commit(long epoch) {
            try {
                Files.writeString(file, rows + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (IOException e) {
                throw MillraceException.external(SqlState.IO_ERROR, "could not write to \"" + file + "\": " + e.getMessage(), e);
            }
        }

        @Override
        public void close() {}
    }
}
